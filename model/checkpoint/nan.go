package checkpoint

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"mdmgen/internal/plainfile"
)

// numbers looks for a parameter with an element that is NaN: every row of such a network is.
// It reads the files, rather than a mapping, as the digest does.
func (c *Checkpoint) numbers(ctx context.Context) error {
	buf := make([]byte, 1<<20)
	for s := range c.Config.Tensors() {
		t := c.tensors[s.Name]
		at, err := t.firstNaN(ctx, buf)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(t.Name), pathError(err))
		}
		if at >= 0 {
			return fmt.Errorf("tensor %s: element %d is NaN: the weights are damaged, or training diverged", quoteName(t.Name), at)
		}
	}
	return nil
}

// nanIn returns the first element of b that is NaN, −1 where none is: one whose bits without
// the sign are above those of +Inf.
func (d Dtype) nanIn(b []byte) int {
	le, size := binary.LittleEndian, d.Size()
	for i := 0; i < len(b); i += size {
		nan := false
		switch d {
		case F32:
			nan = le.Uint32(b[i:])<<1 > 0xff<<24
		case F64:
			nan = le.Uint64(b[i:])<<1 > 0x7ff<<53
		case BF16:
			nan = le.Uint16(b[i:])<<1 > 0xff<<8
		case F16:
			nan = le.Uint16(b[i:])<<1 > 0x1f<<11
		}
		if nan {
			return i / size
		}
	}
	return -1
}

// firstNaN returns the first element that is NaN, −1 where none is. The size of buf is a
// multiple of an element's.
func (t Tensor) firstNaN(ctx context.Context, buf []byte) (int, error) {
	if t.Path == "" {
		return t.Dtype.nanIn(t.Data), ctx.Err()
	}
	f, err := os.Open(t.Path)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	r := plainfile.Ending(ctx, io.NewSectionReader(f, t.Offset, int64(len(t.Data))))
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
