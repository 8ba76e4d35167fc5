package requests

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
)

// bytesOnly is a network of bytes without rows.
type bytesOnly struct{ model.Model }

func (bytesOnly) Facts() model.Facts { return model.Facts{} }

func (bytesOnly) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 257, Mask: 256}}
}

// TestKept checks that kept languages are counted by the memory that they take, that they make room
// for others whatever is suppressed, and that unusable ones are not kept.
func TestKept(t *testing.T) {
	b := &Builder{Config: Config{Network: bytesOnly{}, Words: layout(t, 1).Words}, languages: make(map[language]*match.Language)}
	compile := func(suppressed, pattern string) error {
		return reftest.Err(b.language(t.Context(), suppressed, Pattern{Kind: "regex", Text: pattern}))
	}
	reftest.OK(t, compile("", "a"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	counted := b.kept
	for i := range 6 {
		reftest.OK(t, compile("", fmt.Sprintf("[a-z]{%d}x|([0-9]|[A-F][a-z]?){1,%d}", 500+i, 200+i)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	counted = b.kept - counted
	if ratio := float64(counted) / (float64(after.HeapAlloc) - float64(before.HeapAlloc)); counted < 1<<18 || ratio < 0.5 || ratio > 2 {
		t.Errorf("%d bytes are counted, %.2f times those in memory", counted, ratio)
	}
	for _, refused := range []string{`a\Ab`, "(a|b)*a(a|b){20}"} {
		if err := compile("", refused); err == nil || len(b.languages) != 7 {
			t.Errorf("%s: %v, %d languages are kept", refused, err, len(b.languages))
		}
	}
	b.kept = maxKept - 10
	reftest.OK(t, compile("5", "b"))
	if l := b.languages[language{"5", "regex", "b"}]; len(b.languages) != 1 || l == nil || b.kept != l.Bytes() {
		t.Errorf("%d languages of %d bytes are kept beyond the maximum", len(b.languages), b.kept)
	}
	b.Compile = func(context.Context) (func(), error) { return nil, context.Canceled }
	if kept, other := compile("5", "b"), compile("", "c"); kept != nil || !errors.Is(other, context.Canceled) {
		t.Errorf("without a place a kept pattern has the error %v, another %v", kept, other)
	}
}
