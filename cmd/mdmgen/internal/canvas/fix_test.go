package canvas

import (
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// TestFix: texts stand where they are to, over masks and nothing else.
func TestFix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fixes []string
		want  string // the canvas, or what the error says
	}{
		{nil, "a_______"},
		{[]string{"3:xy", "7:z", "2::"}, "a_:xy__z"},
		{[]string{"0:x"}, "something is given at position 0"},
		{[]string{"3:xy", "4:z"}, "something is given at position 4"},
		{[]string{"7:xy"}, "it ends at position 8, and the canvas at 7"},
		{[]string{"-1:x"}, "write POSITION:TEXT"}, {[]string{"3"}, "write POSITION:TEXT"}, {[]string{"3:"}, "write POSITION:TEXT"}, {[]string{"x:3"}, "write POSITION:TEXT"},
	} {
		l := testLayout(8)
		prefix := "a"
		canvas, err := l.Between(&prefix, nil, 8)
		if err == nil {
			err = l.Fix(canvas, c.fixes)
		}
		if got := show(canvas); err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v; want %q", c.fixes, got, err, c.want)
		}
	}
}

// TestGrowingCanvas: a canvas that grows begins with a block behind its prompt, or as a line says.
func TestGrowingCanvas(t *testing.T) {
	t.Parallel()
	l := testLayout(0)
	l.Block, l.MaxLength = 3, 10
	for line, want := range map[string]string{
		`{"prefix":"ab"}`: "ab___", `{"prefix":"ab","length":7}`: "ab_____", `{"prefix":"ab","block_length":4}`: "ab____", `{"prefix":"abcdefghijk"}`: "abcdefghijk_",
	} {
		own, rest, err := takeOwn([]byte(line))
		reftest.OK(t, err)
		if canvas, _, err := l.parse(own, rest); err != nil || show(canvas) != want {
			t.Errorf("%s: %s, %v; want %s", line, show(canvas), err, want)
		}
	}
}
