package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// span is a part of a file's bytes.
type span struct{ begin, size uint64 }

// bytes returns the part of b, nil where it is not all in there.
func (s span) bytes(b []byte) []byte {
	if s.begin > uint64(len(b)) || s.size > uint64(len(b))-s.begin {
		return nil
	}
	return b[s.begin : s.begin+s.size : s.begin+s.size]
}

// The records of a zip archive: their signatures and the sizes of their fixed parts, PKWARE's
// APPNOTE.TXT 6.3.10, section 4.3.
const (
	zipLocal, zipLocalSize     = "PK\x03\x04", 30
	zipEntry, zipEntrySize     = "PK\x01\x02", 46
	zipEnd, zipEndSize         = "PK\x05\x06", 22
	zipEnd64, zipEnd64Size     = "PK\x06\x06", 56
	zipLocator, zipLocatorSize = "PK\x06\x07", 20
	zipExtra64                 = 1

	maxDirectory = 16 << 20 // bytes; an entry of a torch file takes some 100
)

// zipSpans finds where the entries of an archive are in b. All are stored as they are: those
// of torch files are. The standard library's reader is not used since what an archive says of
// itself decides how much memory that takes.
func zipSpans(b []byte) (map[string]span, error) {
	le := binary.LittleEndian
	end := bytes.LastIndex(b[max(0, len(b)-zipEndSize-math.MaxUint16):], []byte(zipEnd))
	if end += max(0, len(b)-zipEndSize-math.MaxUint16); end < 0 || len(b)-end < zipEndSize {
		return nil, errors.New("the zip archive has no directory: the file is truncated")
	}
	dir := span{uint64(le.Uint32(b[end+16:])), uint64(le.Uint32(b[end+12:]))}
	if at := end - zipLocatorSize; at >= 0 && string(b[at:at+4]) == zipLocator {
		rec := span{le.Uint64(b[at+8:]), zipEnd64Size}.bytes(b)
		if rec == nil || string(rec[:4]) != zipEnd64 {
			return nil, errors.New("the zip archive's directory is damaged")
		}
		dir = span{le.Uint64(rec[48:]), le.Uint64(rec[40:])}
	}
	if dir.size > maxDirectory {
		return nil, fmt.Errorf("the zip archive has a directory of %d bytes: at most %d are accepted", dir.size, maxDirectory)
	}
	list := dir.bytes(b)
	if list == nil {
		return nil, errors.New("the zip archive's directory is outside of the file: it is truncated")
	}
	spans := map[string]span{}
	for len(list) > 0 {
		name, s, size, err := zipSpan(list, b)
		if err != nil {
			return nil, err
		}
		if _, twice := spans[name]; twice {
			return nil, fmt.Errorf("the zip archive's entry %s stands twice", quoteName(name))
		}
		spans[name], list = s, list[size:]
	}
	return spans, nil
}

// zipSpan reads the entry that a directory begins with, and its size there.
func zipSpan(list, b []byte) (name string, s span, size int, err error) {
	le := binary.LittleEndian
	damaged := errors.New("the zip archive's directory is damaged")
	if len(list) < zipEntrySize || string(list[:4]) != zipEntry {
		return "", s, 0, damaged
	}
	names, extras, comments := int(le.Uint16(list[28:])), int(le.Uint16(list[30:])), int(le.Uint16(list[32:]))
	if size = zipEntrySize + names + extras + comments; size > len(list) {
		return "", s, 0, damaged
	}
	name = string(list[zipEntrySize : zipEntrySize+names])
	if method, flags := le.Uint16(list[10:]), le.Uint16(list[8:]); method != 0 || flags&1 != 0 {
		return "", s, 0, fmt.Errorf("the zip archive's entry %s is compressed or encrypted: those that torch writes are not; save the weights again", quoteName(name))
	}
	packed, whole, at := uint64(le.Uint32(list[20:])), uint64(le.Uint32(list[24:])), uint64(le.Uint32(list[42:]))
	for x := list[zipEntrySize+names : zipEntrySize+names+extras]; len(x) >= 4; {
		id, n := le.Uint16(x), int(le.Uint16(x[2:]))
		if x = x[4:]; n > len(x) {
			return "", s, 0, damaged
		}
		for field := x[:n]; id == zipExtra64 && len(field) >= 8; field = field[8:] {
			// The numbers that did not fit stand here, in this order.
			for _, v := range []*uint64{&whole, &packed, &at} {
				if *v == math.MaxUint32 {
					*v = le.Uint64(field)
					break
				}
			}
		}
		x = x[n:]
	}
	local := span{at, zipLocalSize}.bytes(b)
	if local == nil || string(local[:4]) != zipLocal || packed != whole {
		return "", s, 0, fmt.Errorf("the zip archive's entry %s is not where the directory says", quoteName(name))
	}
	s = span{at + zipLocalSize + uint64(le.Uint16(local[26:])) + uint64(le.Uint16(local[28:])), whole}
	if s.bytes(b) == nil {
		return "", s, 0, fmt.Errorf("the zip archive's entry %s ends outside of the file: it is truncated", quoteName(name))
	}
	return name, s, size, nil
}
