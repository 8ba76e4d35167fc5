package samplers_test

import (
	"os"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestExtendingShowsTheExamples checks that docs/extending.md shows the code of the examples.
func TestExtendingShowsTheExamples(t *testing.T) {
	page := reftest.Must(os.ReadFile("../docs/extending.md"))(t)
	var code string
	for _, name := range []string{"plan/example_doubling_test.go", "example_surest_test.go"} {
		b := reftest.Must(os.ReadFile(name))(t)
		code += string(b)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of code, want 3", len(blocks))
	}
	for i, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		if !strings.Contains(code, b) {
			t.Errorf("block %d is not the example's", i)
		}
	}
}
