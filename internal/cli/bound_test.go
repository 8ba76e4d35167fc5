package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/cli/exit"
)

// TestBoundInterrupted: an interrupted report prints what was done, writes no file and
// leaves an old one as it was, and the status is 130.
func TestBoundInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	writeFile(t, page, "old")
	args := []string{"mdmgen", "bound", worldFile(t, "xor3-mixed"), "--json", "--html", page, "--plots", filepath.Join(dir, "pictures")}
	var out, errs strings.Builder
	if code := Run(ctx, args, strings.NewReader(""), &out, &errs); code != exit.Interrupt || errs.String() != "mdmgen: interrupted\n" {
		t.Errorf("status %d, %q", code, errs.String())
	}
	var record struct {
		Interrupted bool
		Lines       []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out.String()), &record); err != nil || !record.Interrupted || len(record.Lines) == 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	if data, err := os.ReadFile(page); err != nil || string(data) != "old" {
		t.Errorf("the old page: %q, %v", data, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
