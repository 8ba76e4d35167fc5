package checkpoint

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// numbers looks for a parameter with an element that is NaN: every row of such a network is.
// It reads the files, rather than a mapping, as the digest does.
func (c *Checkpoint) numbers(ctx context.Context) error {
	buf := make([]byte, 1<<20)
	for s := range c.Config.Tensors() {
		t := c.tensors[s.Name]
		at, err := c.firstNaN(ctx, t, buf)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(t.Name), pathError(err))
		}
		if at >= 0 {
			return fmt.Errorf("tensor %s: element %d is NaN: the weights are damaged, or training diverged", quoteName(t.Name), at)
		}
	}
	return nil
}

// exponents are the bits of the exponents of as many elements as 8 bytes hold.
var exponents = map[Dtype]uint64{F32: 0x7f800000_7f800000, F64: 0x7ff00000_00000000, BF16: 0x7f807f80_7f807f80, F16: 0x7c007c00_7c007c00}

// nanIn returns the first element of b that is NaN, −1 where none is. It looks at 8 bytes at
// a time: where no exponent has all its bits, adding its lowest bit carries into no sign.
func (d Dtype) nanIn(b []byte) int {
	exp, size := exponents[d], d.Size()
	low := exp & -exp
	for shift := 8 * size; shift < 64; shift *= 2 {
		low |= low << shift
	}
	signs := exp + low
	for i := 0; i < len(b); i += 8 {
		word := b[i:min(i+8, len(b))]
		if len(word) == 8 && (binary.LittleEndian.Uint64(word)&exp+low)&signs == 0 {
			continue
		}
		for j := 0; j < len(word); j += size {
			if d.isNaN(word[j:]) {
				return (i + j) / size
			}
		}
	}
	return -1
}

// isNaN says that the first element of b is NaN: its bits without the sign are above those of
// +Inf.
func (d Dtype) isNaN(b []byte) bool {
	le := binary.LittleEndian
	switch d {
	case F32:
		return le.Uint32(b)<<1 > 0xff<<24
	case F64:
		return le.Uint64(b)<<1 > 0x7ff<<53
	case BF16:
		return le.Uint16(b)<<1 > 0xff<<8
	default:
		return le.Uint16(b)<<1 > 0x1f<<11
	}
}

// firstNaN returns the first element that is NaN, −1 where none is. The size of buf is a
// multiple of an element's.
func (c *Checkpoint) firstNaN(ctx context.Context, t Tensor, buf []byte) (int, error) {
	f, err := t.Open(0, t.Len())
	if err != nil {
		return -1, err
	}
	defer f.Close()
	r := c.noted(ctx, f)
	for first := 0; ; {
		n, err := io.ReadFull(r, buf)
		if at := t.Dtype.nanIn(buf[:n-n%t.Dtype.Size()]); at >= 0 {
			return first + at, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		first += n / t.Dtype.Size()
	}
}
