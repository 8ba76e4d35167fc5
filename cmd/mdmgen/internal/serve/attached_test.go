package serve

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
)

// TestAttached checks that the context ends with the input, and that the socket's folder is removed
// unless it holds more.
func TestAttached(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "socket")
		reftest.OK(t, os.Mkdir(folder, 0o700))
		if held {
			reftest.OK(t, os.WriteFile(filepath.Join(folder, "held"), nil, 0o600))
		}
		o := &options{attached: true, listen: "unix:" + filepath.Join(folder, "s")}
		in, parent := io.Pipe()
		ctx, end := o.attach(t.Context(), in)
		if ctx.Err() != nil {
			t.Fatal("the context ends before the input")
		}
		parent.Close()
		<-ctx.Done()
		end()
		if _, err := os.Stat(folder); (err == nil) != held {
			t.Errorf("held %v: the folder: %v", held, err)
		}
	}
	ctx, end := new(options).attach(t.Context(), nil)
	defer end()
	if ctx.Err() != nil {
		t.Error("a server that is not attached ends at once")
	}
}
