package kit

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/plainfile"
)

// TestProgressLines checks that without a terminal a line is printed at most every ten seconds,
// with the work done, the total, the rate and the time left, none at the end, and none with
// --quiet.
func TestProgressLines(t *testing.T) {
	var b strings.Builder
	p := NewBar(Streams{Err: &b}, 4000, "sampling", "tokens")
	at := p.begin
	for _, step := range []struct {
		after time.Duration
		n     int
	}{{9 * time.Second, 500}, {11 * time.Second, 600}, {12 * time.Second, 100}, {22 * time.Second, 1000}, {40 * time.Second, 1800}} {
		p.add(step.n, at.Add(step.after))
	}
	if got, want := b.String(), "mdmgen: sampling: 1,100 of 4,000 tokens, 100/s, 29s left\nmdmgen: sampling: 2,200 of 4,000 tokens, 100/s, 18s left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	p = NewBar(Streams{Err: &b}, 3_000_000, "fetching", "")
	p.add(1_000_000, p.begin.Add(20*time.Second))
	if got, want := b.String(), "mdmgen: fetching: 1.0 MB of 3.0 MB, 50 kB/s, 40s left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p := NewBar(Streams{Err: &b, Verbosity: &Verbosity{Level: Quiet}}, 4, "x", "y"); p.print != nil || p.bar != nil {
		t.Error("a quiet run has progress")
	}
}

// TestIsTerminal checks that standard input is still a terminal behind a reader whose reads an
// interrupt ends.
func TestIsTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals are made here: %v", err)
	}
	defer terminal.Close()
	for _, w := range []any{terminal, plainfile.Interruptible(t.Context(), terminal), &StandardOutput{W: terminal}} {
		if !IsTerminal(w) {
			t.Errorf("%T: no terminal", w)
		}
	}
	for _, w := range []any{nil, strings.NewReader(""), plainfile.Interruptible(t.Context(), strings.NewReader("")), &StandardOutput{W: io.Discard}} {
		if IsTerminal(w) {
			t.Errorf("%T: a terminal", w)
		}
	}
}
