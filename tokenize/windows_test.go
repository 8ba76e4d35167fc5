package tokenize

import (
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
)

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestWindows(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  Cut
		n    int
		want string
	}{
		{"whole", Cut{Length: 5, BOS: None, EOS: None}, 5, "[0 1 2 3 4]/0 "},
		{"shorter", Cut{Length: 9, BOS: None, EOS: None}, 2, "[0 1]/0 "},
		{"nothing", Cut{Length: 9, BOS: None, EOS: None}, 0, ""},
		{"pieces and a tail", Cut{Length: 2, BOS: None, EOS: None}, 5, "[0 1]/0 [2 3]/0 [4]/0 "},
		{"no tail", Cut{Length: 2, BOS: None, EOS: None, DropTail: true}, 5, "[0 1]/0 [2 3]/0 "},
		{"context", Cut{Length: 4, Context: 2, BOS: None, EOS: None}, 7, "[0 1 2 3]/0 [2 3 4 5]/2 [4 5 6]/2 "},
		{"context to the end", Cut{Length: 4, Context: 2, BOS: None, EOS: None}, 6, "[0 1 2 3]/0 [2 3 4 5]/2 "},
		{"context from the first", Cut{Length: 3, Context: 1, ContextAlways: true, BOS: None, EOS: None}, 4, "[0 1 2]/1 [2 3]/1 "},
		{"nothing but context", Cut{Length: 4, Context: 2, ContextAlways: true, BOS: None, EOS: None}, 2, ""},
		{"stride", Cut{Length: 3, Stride: 1, BOS: None, EOS: None}, 5, "[0 1 2]/0 [1 2 3]/0 [2 3 4]/0 "},
		{"frame", Cut{Length: 4, BOS: 90, EOS: 91}, 3, "[90 0 1 91]/0 [90 2 91]/0 "},
		{"frame and context", Cut{Length: 4, Context: 1, BOS: 90, EOS: 91}, 3, "[90 0 1 91]/0 [90 1 2 91]/2 "},
	} {
		got := ""
		for w := range test.cut.All(upTo(test.n)) {
			got += fmt.Sprintf("%v/%d ", w.IDs, w.Context)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for _, c := range []Cut{{BOS: None, EOS: None}, {Length: 2}, {Length: 3, Context: 3, BOS: None, EOS: None}, {Length: 3, Stride: 4, BOS: None, EOS: None}, {Length: 3, Stride: -1, BOS: None, EOS: None}, {Length: 5, Context: -1, BOS: None, EOS: None}, {Length: 3, BOS: -2, EOS: None}} {
		reftest.Fails(t, c.Validate(), "", c, "is accepted")
	}
}

// FuzzWindows checks for any cut that the scored tokens are the document's, in order, each once by
// default and at least once with any stride.
func FuzzWindows(f *testing.F) {
	f.Add(uint8(10), uint8(4), uint8(1), uint8(0), true, false)
	f.Add(uint8(3), uint8(2), uint8(0), uint8(1), false, true)
	f.Fuzz(func(t *testing.T, n, length, context, stride uint8, bos, eos bool) {
		c := Cut{Length: int(length), Context: int(context), Stride: int(stride), BOS: None, EOS: None}
		if bos {
			c.BOS = 1000
		}
		if eos {
			c.EOS = 1001
		}
		if c.Validate() != nil {
			return
		}
		seen := make([]int, n)
		for w := range c.All(upTo(int(n))) {
			if len(w.IDs) > c.Length || w.Context >= len(w.IDs) {
				t.Fatalf("%+v: window %+v", c, w)
			}
			at := w.Start
			for i, id := range w.IDs {
				if id >= 1000 {
					continue
				}
				if id != at {
					t.Fatalf("%+v: window %+v holds %d, want %d", c, w, id, at)
				}
				if i >= w.Context {
					seen[id]++
				}
				at++
			}
		}
		for id, times := range seen {
			if times == 0 || times > 1 && !c.Overlaps() {
				t.Fatalf("%+v: token %d of %d is scored %d times", c, id, n, times)
			}
		}
	})
}

// TestBytes checks that the bytes of the pieces of a text add up to the text's, even if characters
// are cut in two, and that special tokens have none.
func TestBytes(t *testing.T) {
	tok := reftest.Must(Open(t.Context(), reftest.Builtin(t)))(t)
	text := "The naïve king said: »Grüß Gott«, 你好 🙂"
	ids := reftest.Must(tok.EncodePlain(text))(t)
	sum := 0
	for piece := range slices.Chunk(ids, 1) {
		n := reftest.Must(tok.Bytes(piece))(t)
		sum += n
	}
	if sum != len(text) {
		t.Errorf("%d bytes, want %d", sum, len(text))
	}
	bos, eos, err := tok.Frame()
	reftest.OK(t, err)
	if n, err := tok.Bytes([]int{bos, eos}); n != 0 || err != nil {
		t.Errorf("the frame has %d bytes, %v", n, err)
	}
	reftest.Fails(t, reftest.Err(tok.Bytes([]int{1 << 30})), "", "an unknown id has bytes")
}
