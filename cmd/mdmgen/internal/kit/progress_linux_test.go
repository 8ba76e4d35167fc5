package kit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"mdmgen/internal/reftest"
)

// newTerminal returns a terminal of n columns, and a function that closes it and returns its
// output.
func newTerminal(t *testing.T, n int) (screen *os.File, sent func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals are made here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	number, nerr := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	for _, err := range []error{nerr, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(n)})} {
		reftest.OK(t, err)
	}
	if screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("no terminals are opened here: %v", err)
	}
	return screen, func() string {
		screen.Close()
		var all strings.Builder
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b)
			if all.Write(b[:n]); err != nil { // EIO: the other side is closed
				return all.String()
			}
		}
	}
}

// TestBar checks that a bar leaves room for the echo of Ctrl-C, shows no rate before it is known,
// is hidden for results on the same terminal, and is gone after Clear even if more units are
// counted.
func TestBar(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, columns := range []int{80, 100, 200} {
		screen, sent := newTerminal(t, columns)
		out := &StandardOutput{W: screen}
		p := NewBar(Streams{Out: out, Err: screen}, 40000, "measuring", "repetitions")
		p.Add(1)
		fmt.Fprintln(out, "one")
		time.Sleep(110 * time.Millisecond) // the bar is drawn ten times a second
		p.Add(2)
		p.Clear()
		p.Add(20000)
		fmt.Fprintln(out, "two")
		text := sent()
		shown := 0
		for line := range strings.SplitSeq(text, "\r") {
			if strings.Contains(line, "measuring repetitions") {
				shown++
			}
			if n := utf8.RuneCountInString(line); strings.Contains(line, "measuring") && n > columns-2 {
				t.Errorf("%d columns of %d: %q", n, columns, line)
			}
		}
		if shown < 2 || strings.Contains(text, "/hr") || strings.Contains(text, "20003") {
			t.Errorf("%q", text)
		}
		for _, line := range []string{"one", "two"} {
			if before, _, ok := strings.Cut(text, line+"\r\n"); !ok || !strings.HasSuffix(before, "\r") && !strings.HasSuffix(before, "\n") {
				t.Errorf("%s stands beside the bar: %q", line, text)
			}
		}
	}
}
