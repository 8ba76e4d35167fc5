package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestGPUScript runs tools/gpu/run.sh with a program that fails and hangs. Both must be noted, also in
// the results, the other steps must run, and the exit status must say so. mdmgen must accept every
// command line in it.
func TestGPUScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, log := filepath.Join(dir, "mdmgen"), filepath.Join(dir, "log")
	for path, text := range map[string]string{
		program:                          "(IFS='\t'; echo \"$*\") >>" + log + "\ncase \"$*\" in doctor*fairytale*) echo broken >&2; exit 3;; *tf32*) sleep 60;; esac\n",
		filepath.Join(dir, "python3"):    "case \"$1\" in *load.py) shift 4; exec \"$@\";; esac\n",
		filepath.Join(dir, "nvidia-smi"): "",
	} {
		reftest.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	}
	cmd := exec.Command("sh", "tools/gpu/run.sh", filepath.Join(dir, "out"), program)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PERCENT=8")
	said, _ := cmd.CombinedOutput()
	results := readAll(t, filepath.Join(dir, "out", "results.txt"))
	var noted []string
	stages := 0 // seconds, of those that follow each other
	for line := range strings.Lines(string(said)) {
		var limit int
		if _, rest, ok := strings.Cut(line, "("); ok && !strings.Contains(line, "beside the first") {
			_, _ = fmt.Sscanf(rest, "%d s at most)", &limit)
			stages += limit
		}
		if _, step, ok := strings.Cut(line, " s  "); ok && strings.Contains(line, ": ") && !strings.Contains(line, "at most)") {
			if line = strings.TrimSpace(line); !strings.Contains(results, line) {
				t.Errorf("the results lack %q", line)
			}
			if !strings.HasSuffix(line, "done") {
				noted = append(noted, strings.TrimSpace(step[strings.Index(step, "s")+1:]))
			}
		}
	}
	want := []string{"doctor: FAILED with 3: broken", "doctor-2: FAILED with 3: broken", "against-tf32: CUT"}
	if cmd.ProcessState.ExitCode() != 1 || !slices.Equal(noted, want) {
		t.Errorf("%v, noted %q:\n%s", cmd.ProcessState, noted, said)
	}
	if stages == 0 || stages > 540*8/100 {
		t.Errorf("the stages take up to %d s at 8%%, more than nine minutes", stages)
	}
	n := 0
	for line := range strings.Lines(readAll(t, log)) {
		args := strings.Split(strings.TrimSpace(line), "\t")
		at := 1 // verify MODEL, serve MODEL
		if model := slices.Index(args, "--model"); model > 0 {
			at = model + 1
		}
		if args[0] == "doctor" {
			continue
		}
		args[at] = filepath.Join(dir, "none")
		refused(t, exit.Missing, "", args...)
		n++
	}
	if n < 20 {
		t.Errorf("%d command lines", n)
	}
}
