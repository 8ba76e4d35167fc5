package watch

import (
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
	"mdmgen/serve/frame"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// scriptDir is the variable with the folder through which a test steps the screen of [script].
const scriptDir = "MDMGEN_WATCH_SCRIPT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(scriptDir); dir != "" {
		script(dir, os.Getenv("MDMGEN_WATCH_COLORS") != "")
		return
	}
	os.Exit(m.Run())
}

// frames are those of a sequence with every state, and with characters of one and two columns,
// combining ones, a newline and a control character.
var frames = []frame.Frame{
	{Length: 24, Positions: []int{0, 1}, Tokens: []int{1, 2}, Pieces: []string{"Once", " upon"}},
	{Call: 1, Positions: []int{4, 9, 12}, Tokens: []int{3, 4, 5}, Pieces: []string{" 東京", " nai\u0308ve", "\n"}, LogP: logs(0.05, 0.2, 0.95)},
	{Call: 2, Positions: []int{5, 6, 20, 21}, Tokens: []int{6, 7, 8, 9}, Pieces: []string{" king", "\x1b[2J", " 👩‍👧", " fox"}, LogP: logs(0.5, 0.7, 0.99, 0.01), Masked: []int{9}},
	{Call: 3, Positions: []int{9}, Tokens: []int{6}, Pieces: []string{" king"}, LogP: logs(0.4), Masked: []int{5, 21}, Grown: 2},
	{Call: 4, Positions: []int{2, 3, 5}, Tokens: []int{10, 11, 12}, Pieces: []string{" a", " time", " queen"}, LogP: logs(0.4, 0.9, 0.3), Done: true},
}

func logs(p ...float64) (out []estimate.Number) {
	for _, x := range p {
		out = append(out, estimate.Number(math.Log(x)))
	}
	return out
}

func options() Options {
	return Options{Seed: 7, Expected: func(uint64) (float64, bool) { return 4, false }}
}

// script shows a frame for each file with its number that a test creates in a folder, and creates a
// file in reply. At the end it prints a result and closes the screen.
func script(dir string, confidence bool) {
	s := kit.Streams{Out: &kit.StandardOutput{W: os.Stdout}}
	o := options()
	o.Confidence = confidence
	w, why := Open(s, o)
	if w == nil {
		panic(why)
	}
	close(w.stop) // It draws when the test asks for it, not by the clock.
	w.done.Wait()
	w.stop = make(chan struct{})
	wait := func(step string) {
		for {
			if _, err := os.Stat(filepath.Join(dir, step)); err == nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	answer := func(step string) { _ = os.WriteFile(filepath.Join(dir, step+".done"), nil, 0o600) }
	for i, f := range frames {
		step := "frame" + string(rune('0'+i))
		wait(step)
		w.Frame(f)
		w.draw()
		answer(step)
	}
	wait("redraw")
	w.draw()
	answer("redraw")
	wait("result")
	_, _ = s.Out.Write([]byte("a result\n"))
	w.Frame(frame.Frame{Sequence: 1, Length: 9})
	w.draw()
	answer("result")
	wait("close")
	w.Close()
	answer("close")
	wait("end")
}

// terminal is a tmux terminal in which a test's script runs.
type terminal struct {
	t         *testing.T
	name, dir string
}

func start(t *testing.T, columns, rows int, colors string) *terminal {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not here")
	}
	x := &terminal{t, filepath.Join(t.TempDir(), "socket"), t.TempDir()}
	x.tmux("-f", os.DevNull, "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "-e", scriptDir+"="+x.dir, "-e", "MDMGEN_WATCH_COLORS="+colors,
		"echo '$ before'; "+os.Args[0]+"; echo '$ after'; sleep 100")
	t.Cleanup(func() { x.tmux("kill-server") })
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", x.name}, args...)...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// step advances the script and returns the screen: want once it shows that, else its final state.
func (x *terminal) step(step, want string) string {
	x.t.Helper()
	reftest.OK(x.t, os.WriteFile(filepath.Join(x.dir, step), nil, 0o600))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(x.dir, step+".done")); err == nil || step == "end" {
			break
		}
	}
	// tmux reads the output with a delay.
	now := ""
	for end := time.Now().Add(10 * time.Second); now != want && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now = strings.TrimRight(x.tmux("capture-pane", "-p", "-S", "-50"), "\n") + "\n" // including what was scrolled away
	}
	return now
}

// TestScreens compares the screens of terminals of several sizes with golden files, which were
// reviewed by eye.
func TestScreens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		columns, rows int
		colors        string
		// resize is the width of the terminal before the picture is drawn again.
		resize int
	}{"wide": {78, 16, "", 78}, "narrow": {22, 16, "", 22}, "low": {40, 5, "", 40}, "shrunk": {60, 18, "", 31}, "grown": {31, 18, "", 60}, "confidence": {78, 16, "on", 78}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, c.columns, c.rows, c.colors)
			var all strings.Builder
			path := filepath.Join("testdata", name+".txt")
			want := reftest.Must(os.ReadFile(path))(t)
			show := func(step string) {
				_, screen, _ := strings.Cut(string(want), "== "+step+"\n")
				screen, _, _ = strings.Cut(screen, "== ")
				all.WriteString("== " + step + "\n" + x.step(step, screen))
			}
			for i := range frames {
				show("frame" + string(rune('0'+i)))
			}
			x.tmux("resize-window", "-x", strconv.Itoa(c.resize), "-y", strconv.Itoa(c.rows))
			for _, step := range []string{"redraw", "result", "close", "end"} {
				show(step)
			}
			// The cursor is visible, and the normal buffer is in use.
			if modes := x.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{wrap_flag}"); modes != "1 0 1\n" {
				t.Errorf("modes %s", modes)
			}
			if *update {
				reftest.OK(t, os.WriteFile(path, []byte(all.String()), 0o644))
			}
			if string(want) != all.String() {
				t.Errorf("the screens are\n%s", all.String())
			}
		})
	}
}

// TestStates checks that the four states differ without colours, and that the legend explains the
// colours.
func TestStates(t *testing.T) {
	t.Parallel()
	v := Picture{Options: options()}
	for _, f := range frames[:4] {
		v.Frame(f)
		v.Lines(200, 40)
	}
	got := strings.Join(v.Lines(200, 40), "\n")
	for name, want := range map[string]string{
		"masked": quiet.Styled("·"), "masked again": "×", "new": fresh.Styled("k"), "settled": " 東京", "a control character": `\u001b[2J`, "a combining letter": "upon",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %q", name, want, got)
		}
	}
	if strings.Contains(got, "38;5") || strings.Contains(got, "48;5") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("colours, or a token's own escapes: %q", got)
	}
	v.Confidence = true
	got = strings.Join(v.Lines(200, 40), "\n")
	for _, b := range bins {
		if !strings.Contains(v.legend(), b.name) {
			t.Errorf("the legend lacks %s", b.name)
		}
	}
	if !strings.Contains(got, "48;5;17") || !strings.Contains(got, "48;5;227") {
		t.Errorf("no colours: %q", got)
	}
}

// TestFits checks for all sizes and numbers of samples that no line is as wide and no picture as
// high as the terminal.
func TestFits(t *testing.T) {
	t.Parallel()
	for columns := 16; columns < 200; columns += 7 {
		for rows := 3; rows < 30; rows++ {
			v := Picture{Options: options()}
			for n := range uint64(12) {
				for _, f := range frames {
					f.Sequence = n
					v.Frame(f)
				}
				lines := v.Lines(columns, rows)
				if len(lines) >= rows {
					t.Errorf("%d×%d: %d lines", columns, rows, len(lines))
				}
				for _, line := range lines {
					if ansi.StringWidth(line) >= columns {
						t.Errorf("%d×%d: a line of %d columns: %q", columns, rows, ansi.StringWidth(line), line)
					}
				}
			}
			if len(v.panes) != 1 { // the previous ones are done
				t.Errorf("%d panes", len(v.panes))
			}
		}
	}
}

// slow is a terminal that takes its time for a picture.
type slow struct{ drawing chan struct{} }

func (s slow) Write(p []byte) (int, error) {
	select {
	case s.drawing <- struct{}{}:
	default:
	}
	time.Sleep(50 * time.Millisecond)
	return len(p), nil
}

// TestClosedInMidPicture checks that a screen that is closed while it draws ends.
func TestClosedInMidPicture(t *testing.T) {
	t.Parallel()
	terminal := slow{make(chan struct{})}
	w := &Screen{out: &kit.StandardOutput{W: terminal}, size: func() (int, int) { return 80, 20 }, view: Picture{Options: options()}, stop: make(chan struct{})}
	w.start()
	w.Frame(frames[0])
	<-terminal.drawing
	closed := make(chan struct{})
	go func() { w.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("it draws for ever")
	}
}
