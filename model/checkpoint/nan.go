package checkpoint

import (
	"context"
	"fmt"
	"io"

	"mdmgen/internal/plainfile"
)

// numbers looks for a parameter with an element that is NaN: every row of such a network is.
// It reads the files, rather than a mapping, as the digest does.
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

// firstNaN returns the first element that is NaN, −1 where none is. The size of buf is a
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
