package serve

import (
	"context"
	"io"
)

// attach returns a context that with --set attached ends with standard input: whatever ends the program that
// holds its other end, this one does not outlive it.
func (o *options) attach(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	if o.attached {
		go func() {
			_, _ = io.Copy(io.Discard, in) // Whatever ends it.
			end()
		}()
	}
	return ctx, end
}
