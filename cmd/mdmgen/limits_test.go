package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTopKOfAll keeps as many tokens as there are, and more: nothing changes, and the record
// does not say that the law does.
func TestTopKOfAll(t *testing.T) {
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

// TestTrueLimits asks for more positions than there are: the message says how many there
// are, wherever the number stands.
func TestTrueLimits(t *testing.T) {
	for _, line := range []string{`{"length":5000001}`, `{"infill":"{{5000001}}"}`, `{"infill":[5000001]}`, `{"infill":"{{13}}"}`, `{"length":13}`, `{"infill":["a",12]}`} {
		_, err := parseLine([]byte(line), testLayout(0))
		if err == nil || !strings.Contains(err.Error(), "at most 12 positions") {
			t.Errorf("%s: %v, want the model's 12 positions", line, err)
		}
	}
}

// TestStrictLines refuses lines that two readers would read differently.
func TestStrictLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"length":3,"length":4}`:           `field "length" stands there twice`,
		`{"length":3,"Length":4}`:           `stands there twice`,
		`{"prefix":"a\ud800b"}`:             `field "prefix": \ud800 is half of a character`,
		`{"infill":["a","\udc00",1]}`:       `field "infill": \udc00 is half of a character`,
		`{"infill":"{{\"\\ud800\"}}{{1}}"}`: `\ud800 is half of a character`,
	} {
		_, err := parseLine([]byte(line), testLayout(0))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	for line, want := range map[string]string{`{"text":"a","text":"b"}`: "twice", `{"text":"\ud83d"}`: `\ud83d`, `{"ids":[1],"context":"\udfff"}`: `\udfff`} {
		if _, err := parseScoreLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	sidecar := filepath.Join(t.TempDir(), "facts.json")
	writeFile(t, sidecar, `{"noise":"linear","noise":"cosine"}`)
	if _, stderr, code := runCommand(t, "", "generate", "--model", worldFile(t, "xor3-mixed"), "--format", "ids", "--sidecar", sidecar); code != exitFailure || !strings.Contains(stderr, `field "noise" stands there twice`) {
		t.Errorf("a sidecar: status %d: %s", code, stderr)
	}
	_, stderr, code := runCommand(t, "\"fine\"\n\"\\ud800\"\n", "tokenize", "--json")
	if code != exitFailure || !strings.HasPrefix(stderr, `mdmgen: standard input:2: \ud800 is half`) {
		t.Errorf("tokenize --json: status %d: %s", code, stderr)
	}
}

// TestTwoFaults gives command lines with several faults again and again: the same one is
// told every time.
func TestTwoFaults(t *testing.T) {
	for _, args := range [][]string{
		{"score", "--format", "x", "--frame", "x", "--tail", "x"},
		{"bound", "--frame", "x", "--tail", "x", "--as", "x", "--q0", "x"},
		{"bench", "-n", "0", "--repetitions", "0", "--warmup", "-1", "--draws", "0"},
		{"bench", "--error-length", "3", "--draws", "3", "--context", "x"},
	} {
		_, first, _ := runCommand(t, "", args...)
		for range 30 {
			if _, again, _ := runCommand(t, "", args...); again != first {
				t.Fatalf("%v: %s, and then %s", args, first, again)
			}
		}
	}
}
