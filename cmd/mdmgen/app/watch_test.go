package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// TestWatchEnds checks that however a watched run ends, the terminal works as before and keeps its
// text.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not here")
	}
	for name, c := range map[string]struct {
		more, kill string
		// status is the exit status of the program, and says the final text on the screen.
		status, says string
	}{
		"end":       {"-n 2 --length 24 --seed 3", "", "status 0", "================"},
		"colours":   {"--length 12 --seed 3 --set colors=confidence", "", "status 0", "call 12 of 12 · 0 masked"},
		"interrupt": {"-n 1000 --seed 3", "INT", "status 130", "mdmgen: "},
		"terminate": {"-n 1000 --seed 3", "TERM", "status 130", "mdmgen: "},
		"kill":      {"-n 1000 --seed 3", "KILL", "status 137", "masked"},
		"dumb":      {"--length 6 --seed 3", "", "status 0", "TERM=dumb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tmux := func(args ...string) string {
				cmd := exec.Command("tmux", append([]string{"-u", "-S", filepath.Join(dir, "socket")}, args...)...)
				cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %v: %v: %s", args, err, out)
				}
				return string(out)
			}
			term := ""
			if name == "dumb" {
				term = "TERM=dumb "
			}
			tmux("-f", os.DevNull, "new-session", "-d", "-x", "90", "-y", "20", "echo before; "+term+"mdmgen generate --watch "+c.more+"; echo status $?; sleep 100")
			defer tmux("kill-server")
			seen := func(text string) string {
				for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
					if now := tmux("capture-pane", "-p", "-S", "-200"); strings.Contains(now, text) {
						return now
					}
				}
				t.Fatalf("no %q: %s", text, tmux("capture-pane", "-p", "-S", "-200"))
				return ""
			}
			if c.kill != "" {
				seen(" masked · ")
				pid := strings.TrimSpace(tmux("display-message", "-p", "#{pane_pid}"))
				reftest.OK(t, exec.Command("kill", "-"+c.kill, strings.TrimSpace(string(reftest.Must(exec.Command("pgrep", "-P", pid, "mdmgen").Output())(t)))).Run())
			}
			screen := seen(c.status)
			if !strings.HasPrefix(screen, "before\n") || !strings.Contains(screen, c.says) || c.kill != "KILL" && name != "colours" && strings.Contains(screen, " masked · ") {
				t.Errorf("%s", screen)
			}
			if modes := tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{wrap_flag}"); modes != "1 0 1\n" {
				t.Errorf("modes %s", modes)
			}
		})
	}
}
