package app

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestTopKOfAll keeps as many tokens as there are, and more. Nothing must change, and the record
// must not say that the law does.
func TestTopKOfAll(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	world := worldFile(t, "xor3-mixed")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, `{"ids":[1,0,1]}`)
	clock := regexp.MustCompile(`"(started|network|sampling|total|effective|in_step)": ?("[^"]*"|[-+.e0-9]+)`)
	for _, args := range [][]string{
		{"generate", "--model", world, "--format", "json", "--seed", "1", "-n", "9"},
		{"generate", "--length", "8", "--format", "json", "--seed", "1"},
		{"score", ids, "--model", world, "--format", "json", "--exact"},
	} {
		plain := clock.ReplaceAllString(mustRun(t, "", args...), "")
		if got := clock.ReplaceAllString(mustRun(t, "", append(args, "--top-k", "1000000")...), ""); got != plain {
			t.Errorf("%v --top-k 1000000:\n%s\nwant\n%s", args, got, plain)
		}
		if got := clock.ReplaceAllString(mustRun(t, "", append(args, "--top-k", "1")...), ""); got == plain {
			t.Errorf("%v --top-k 1 changes nothing", args)
		}
	}
}

// TestStrictFiles checks that files that two parsers would read differently are rejected.
func TestStrictFiles(t *testing.T) {
	sidecar := filepath.Join(t.TempDir(), "facts.json")
	writeFile(t, sidecar, `{"noise":"linear","noise":"cosine"}`)
	refused(t, exit.Failure, `field "noise" appears twice`, "generate", "--model", worldFile(t, "xor3-mixed"), "--format", "ids", "--set", "sidecar="+sidecar)
	_, stderr, code := runCommand(t, "\"fine\"\n\"\\ud800\"\n", "tokenize", "--json")
	if code != exit.Failure || !strings.HasPrefix(stderr, `mdmgen: standard input:2: \ud800 is half`) {
		t.Errorf("tokenize --json: status %d: %s", code, stderr)
	}
}
