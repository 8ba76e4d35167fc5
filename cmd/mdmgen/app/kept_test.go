package app

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// calls matches the number of network calls. It is lower if samples of a chunk, with which calls
// were shared, were kept.
var calls = regexp.MustCompile(`"network_calls":[0-9]+,`)

// keptSamples returns the number of samples in a journal.
func keptSamples(t *testing.T, path string) (n int) {
	t.Helper()
	for line := range strings.Lines(readAll(t, path)) {
		if strings.Contains(line, `"piece":`) && strings.HasSuffix(line, "\n") {
			n++
		}
	}
	return n
}

// TestKeptSamples checks that samples printed before a run was interrupted or killed, or made
// before the file of -o found no room, are kept and not made again, and that the program prints
// their number.
func TestKeptSamples(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	base := []string{"generate", "--model", tinyModel, "--tokenizer", lettersFile, "--length", "4", "-n", "60", "--batch", "1", "--seed", "5"}
	want := mustRun(t, "", append(base[:len(base):len(base)], "--format", "jsonl")...)
	with := func(keep string, more ...string) []string {
		return slices.Concat(base, []string{"--format", "jsonl", "--resume", keep}, more)
	}
	goesOn := func(t *testing.T, keep string, least int) {
		t.Helper()
		if n := keptSamples(t, keep); n < least || n > least+2 {
			t.Errorf("%d samples are kept, want %d", n, least)
		}
		record := filepath.Join(t.TempDir(), "record.json")
		got := mustRun(t, "", with(keep, "--record", record)...)
		var r struct {
			Totals struct{ Samples, Calls, Tokens int }
		}
		if err := json.Unmarshal([]byte(readAll(t, record)), &r); err != nil || got != want || r.Totals.Samples != 60 || r.Totals.Calls != 240 || r.Totals.Tokens != 240 {
			t.Errorf("%v: %+v\n%.300s\nwant\n%.300s", err, r, got, want)
		}
		if n := keptSamples(t, keep); n != 60 {
			t.Errorf("%d samples are kept in the end", n)
		}
	}
	t.Run("interrupt", func(t *testing.T) {
		keep := filepath.Join(t.TempDir(), "keep.jsonl")
		_, stderr := interrupted(t, 20, with(keep)...)
		if !strings.Contains(stderr, "20 of 60 samples are kept in "+keep+"; the same command continues it") {
			t.Error(stderr)
		}
		goesOn(t, keep, 20)
		// All samples are kept now, and the run ends before it has read them.
		if _, stderr = interrupted(t, 1, with(keep)...); !strings.Contains(stderr, "60 of 60 samples are kept in "+keep) {
			t.Error(stderr)
		}
	})
	t.Run("kill", func(t *testing.T) {
		keep := filepath.Join(t.TempDir(), "keep.jsonl")
		cmd := exec.Command("mdmgen", with(keep)...)
		// Nothing reads on: the program blocks at the latest when the pipe is full.
		r, w := io.Pipe()
		cmd.Stdout = w
		reftest.OK(t, cmd.Start())
		for lines, n := bufio.NewScanner(r), 0; n < 20 && lines.Scan(); n++ {
		}
		cmd.Process.Kill()
		r.Close()
		cmd.Wait()
		if n := keptSamples(t, keep); n < 20 {
			t.Errorf("%d samples are kept, and 20 were printed", n)
		}
		goesOn(t, keep, keptSamples(t, keep))
	})
	t.Run("no room", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip(err)
		}
		keep := filepath.Join(t.TempDir(), "keep.jsonl")
		_, stderr, code := runCommand(t, "", with(keep, "-o", "/dev/full")...)
		if code != exit.Failure || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("exit status %d: %s", code, stderr)
		}
		goesOn(t, keep, keptSamples(t, keep))
	})
}

// TestOtherProgram checks that a run begun by another build of the program, of whatever version, is
// neither continued nor, unless the user insists, merged, and that the results then name the mixture.
func TestOtherProgram(t *testing.T) {
	t.Parallel()
	self := reftest.Must(os.Executable())(t)
	dir := t.TempDir()
	other := filepath.Join(dir, "mdmgen") // a build that differs in one byte
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(other, append(data, 0), 0o755)
	}
	reftest.OK(t, err)
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(other, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	args := []string{"generate", "--model", worldFile(t, "xor3-mixed"), "-n", "300", "--batch", "2", "--seed", "1", "--json"}
	want := calls.ReplaceAllString(timeless(mustRun(t, "", args...)), "")
	one, two, keep := filepath.Join(dir, "1.jsonl"), filepath.Join(dir, "2.jsonl"), filepath.Join(dir, "keep.jsonl")
	mustRun(t, "", append(slices.Clone(args), "--shard", "1/2", "-o", one)...)
	run(append(slices.Clone(args), "--shard", "2/2", "-o", two)...)
	refused(t, exit.Usage, "different values of executable", "merge", one, two)
	mixed := func(got string) {
		t.Helper()
		if plain := strings.Replace(calls.ReplaceAllString(timeless(got), ""), `,"mixture":["executable"]`, "", 1); plain != want || !strings.Contains(got, `"mixture"`) {
			t.Errorf("%.1000s\nwant\n%.1000s", got, want)
		}
	}
	mixed(mustRun(t, "", "merge", "--force", one, two))
	run(append(slices.Clone(args), "--resume", keep)...)
	lines := strings.SplitAfter(readAll(t, keep), "\n")
	writeFile(t, keep, strings.Join(lines[:len(lines)/2], ""))
	refused(t, exit.Usage, "other values of executable", append(slices.Clone(args), "--resume", keep)...)
}
