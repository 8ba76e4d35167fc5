package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestEverySampler runs every sampler through every command that has samplers, on a world: it runs, or
// the reason why not is one line of its own.
func TestEverySampler(t *testing.T) {
	t.Parallel()
	world := reftest.Law(t, "xor3-mixed")
	text := filepath.Join(t.TempDir(), "ids.jsonl")
	reftest.OK(t, os.WriteFile(text, []byte(`{"ids":[0,1,1]}`+"\n"), 0o600))
	for _, name := range catalog.Names() {
		for _, command := range []string{"generate -n 2 --format ids --model WORLD", "generate --dry-run --format ids --model WORLD", "generate --calls 2 --format ids --model WORLD", "score --exact TEXT --model WORLD", "score --exact TEXT --temperature 0.005 --model WORLD", "score --estimator plans --plans 2 TEXT --model WORLD", "generate -n 2 --audit 1 --format ids --model WORLD", "bound --plan-only --length 4", "bound WORLD", "bound --q0 chain --draws 4 --model WORLD", "bound TEXT --model WORLD", "bench --max-time 1s --sequences 8 --model WORLD", "bench --max-time 1s --sequences 8 --quality error --model WORLD"} {
			args := append(strings.Fields(strings.NewReplacer("TEXT", text, "WORLD", world).Replace(command)), "--sampler", name)
			_, stderr, code := runCommand(t, "", args...)
			if code == 0 || code == 3 {
				continue
			}
			if strings.Contains(stderr, "panic") || strings.Count(stderr, "\n") != 1 || code != 1 && code != 2 {
				t.Errorf("%s --sampler %s: exit status %d, %s", command, name, code, stderr)
			}
		}
	}
}
