package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestGPUScript runs tools/gpu/run.sh with a program that fails once and hangs once. Both must be
// noted, the other steps must run, and the exit status must say so. The script must not need torch,
// and mdmgen must accept every command line in it.
func TestGPUScript(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program, log := filepath.Join(dir, "mdmgen"), filepath.Join(dir, "log")
	for path, text := range map[string]string{
		program:                          "echo \"$@\" >>" + log + "\ncase \"$*\" in doctor*fairytale*) echo broken >&2; exit 3;; *tf32*) sleep 60;; esac\n",
		filepath.Join(dir, "python3"):    "[ \"$1\" != -c ]\n",
		filepath.Join(dir, "nvidia-smi"): "",
	} {
		reftest.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	}
	cmd := exec.Command("sh", "tools/gpu/run.sh", filepath.Join(dir, "out"), program)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LIMIT=1")
	said, _ := cmd.CombinedOutput()
	var noted []string
	for line := range strings.Lines(string(said)) {
		if strings.HasPrefix(line, "-- ") {
			noted = append(noted, strings.TrimSpace(line))
		}
		if strings.Contains(line, "compare.py") && !strings.Contains(line, "compare.py make") {
			t.Errorf("asks for torch: %s", line)
		}
	}
	if cmd.ProcessState.ExitCode() != 1 || len(noted) != 2 || noted[0] != "-- doctor.json: exit status 3: broken" || noted[1] != "-- against-tf32.json: not done after 1 seconds" {
		t.Errorf("%v, noted %q:\n%s", cmd.ProcessState, noted, said)
	}
	n := 0
	for line := range strings.Lines(readAll(t, log)) {
		args := strings.Fields(line)
		at := 1 // verify MODEL
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
