package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"mdmgen/model/internal/pickle"
)

// legacyMagic is the number at the beginning of files from torch before 1.6, as it is pickled after
// the pickle's head, which is the protocol and, from protocol 4 on, a frame.
const legacyMagic = "\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."

// isLegacy reports whether a file is from torch before 1.6, in any protocol from 2 on.
func isLegacy(b []byte) bool {
	if len(b) < 2 || b[0] != 0x80 || b[1] < 2 || b[1] > 5 {
		return false
	}
	b = b[2:]
	if len(b) > 9 && b[0] == 0x95 {
		b = b[9:]
	}
	return bytes.HasPrefix(b, []byte(legacyMagic))
}

// legacy reads a file from torch before 1.6: pickles of the magic number, the version, the system,
// the object, and the keys of its storages; then each storage, preceded by its number of elements.
func legacy(b []byte) (any, error) {
	t := &torchFile{legacy: map[string]*storage{}}
	rest := b
	var values [5]any
	for i := range values {
		v, size, err := t.load(rest)
		if err != nil {
			return nil, err
		}
		values[i], rest = v, rest[size:]
	}
	if values[1] != int64(1001) {
		return nil, errors.New("a torch file of a version other than 1001")
	}
	keys, ok := values[4].(*pickle.List)
	if !ok {
		return nil, errors.New("the file has no list of its storages")
	}
	done := 0
	for _, k := range keys.Items {
		name, _ := k.(string)
		s := t.legacy[name]
		if s == nil || s.data.begin > 0 {
			return nil, fmt.Errorf("storage %s is listed twice or has no tensor", quoteName(name))
		}
		at := uint64(len(b) - len(rest))
		size := uint64(s.count) * uint64(s.dtype.Size())
		if len(rest) < 8 || size > uint64(len(rest)-8) {
			return nil, fmt.Errorf("storage %s ends outside of the file: it is truncated", quoteName(name))
		}
		if n := binary.LittleEndian.Uint64(rest); n != uint64(s.count) {
			return nil, fmt.Errorf("storage %s has %d elements, but its tensors need %d", quoteName(name), n, s.count)
		}
		s.data = span{at + 8, size}
		rest = rest[8+size:]
		done++
	}
	if done != len(t.legacy) {
		return nil, fmt.Errorf("%d storages in the file, and tensors of %d", done, len(t.legacy))
	}
	return values[3], nil
}
