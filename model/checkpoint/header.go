package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
)

// Limits on a safetensors header. Published checkpoints stay far below: 169 tensors in 17 kB for
// MDLM-small, a few hundred tensors for networks of 10¹⁰ parameters. The format's own limit is 100
// MB.
const (
	maxHeader  = 16 << 20
	maxTensors = 1 << 17
	maxRank    = 8
)

// entry is one tensor of a header; begin and end count bytes from the end of the header.
type entry struct {
	name       string
	dtype      Dtype
	shape      []int
	begin, end int64
}

// header is the parsed start of a safetensors file.
type header struct {
	metadata map[string]string
	entries  []entry // by begin, then end
	data     int64   // where the tensors' bytes begin in the file
}

// parseHeader reads the header of a safetensors file of size bytes. head is the beginning of the
// file: 8 bytes of little-endian length and that many bytes of JSON. Only what the format allows is
// accepted: every byte after the header belongs to exactly one tensor, in agreement with that
// tensor's type and shape.
func parseHeader(head []byte, size int64) (header, error) {
	var h header
	if len(head) < 8 {
		return h, fmt.Errorf("%d bytes: too short for a safetensors file", size)
	}
	n := binary.LittleEndian.Uint64(head)
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return h, errors.New("a pointer of Git LFS in place of the weights: `git lfs pull` in its repository fetches them")
	case n > maxHeader:
		return h, fmt.Errorf("header of %d bytes: at most %d are accepted; is this a safetensors file?", n, maxHeader)
	case n < 2 || int64(n) > size-8 || int64(n) > int64(len(head)-8):
		return h, fmt.Errorf("header of %d bytes in a file of %d: the file is truncated or not safetensors", n, size)
	}
	h.data = 8 + int64(n)
	if err := h.decode(head[8:h.data]); err != nil {
		return h, err
	}
	return h, h.checkOffsets(size - h.data)
}

// decode reads the JSON object.
func (h *header) decode(text []byte) error {
	if text[0] != '{' {
		return errors.New("header does not begin with '{': not a safetensors file")
	}
	// Count before allocating.
	if bytes.Count(text, []byte(`"data_offsets"`)) > maxTensors {
		return fmt.Errorf("more than %d tensors in the header", maxTensors)
	}
	var fields map[string]json.RawMessage
	if err := plainjson.Unmarshal(text, &fields); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "__metadata__" {
			if err := json.Unmarshal(fields[name], &h.metadata); err != nil {
				return fmt.Errorf("header: __metadata__ is not an object of strings: %w", plainjson.Plain(nil, err))
			}
			continue
		}
		e, err := readEntry(name, fields[name])
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(name), err)
		}
		h.entries = append(h.entries, e)
	}
	return nil
}

// readEntry reads {"dtype":…,"shape":[…],"data_offsets":[b,e]}.
func readEntry(name string, text json.RawMessage) (entry, error) {
	var f struct {
		Dtype   *Dtype  `json:"dtype"`
		Shape   []int64 `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	e := entry{name: name}
	if err := json.Unmarshal(text, &f); err != nil {
		return e, plainjson.Plain(nil, err)
	}
	switch {
	case f.Dtype == nil:
		return e, errors.New("dtype is missing")
	case f.Shape == nil:
		return e, errors.New("shape is missing")
	case f.Offsets == nil:
		return e, errors.New("data_offsets is missing")
	case len(f.Offsets) != 2:
		return e, fmt.Errorf("data_offsets has %d numbers: must be 2", len(f.Offsets))
	}
	e.dtype, e.begin, e.end = *f.Dtype, f.Offsets[0], f.Offsets[1]
	return e, e.setShape(f.Shape)
}

// typeName matches the names of types. Tensors of a type that has no size here, such as F4 or C64,
// may be in a file, but no network can use them.
var typeName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,15}$`)

// setShape checks type, shape and extent against each other.
func (e *entry) setShape(shape []int64) (err error) {
	var n int64
	if e.shape, n, err = elements(e.dtype, shape); err != nil {
		return err
	}
	size := int64(e.dtype.Size())
	if want := n * size; e.begin < 0 || e.end < e.begin || size > 0 && e.end-e.begin != want {
		return fmt.Errorf("data_offsets [%d %d] do not hold %s %v, which takes %d bytes", e.begin, e.end, e.dtype, shape, want)
	}
	return nil
}

// elements checks a type and a shape from a file and returns the shape and its number of elements.
func elements(dtype Dtype, shape []int64) ([]int, int64, error) {
	if !typeName.MatchString(string(dtype)) {
		return nil, 0, fmt.Errorf("dtype %s is not the name of a type", quoteName(string(dtype)))
	}
	if len(shape) > maxRank {
		return nil, 0, fmt.Errorf("shape has %d dimensions: at most %d", len(shape), maxRank)
	}
	n := uint64(1)
	out := make([]int, len(shape))
	for i, d := range shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if d < 0 || d > 1<<40 || hi != 0 || lo > 1<<50 {
			return nil, 0, fmt.Errorf("shape %v is invalid", shape)
		}
		out[i], n = int(d), lo
	}
	return out, int64(n), nil
}

// checkOffsets checks that the tensors fill the bytes after the header, in order, with neither gap
// nor overlap.
func (h *header) checkOffsets(size int64) error {
	slices.SortStableFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, e := range h.entries {
		switch {
		case e.end > size:
			return fmt.Errorf("tensor %s: ends at byte %d of %d: the file is truncated or its header wrong: fetch or copy it again", quoteName(e.name), e.end, size)
		case e.begin < at:
			return fmt.Errorf("tensor %s: begins at byte %d, inside the one before it", quoteName(e.name), e.begin)
		case e.begin > at:
			return fmt.Errorf("tensor %s: begins at byte %d, %d bytes after the one before it", quoteName(e.name), e.begin, e.begin-at)
		}
		at = e.end
	}
	if at != size {
		return fmt.Errorf("%d bytes after the last tensor", size-at)
	}
	return nil
}

// quoteName formats a name from a file for one line: unchanged if it is plain, else quoted; long
// names are cut.
func quoteName(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
