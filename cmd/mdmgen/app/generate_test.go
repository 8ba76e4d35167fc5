package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// cancelAfter cancels a run once lines lines have been written to it.
type cancelAfter struct {
	strings.Builder
	lines  int
	cancel context.CancelFunc
}

func (w *cancelAfter) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Count(w.String(), "\n") >= w.lines {
		w.cancel()
	}
	return n, err
}

// interrupted runs a command line, cancels it once it has printed lines lines, and requires the
// exit status of an interrupt.
func interrupted(t testing.TB, lines int, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if lines == 0 {
		cancel()
	}
	out, errs := &cancelAfter{lines: lines, cancel: cancel}, &strings.Builder{}
	if code := Run(ctx, append([]string{"mdmgen"}, args...), strings.NewReader(""), out, errs); code != exit.Interrupt {
		t.Errorf("mdmgen %s: exit status %d, want %d: %s", strings.Join(args, " "), code, exit.Interrupt, errs)
	}
	return out.String(), errs.String()
}

// TestInterrupt cancels runs after some samples, and checks that finished samples are printed and
// that the record says so, with totals of the printed samples only.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	for _, args := range []string{"--length 8 --batch 1", "--model " + worldFile(t, "xor3-mixed") + " --batch 5 --sampler tweedie --steps 3"} {
		file := filepath.Join(t.TempDir(), "record.json")
		stdout, stderr := interrupted(t, 2, append(strings.Fields("generate --seed 1 -n 500 --format jsonl --record "+file), strings.Fields(args)...)...)
		type totals struct{ Samples, Calls, Rows, Tokens int }
		var record struct {
			Schema      string
			Interrupted bool
			Totals      totals
		}
		reftest.OK(t, json.Unmarshal([]byte(readAll(t, file)), &record))
		var want totals
		for line := range strings.Lines(stdout) {
			var s struct {
				IDs    []int
				Calls  int
				Finish int `json:"finish_calls"`
			}
			reftest.OK(t, json.Unmarshal([]byte(line), &s))
			want = totals{want.Samples + 1, want.Calls + s.Calls, want.Rows + s.Calls + s.Finish, want.Tokens + len(s.IDs)}
		}
		if stderr != "mdmgen: interrupted\n" || record.Schema != generate.Schema || !record.Interrupted || record.Totals != want || strings.Contains(args, "--batch 1") && want.Samples != 2 {
			t.Errorf("%s: %+v, want %+v: %s", args, record, want, stderr)
		}
	}
}

// TestInterruptedFiles checks that interrupted runs write the finished part of their results, to
// standard output or to files that are named so, and say where; old files stay as they were.
func TestInterruptedFiles(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	for name, c := range map[string]struct {
		lines int    // printed before the interrupt
		args  string // OLD is a file
		want  []string
		files []string // beside the old one
	}{
		"generate": {0, "generate --model " + world + " --seed 1 -n 3 --format json -o OLD", []string{`"samples":[]`, `"interrupted":true`}, []string{"old.partial.json"}},
		"bound":    {0, "bound " + world + " --json --html OLD --plots OLDs", []string{`"interrupted": true`, `"name": "`, "Interrupted: these are partial results."}, []string{"old.partial.json"}},
		"bench":    {5, "bench --model " + world + " -n 50 -r 200000 --seed 1 --format jsonl --html OLD --plots OLDs", []string{`"kind":"repetition"`, `"kind":"report"`, `"interrupted":true`}, []string{"old.partial.json", "olds"}},
		"convert":  {0, "convert fairytale -o OLDs", nil, nil},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "old.json")
		writeFile(t, file, "old")
		stdout, stderr := interrupted(t, c.lines, strings.Fields(strings.NewReplacer("OLDs", filepath.Join(dir, "olds"), "OLD", file).Replace(c.args))...)
		told := ""
		if len(c.files) > 0 {
			told = "mdmgen: incomplete results are in " + filepath.Join(dir, "old.partial.json") + "\n"
		}
		if len(c.files) > 1 {
			told += "mdmgen: incomplete pictures are in " + filepath.Join(dir, "olds") + "\n"
		}
		if name == "generate" || name == "bound" {
			stdout += readAll(t, filepath.Join(dir, "old.partial.json"))
		}
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %s in %.1000s", name, want, stdout)
			}
		}
		if stderr != told+"mdmgen: interrupted\n" || c.want == nil && stdout != "" {
			t.Errorf("%s: %q %q", name, stdout, stderr)
		}
		if files := reftest.Must(os.ReadDir(dir))(t); len(files) != 1+len(c.files) || readAll(t, file) != "old" {
			t.Errorf("%s: files %v, the old one holds %.100q", name, files, readAll(t, file))
		}
	}
}

// TestInterruptedInput interrupts a program that waits for input.
func TestInterruptedInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"tokenize"}, {"tokenize", "--decode"}, {"generate", "--model", worldFile(t, "xor3-mixed"), "--format", "ids", "--input", "-", "--seed", "1"}} {
		ctx, cancel := context.WithCancel(context.Background())
		in, w := io.Pipe()
		time.AfterFunc(20*time.Millisecond, cancel)
		var out, errs strings.Builder
		if code := Run(ctx, append([]string{"mdmgen"}, args...), in, &out, &errs); code != exit.Interrupt || errs.String() != "mdmgen: interrupted\n" {
			t.Errorf("%v: exit status %d, %q", args, code, errs.String())
		}
		w.Close()
	}
}

// TestOutputFile checks the file of -o: it keeps the mode of an old file, and a
// link is followed.
func TestOutputFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "out"), filepath.Join(dir, "link")
	writeFile(t, path, "old")
	if err := errors.Join(os.Chmod(path, 0o600), os.Symlink("out", link)); err != nil {
		t.Skip(err)
	}
	mustRun(t, "", "generate", "--model", worldFile(t, "xor3-mixed"), "--seed", "1", "--format", "ids", "-o", link)
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if data, _ := os.ReadFile(path); strings.Count(string(data), " ") != 2 {
		t.Errorf("the file holds %q", data)
	}
}
