package checkpoint

import (
	"context"
	"fmt"
	"io"

	"mdmgen/internal/plainfile"
)

// numbers returns an error for a parameter with a NaN element, which would make every row of the
// network NaN. Like the digest, it reads the files instead of a mapping.
func (c *Checkpoint) numbers(ctx context.Context) error {
	buf := make([]byte, 1<<20)
	for s := range c.Config.Tensors() {
		t := c.tensors[s.Name]
		at, err := c.firstNaN(ctx, t, buf)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", quoteName(t.Name), plainfile.Cause(err))
		}
		if at >= 0 {
			return fmt.Errorf("tensor %s: element %d is NaN: the weights are damaged, or training diverged", quoteName(t.Name), at)
		}
	}
	return nil
}

// firstNaN returns the index of the first NaN element, −1 if there is none. The size of buf is a
// multiple of an element's.
func (c *Checkpoint) firstNaN(ctx context.Context, t Tensor, buf []byte) (int, error) {
	f, err := t.Open(0, t.Len())
	if err != nil {
		return -1, err
	}
	defer f.Close()
	r, size := c.noted(ctx, f), t.Dtype.Size()
	wide := make([]float32, len(buf)/size)
	for first := 0; ; {
		n, err := io.ReadFull(r, buf)
		some := wide[:n/size]
		t.Dtype.Widen(some, buf[:n])
		for i, x := range some {
			if x != x {
				return first + i, nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		first += len(some)
	}
}
