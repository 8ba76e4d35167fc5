package app

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/tokenize"
)

// endless is an endless text that counts the bytes read.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(e.text, 1+len(p)/len(e.text)))
	e.read += n
	return n, nil
}

// TestScoreStops scores the first window of an endless text, for each kind of text and way to cut
// it.
func TestScoreStops(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	const line = "{\"text\":\"Once upon a time there was a king who had a daughter.\"}\n"
	for _, args := range [][]string{
		{}, {"--as", "lines"}, {"--as", "jsonl"}, {"--join"}, {"--as", "jsonl", "--join", "--frame", "bos-eos"}, {"--context", "4"}, {"--as", "lines", "--tail", "drop"},
	} {
		in := &endless{text: line}
		args = append([]string{"score", "--limit", "2", "--draws", "1", "--seed", "1", "--length", "8", "--format", "json"}, args...)
		stdout, stderr, code := runReader(in, args...)
		if code != exit.OK || !strings.Contains(stdout, `"windows":2`) {
			t.Fatalf("%v: status %d: %s%s", args, code, stdout, stderr)
		}
		if in.read > 256<<10 {
			t.Errorf("%v: %d bytes are read for two windows", args, in.read)
		}
	}
}

// TestScorePieces checks that the windows of a text of many pieces are those of its ids.
func TestScorePieces(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	text := strings.Repeat("Once upon a time,\r\n\r\n  there was «naïve» king 你好 1234.\n", 800)
	tok := reftest.Must(tokenize.Open(t.Context(), reftest.Builtin(t)))(t)
	ids := reftest.Must(tok.EncodePlain(text))(t)
	line := reftest.Must(json.Marshal(map[string]any{"ids": ids}))(t)
	digest := func(out string) string {
		_, rest, _ := strings.Cut(out, `"text":"sha256:`)
		digest, _, _ := strings.Cut(rest, `"`)
		return digest
	}
	args := []string{"score", "--limit", "30", "--length", "128", "--draws", "1", "--seed", "1", "--format", "json"}
	whole := digest(mustRun(t, string(line), append(args, "--as", "jsonl")...))
	got, stderr, code := runReader(iotest.HalfReader(strings.NewReader(text)), args...)
	if code != exit.OK {
		t.Fatal(stderr)
	}
	if pieces := digest(got); pieces != whole || len(whole) != 64 {
		t.Errorf("the windows of a text are %s, those of its ids %s", pieces, whole)
	}
}

// TestLongLine gives an endless line to every command that reads lines.
func TestLongLine(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	for _, args := range [][]string{
		{"score", "--as", "lines"}, {"score", "--as", "jsonl"}, {"generate", "--seed", "1", "--input", "-"}, {"tokenize"}, {"bound", "--as", "lines"},
	} {
		before := "Once.\n"
		if args[len(args)-1] == "jsonl" || args[0] == "generate" {
			before = "{\"ids\":[5,6,7]}\n"
		}
		in := &endless{text: "a"}
		_, stderr, code := runReader(io.MultiReader(strings.NewReader(before), in), args...)
		if want := fmt.Sprintf("standard input:2: the line is longer than %d bytes", kit.MaxLine); code != exit.Failure || !strings.HasPrefix(stderr, "mdmgen: "+want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d: %.200q, want %q", args, code, stderr, want)
		}
		if in.read > kit.MaxLine+1<<20 {
			t.Errorf("%v: %d bytes of the line are read", args, in.read)
		}
	}
}
