package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// ties compares copies of tied parameters with the originals. Other programs use a differing copy
// as the head, whatever the config says, and nothing shows which one was trained.
func (c *Checkpoint) ties(ctx context.Context) error {
	extra := c.Config.extra()
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		t, ok := c.tensors[name]
		if !ok || extra[name] == "" {
			continue
		}
		of := c.tensors[extra[name]]
		same := t.Dtype.Float() && slices.Equal(t.Shape, of.Shape)
		a, b := make([]float32, 1<<16), make([]float32, 1<<16)
		for i := 0; same && i < t.Len(); i += len(a) {
			n := min(len(a), t.Len()-i)
			t.Widen(a[:n], i)
			of.Widen(b[:n], i)
			same = slices.Equal(a[:n], b[:n])
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !same {
			return fmt.Errorf("tensor %s differs from %s, to which the config ties it: remove it from the file, or untie them in the config if it was trained", quoteName(t.Name), quoteName(of.Name))
		}
	}
	return nil
}
