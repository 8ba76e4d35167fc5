package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
)

// results returns command lines with results on standard output, one for each command and format
// with its own way to print. %F is an additional output file.
func results(t testing.TB) map[string][]string {
	world := worldFile(t, "xor3-mixed")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, strings.Repeat(`{"ids":[1,0,1]}`+"\n", 40))
	pairs := pairsFile(t)
	golden := worldGolden(t)
	run := filepath.Join(t.TempDir(), "run.jsonl")
	mustRun(t, "", "generate", "--model", world, "--seed", "1", "--format", "ids", "--trace", run)
	score := []string{"score", ids, "--model", world, "--draws", "4", "--seed", "1"}
	bench := []string{"bench", "--model", world, "--sampler", "fhs", "-n", "2", "-r", "3", "--seed", "1"}
	with := func(base []string, more ...string) []string { return append(base[:len(base):len(base)], more...) }
	return map[string][]string{
		"generate":       {"generate", "--model", world, "--seed", "1", "--format", "ids", "-n", "5"},
		"generate jsonl": {"generate", "--model", world, "--seed", "1", "--format", "jsonl", "-n", "5"},
		"generate json":  {"generate", "--model", world, "--seed", "1", "--format", "json"},
		"replay":         {"replay", run},
		"replay check":   {"replay", "--check", run},
		"score":          score,
		"score jsonl":    with(score, "--format", "jsonl"),
		"read":           {"read", "a{{1}}", "--model", tinyModel, "--tokenizer", lettersFile},
		"read json":      {"read", "a{{1}}", "--model", tinyModel, "--tokenizer", lettersFile, "--json"},
		"bound":          {"bound", world},
		"bound html":     {"bound", world, "--json", "--html", "%F"},
		"bench":          bench,
		"bench jsonl":    with(bench, "--format", "jsonl"),
		"bench csv":      with(bench, "--format", "csv"),
		"bench html":     with(bench, "--format", "jsonl", "--html", "%F"),
		"schedule":       {"schedule", "--profile", pairs, "--model", world, "--calls", "3"},
		"schedule json":  {"schedule", "--profile", pairs, "--model", world, "--calls", "3", "--json"},
		"verify":         {"verify", world, "--golden", golden, "--tolerance", "100"},
		"verify json":    {"verify", world, "--golden", golden, "--tolerance", "100", "--json"},
		"samplers":       {"samplers"},
		"samplers one":   {"samplers", "fhs"},
		"samplers json":  {"samplers", "--json"},
		"tokenize":       {"tokenize"},
		"doctor":         {"doctor"},
		"doctor json":    {"doctor", "--json"},
		"convert":        {"convert", tinyModel, "-o", "%D"},
		"help":           {"--help"},
		"help generate":  {"generate", "--help"},
		"version":        {"--version"},
	}
}

// worldGolden writes a file of reference tensors for the world xor3-mixed: a canvas of masks, id 2,
// and rows of zeros.
func worldGolden(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "golden.safetensors")
	ids := checkpoint.Tensor{Name: "input_ids.0", Dtype: checkpoint.I64, Shape: []int{1, 3}, Data: bytes.Repeat([]byte{2, 0, 0, 0, 0, 0, 0, 0}, 3)}
	logits := checkpointtest.Tensor("logits.0", checkpoint.F32, make([]float32, 6), 1, 3, 2)
	writeFile(t, path, string(checkpointtest.Encode(nil, ids, logits)))
	return path
}

// runProcess runs a command line as a process, with users' signal handling, and returns its
// standard error. With a nil stdout the process has no standard output.
func runProcess(t testing.TB, stdout *os.File, args ...string) (stderr string, code int) {
	t.Helper()
	cmd := exec.Command("mdmgen", args...)
	if stdout == nil {
		cmd = exec.Command("bash", append([]string{"-c", `exec mdmgen "$@" >&-`, "bash"}, args...)...)
	}
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader("once upon a time\n"), &errs
	if stdout != nil {
		cmd.Stdout = stdout
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return errs.String(), cmd.ProcessState.ExitCode()
}

// TestResultsNobodyGets runs every command with a failing standard output. Additional files must be
// complete or missing, no temporary file must remain, and a full disk must be reported in one line.
func TestResultsNobodyGets(t *testing.T) {
	t.Parallel()
	for name, args := range results(t) {
		for _, kind := range []string{"closed", "full", "none"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				stdout := failing(t, kind)
				dir := t.TempDir()
				file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
				line := append([]string{}, args...)
				for i := range line {
					line[i] = strings.NewReplacer("%F", file, "%D", folder).Replace(line[i])
				}
				stderr, code := runProcess(t, stdout, line...)
				why := map[string]string{"closed": "", "full": "standard output: no space left on device\n", "none": "standard output: bad file descriptor\n"}[kind]
				status := exit.Failure
				if kind == "closed" {
					status = exit.Pipe
				}
				if code != status || (stderr == "") != (why == "") || !strings.HasSuffix(stderr, why) || strings.Count(stderr, "\n") > 1 {
					t.Errorf("exit status %d: %q", code, stderr)
				}
				entries, err := os.ReadDir(dir)
				var names []string
				for _, e := range entries {
					names = append(names, e.Name())
				}
				want := ""
				for _, arg := range args {
					if strings.Contains(arg, "%F") {
						want = "file"
					} else if strings.Contains(arg, "%D") {
						want = "folder"
					}
				}
				if got := strings.Join(names, " "); err != nil || got != want && got != "" {
					t.Errorf("the folder holds %q, want %q: %v", got, want, err)
				}
				if info, err := os.Stat(file); err == nil && info.Size() == 0 {
					t.Error("the file is empty")
				}
			})
		}
	}
}

// TestReaderGone: when the reader of a pipe has gone, not even the seed is told.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	if stderr, code := runProcess(t, failing(t, "closed"), "generate", "--model", worldFile(t, "xor3-mixed"), "--format", "ids", "-n", "2000"); stderr != "" || code != exit.Pipe {
		t.Errorf("exit status %d: %q", code, stderr)
	}
}

// failing returns a standard output that cannot be written.
func failing(t testing.TB, kind string) *os.File {
	t.Helper()
	switch kind {
	case "none":
		return nil
	case "full":
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	r, w, err := os.Pipe()
	reftest.OK(t, err)
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// limited runs the program with a file size limit of 4 KiB, which stands for a full disk.
func limited(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"-c", `ulimit -f 4 && exec mdmgen "$@"`, "bash"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestFullDisk checks that a full disk under the file of -o is reported in one line, and that the
// old file stays as it was.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	ids := filepath.Join(t.TempDir(), "ids.jsonl")
	writeFile(t, ids, strings.Repeat(`{"ids":[1,0,1]}`+"\n", 300))
	for name, args := range map[string][]string{
		"generate": {"generate", "--model", world, "--seed", "1", "--format", "ids", "-n", "3000"},
		"jsonl":    {"generate", "--model", world, "--seed", "1", "--format", "jsonl", "-n", "300"},
		"score":    {"score", ids, "--model", world, "--draws", "4", "--seed", "1", "--format", "jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "out")
			writeFile(t, file, "old")
			stdout, stderr, code := limited(t, append(args, "-o", file)...)
			if code != exit.Failure || stdout != "" || !strings.Contains(stderr, "-o "+file+": file too large") || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit status %d: %.300s%.300s", code, stderr, stdout)
			}
			if entries, _ := os.ReadDir(dir); len(entries) != 1 || readAll(t, file) != "old" {
				t.Errorf("the folder holds %v, the file %.100q", entries, readAll(t, file))
			}
			// The same on a full device.
			if _, err := os.Stat("/dev/full"); err == nil {
				refused(t, exit.Failure, "-o /dev/full: no space left on device\n", append(args, "-o", "/dev/full")...)
				part := filepath.Join(t.TempDir(), "part")
				mustRun(t, "", append(args, "-o", part, "--shard", "1/1")...)
				refused(t, exit.Failure, "mdmgen: -o /dev/full: no space left on device\n", "merge", part, "-o", "/dev/full")
			}
		})
	}
}

// TestFullDiskBeside checks that results, or the finished part of them, are printed even if there
// is no room for another file or the journal.
func TestFullDiskBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := []string{"bench", "--model", worldFile(t, "xor3-mixed"), "--sampler", "fhs,tweedie", "-n", "4", "-r", "9", "--seed", "1", "--format", "json"}
	want := withoutSettings(mustRun(t, "", base...), "")
	for _, flags := range [][]string{{"-o", filepath.Join(dir, "out.json")}, {"--html", filepath.Join(dir, "page.html")}} {
		stdout, stderr, code := limited(t, slices.Concat(base, flags)...)
		if flags[0] == "-o" { // Results that do not fit in their file are not printed instead.
			stdout = want
		}
		if code != exit.Failure || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "file too large") || withoutSettings(stdout, "") != want {
			t.Errorf("%v: exit status %d: %s%.200s", flags, code, stderr, stdout)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".svg" {
				err = errors.New(path)
			}
			return err
		})
		reftest.OK(t, err, flags, ": left there:")
	}
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := []string{"generate", "--model", worldFile(t, "xor3-mixed"), "-n", "300", "--batch", "2", "--seed", "1", "--format", "jsonl", "-q"}
	want = mustRun(t, "", args...)
	args = append(args, "--resume", keep)
	if _, stderr, code := limited(t, args...); code != exit.Failure || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "--resume "+keep+": file too large") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
	if data, err := os.ReadFile(keep); err != nil || len(data) < 2<<10 || data[len(data)-1] != '\n' {
		t.Errorf("the journal has %d bytes, or a line without an end: %v", len(data), err)
	}
	if got := mustRun(t, "", args...); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
