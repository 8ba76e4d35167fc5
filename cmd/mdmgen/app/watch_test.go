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
			term := ""
			if name == "dumb" {
				term = "TERM=dumb "
			}
			x := newTerminal(t, "90", "20", term+"mdmgen generate --watch "+c.more)
			if c.kill != "" {
				x.seen(" masked · ")
				pid := strings.TrimSpace(x.tmux("display-message", "-p", "#{pane_pid}"))
				reftest.OK(t, exec.Command("kill", "-"+c.kill, strings.TrimSpace(string(reftest.Must(exec.Command("pgrep", "-P", pid, "mdmgen").Output())(t)))).Run())
			}
			screen := x.seen(c.status)
			if !strings.HasPrefix(screen, "before\n") || !strings.Contains(screen, c.says) || c.kill != "KILL" && name != "colours" && strings.Contains(screen, " masked · ") {
				t.Errorf("%s", screen)
			}
			x.isOrdinary()
		})
	}
}

// terminal is a tmux terminal in which a command runs, after the word before and before its status.
type terminal struct {
	t      *testing.T
	socket string
}

func newTerminal(t *testing.T, columns, rows, command string) *terminal {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not here")
	}
	x := &terminal{t, filepath.Join(t.TempDir(), "socket")}
	x.tmux("-f", os.DevNull, "new-session", "-d", "-x", columns, "-y", rows, "echo before; "+command+"; echo status $?; sleep 100")
	t.Cleanup(func() { x.tmux("kill-server") })
	return x
}

func (x *terminal) tmux(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", x.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// screen returns what the terminal shows and what was scrolled away.
func (x *terminal) screen() string { return x.tmux("capture-pane", "-p", "-S", "-200") }

// seen waits until the terminal shows a text.
func (x *terminal) seen(text string) string {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if now := x.screen(); strings.Contains(now, text) {
			return now
		}
	}
	x.t.Fatalf("no %q: %s", text, x.screen())
	return ""
}

// isOrdinary checks that the terminal shows its cursor, wraps lines and is in its normal buffer.
func (x *terminal) isOrdinary() {
	x.t.Helper()
	if modes := x.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{wrap_flag}"); modes != "1 0 1\n" {
		x.t.Errorf("modes %s", modes)
	}
}
