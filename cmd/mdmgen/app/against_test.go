package app

import (
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestShifted scores texts on a network that has no row for the first token, and compares it with
// itself and with a network that has one. --context 1 gives the first token of every window,
// including that of a text; without it a one-line error says so.
func TestShifted(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	model := filepath.Join("..", "..", "..", "testdata", "reference", "checkpoints", "dream-tied-fp16")
	unshifted := filepath.Join(t.TempDir(), "unshifted")
	mustRun(t, "", "convert", model, "-o", unshifted, "--fact", "shift=false")
	lines := filepath.Join(t.TempDir(), "text.jsonl")
	writeFile(t, lines, `{"ids":[1,2,3,4,5,6,7,8,9,10,11]}`+"\n")
	for _, args := range [][]string{
		{"score", lines, "--model", model, "--seed", "1", "--length", "6"},
		{"bound", lines, "--model", model, "--seed", "1", "--length", "6"},
		{"verify", model, "--against", model, "--text", lines, "--seed", "1", "--length", "6"},
		{"verify", model, "--against", unshifted, "--text", lines, "--seed", "1", "--length", "6"},
		{"verify", unshifted, "--against", model, "--text", lines, "--seed", "1", "--length", "6"},
	} {
		mustRun(t, "", append(args, "--context", "1")...)
		refused(t, exit.Usage, "--context 1", args...)
	}
}

// TestAgainstOne compares on a single window, token and canvas, and expects the singular in the
// text.
func TestAgainstOne(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	model := filepath.Join("..", "..", "..", "testdata", "reference", "checkpoints", "qwen3")
	lines := filepath.Join(t.TempDir(), "text.jsonl")
	writeFile(t, lines, `{"ids":[1]}`+"\n")
	out := mustRun(t, "", "verify", model, "--against", model, "--text", lines, "--seed", "1", "--draws", "1")
	if want := ": 1 window, 1 token, 1 canvas each\n"; !strings.Contains(out, want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
}
