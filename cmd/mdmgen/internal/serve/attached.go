package serve

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// attach returns a context that with --set attached ends with standard input: whatever ends the program that
// holds its other end, this one does not outlive it, and end removes the folder that was made for the socket.
func (o *options) attach(ctx context.Context, in io.Reader) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	if !o.attached {
		return ctx, cancel
	}
	go func() {
		_, _ = io.Copy(io.Discard, in) // Whatever ends it.
		cancel()
	}()
	return ctx, func() {
		cancel()
		if path, ok := strings.CutPrefix(o.listen, "unix:"); ok {
			_ = os.Remove(filepath.Dir(path)) // It stays where anything else is in it.
		}
	}
}
