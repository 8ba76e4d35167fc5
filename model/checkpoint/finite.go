package checkpoint

import (
	"context"
	"fmt"
	"io"
	"os"

	"mdmgen/internal/plainfile"
)

// exponents are the bits of an element's greatest exponent, which only infinities and what is
// no number have, at the element's last two bytes.
var exponents = map[Dtype]uint16{F32: 0x7f80, BF16: 0x7f80, F16: 0x7c00, F64: 0x7ff0}

// finite looks for a parameter with an element that is no finite number: of such a network
// every row is worthless. It reads the files, rather than a mapping, as the digest does.
func (c *Checkpoint) finite(ctx context.Context) error {
	buf := make([]byte, 1<<20)
	for s := range c.Config.Tensors() {
		t := c.tensors[s.Name]
		at, err := t.notFinite(ctx, buf)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(t.Name), pathError(err))
		}
		if at >= 0 {
			return fmt.Errorf("tensor %s: element %d is not a finite number: the weights are damaged, or training diverged", quoteName(t.Name), at)
		}
	}
	return nil
}

// notFinite returns the first element that is not finite, −1 where all are.
func (t Tensor) notFinite(ctx context.Context, buf []byte) (int, error) {
	size, mask := t.Dtype.Size(), exponents[t.Dtype]
	look := func(b []byte, first int) int {
		for i := size - 2; i < len(b); i += size {
			if (uint16(b[i])|uint16(b[i+1])<<8)&mask == mask {
				return first + i/size
			}
		}
		return -1
	}
	if t.Path == "" {
		return look(t.Data, 0), ctx.Err()
	}
	f, err := os.Open(t.Path)
	if err != nil {
		return -1, err
	}
	defer f.Close()
	r := plainfile.Ending(ctx, io.NewSectionReader(f, t.Offset, int64(len(t.Data))))
	for first := 0; ; {
		n, err := io.ReadFull(r, buf)
		if at := look(buf[:n], first); at >= 0 {
			return at, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		first += n / size
	}
}
