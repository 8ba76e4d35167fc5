package match

import "encoding/binary"

// forms are the possible remainders of characters in UTF-8 after some of their bytes. Equal
// remainders are one form; 0 is empty.
type forms struct {
	edges [][]edge
	known map[string]int32
}

// edge leads from one form to another by a range of bytes.
type edge struct {
	lo, hi byte
	form   int32
}

// of returns the form of ranges of characters, or of their last bits after other bytes held the
// first. Surrogates have no form.
func (f *forms) of(ranges []rune, bits int) int32 {
	key, _ := binary.Append([]byte{byte(bits)}, binary.LittleEndian, ranges) // Numbers cannot fail.
	if n, ok := f.known[string(key)]; ok {
		return n
	}
	n := int32(len(f.edges))
	f.known[string(key)], f.edges = n, append(f.edges, nil)
	if bits > 0 {
		f.next(n, 0x80, ranges, 0, 1<<bits-1, bits-6)
		return n
	}
	f.next(n, 0, ranges, 0, 0x7F, 0)
	f.next(n, 0xC0, ranges, 0x80, 0x7FF, 6)
	f.next(n, 0xE0, ranges, 0x800, 0xD7FF, 12)
	f.next(n, 0xE0, ranges, 0xE000, 0xFFFF, 12)
	f.next(n, 0xF0, ranges, 0x10000, 0x10FFFF, 18)
	return n
}

// next adds the edges of the characters least..most, whose next byte holds first and their bits
// without the last.
func (f *forms) next(n int32, first byte, ranges []rune, least, most rune, bits int) {
	for v := least >> bits; v <= most>>bits; v++ {
		var left []rune
		for i := 0; i < len(ranges); i += 2 {
			lo, hi := max(ranges[i], least, v<<bits), min(ranges[i+1], most, (v+1)<<bits-1)
			if lo <= hi {
				left = append(left, lo-v<<bits, hi-v<<bits)
			}
		}
		if left == nil {
			continue
		}
		e := edge{first + byte(v), first + byte(v), 0}
		if bits > 0 {
			e.form = f.of(left, bits)
		}
		if last := len(f.edges[n]) - 1; last >= 0 && f.edges[n][last].form == e.form && f.edges[n][last].hi+1 == e.lo {
			f.edges[n][last].hi = e.hi
			continue
		}
		f.edges[n] = append(f.edges[n], e)
	}
}
