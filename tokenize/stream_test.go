package tokenize

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"mdmgen/internal/reftest"
)

// collect joins the pieces of a stream.
func collect(t testing.TB, pieces iter.Seq2[[]int, error]) []int {
	t.Helper()
	ids := []int{}
	for piece, err := range pieces {
		reftest.OK(t, err)
		ids = append(ids, piece...)
	}
	return ids
}

// checkStream requires the ids of the whole from pieces of all small sizes, and that cutting the
// text anywhere does not affect any normalizer or splitter.
func checkStream(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	want := reftest.Must(tok.EncodePlain(text))(t)
	for size := 1; size <= 9; size++ {
		if got := collect(t, tok.plain.stream(strings.NewReader(text), size, size)); !slices.Equal(got, want) {
			t.Fatalf("%s: %+q in pieces of %d bytes: %v, want %v", tok.name, text, size, got, want)
		}
	}
	checkCuts(t, tok.name, tok.plain.pre, text)
}

func checkCuts(t *testing.T, name string, pre *preTokenizer, text string) {
	t.Helper()
	whole := pre.normalized(text)
	for i, r := range text {
		if pre.normalize != nil && startsAfresh(r) {
			if got := pre.normalized(text[:i]) + pre.normalized(text[i:]); got != whole {
				t.Fatalf("%s: %+q cut at %d is normalized to %+q, want %+q", name, text, i, got, whole)
			}
		}
	}
	words := func(text string, more bool) (out []string, n int) {
		n = pre.split(text, more, func(w string) { out = append(out, w) })
		return out, n
	}
	all, n := words(whole, false)
	if n != len(whole) {
		t.Fatalf("%s: %+q: %d bytes of %d are split", name, whole, n, len(whole))
	}
	for i := range whole {
		before, n := words(whole[:i], true)
		rest, _ := words(whole[n:], false)
		if got := append(before, rest...); !slices.Equal(got, all) {
			t.Fatalf("%s: %+q cut at %d: pre-tokens %+q, want %+q", name, whole, i, got, all)
		}
	}
}

// awkward are texts in which a wrong cut shows.
var awkward = []string{
	"", " ", "\n", "a", "'", "it's they'll've 're'Re'ſ'L", "' s 's", "a 's", "  x", "x  ", "a\n\n \n  b", "\n   \n", " \r\n\r\n\tx", "!\n\n!!\r\n x", "a \u00a0 b\u2003\u2003c",
	"1234567 12 1½٣", "e\u0301 e\u0323\u0301 e\u0301\u0323", "a\u0344b", "\u1100\u1161\u11a8\u11a8 각ᆨ", "e\x00\u0301", "e\u200d\u0301\u0323", "e\ufffd\u0301", "가\u11a8", "\u0cc6\u0cd5 \u0cc6\u0cc2\u0cd5",
	"\U00011935\U00011930", "東京\u3099か\u3099", strings.Repeat("\u0301", 40) + "x", "a" + strings.Repeat("\u0323\u0301", 20), "👩‍👩‍👧 👍🏽é", "<|mask|> [MASK] <|endoftext|>", "\u0130i\u0307I\u0307",
	strings.Repeat(" ", 30) + "x" + strings.Repeat("\n ", 9) + "y", "---\n\n---", "\u0085\u2028x\u2029", "\u0898\u0301e\u0898\u0301", "A\u030a\u0301\u212b\u2126",
}

func TestStreamIsWhole(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	marks := []rune("\u0301\u0323\u0344\u0345\u0327\u1161\u11a8\u09be\u3099\u0898\U00011930\u0cd5")
	letters := []rune("abesSlLtTrRvV'ſ eé東京각가か\u1100\U00011935\u0cc6İ")
	blank := []rune("  \n\n\r\t\u00a0\u2003\u0085")
	odd := []rune("12½!-.\x00\u200d\ufffd\u00ad👍🏽\U0001f468\U00010d40")
	for _, tok := range openAll(t) {
		for _, text := range awkward {
			checkStream(t, tok, text)
		}
		for range 400 {
			var b strings.Builder
			kinds := [][]rune{marks, letters, letters, blank, odd}
			for range rng.IntN(25) {
				kind := kinds[rng.IntN(len(kinds))]
				b.WriteString(strings.Repeat(string(kind[rng.IntN(len(kind))]), 1+rng.IntN(3)))
			}
			checkStream(t, tok, b.String())
		}
	}
}

func TestStreamIsWholeReal(t *testing.T) {
	for _, name := range []string{"gpt2", "qwen2.5", "dream-like", "llada-like", "bert-base-uncased"} {
		tok := reference(t, name)
		for _, text := range awkward {
			checkStream(t, tok, text)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, s := range awkward {
		f.Add(s)
	}
	all := openAll(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 512 || !utf8.ValidString(text) {
			t.Skip()
		}
		for _, tok := range all {
			checkStream(t, tok, text)
		}
	})
}

// TestStartsAfresh puts every character that the rule accepts after those that join with most
// others.
func TestStartsAfresh(t *testing.T) {
	t.Parallel()
	before := []string{"e\u0301", "\u1100\u1161", "\u0cc6", "\u09c7", "か", "\U00011935"}
	type form struct {
		normalize func(string) string
		before    []string // normalized
	}
	var forms []form
	for _, f := range []func(string) string{nfc, nfd, bertNormalizer{cleanText: true, chineseChars: true, stripAccents: true, lowercase: true}.normalize} {
		done := form{normalize: f}
		for _, b := range before {
			done.before = append(done.before, f(b))
		}
		forms = append(forms, done)
	}
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || !startsAfresh(r) {
			continue
		}
		n++
		a := string(r) + "\u0323"
		for _, form := range forms {
			alone := form.normalize(a)
			if got := form.normalize(strings.Join(before, a) + a); got != strings.Join(form.before, alone)+alone {
				t.Fatalf("%U does not start afresh: %+q", r, got)
			}
		}
	}
	if n < 100_000 {
		t.Errorf("%d characters start afresh: too few to be of use", n)
	}
}

// TestStreamStops counts the bytes read for a first piece.
func TestStreamStops(t *testing.T) {
	for _, tok := range openAll(t) {
		read := 0
		in := readFunc(func(p []byte) (int, error) {
			n := copy(p, strings.Repeat("Once upon a time. ", 1+len(p)/18))
			read += n
			return n, nil
		})
		for _, err := range tok.Stream(in) {
			reftest.OK(t, err)
			break
		}
		if read > 16<<10 {
			t.Errorf("%s: %d bytes are read for one piece", tok.name, read)
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestStreamFaults(t *testing.T) {
	tok := openSmall(t, "qwen")
	long := strings.Repeat("a b ", 5000)
	for _, c := range []struct {
		name, want string
		in         io.Reader
	}{
		{"invalid", "byte 3: the text is not valid UTF-8", strings.NewReader("abc\xffd")},
		{"invalid later", "byte 20001: the text is not valid UTF-8", strings.NewReader(long + "x\xe2\x28\xa1" + long)},
		{"broken off", "byte 20000: the text is not valid UTF-8", strings.NewReader(long + "\xe2\x82")},
		{"a reader's", "broken reader", io.MultiReader(strings.NewReader(long), iotest.ErrReader(errors.New("broken reader")))},
		{"no place", "cut the text: at most 1048576", io.LimitReader(readFunc(func(p []byte) (int, error) { return copy(p, strings.Repeat("a", len(p))), nil }), 1<<30)},
	} {
		var last error
		for _, err := range tok.Stream(c.in) {
			if last != nil {
				t.Errorf("%s: goes on after an error", c.name)
			}
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), c.want) || strings.Contains(last.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, last, c.want)
		}
	}
	const text = "a€\r\né"
	want, err := tok.EncodePlain(text)
	if got := collect(t, tok.Stream(iotest.OneByteReader(strings.NewReader(text)))); !slices.Equal(got, want) || err != nil {
		t.Errorf("%q byte by byte: %v, want %v, %v", text, got, want, err)
	}
}

// TestWindowsOfAStream cuts documents that arrive in pieces of every size.
func TestWindowsOfAStream(t *testing.T) {
	for _, c := range []Cut{
		{Length: 3, BOS: None, EOS: None}, {Length: 3, BOS: 90, EOS: 91}, {Length: 4, Context: 2, BOS: None, EOS: None}, {Length: 4, Context: 2, ContextAlways: true, BOS: None, EOS: None},
		{Length: 3, Stride: 1, BOS: None, EOS: None}, {Length: 5, Stride: 2, Context: 1, BOS: 90, EOS: 91, DropTail: true}, {Length: 4, DropTail: true, BOS: None, EOS: None},
	} {
		for n := range 15 {
			want := ""
			for from := 0; from < n; from += c.stride() { // the definition
				context, to := 0, min(from+c.Length-c.frame(), n)
				if from > 0 || c.ContextAlways {
					context = c.Context
				}
				if short := to-from < c.Length-c.frame(); short && (c.DropTail || from+context >= n) {
					break
				}
				want += fmt.Sprintln(c.window(upTo(n)[from:to], from, context))
				if to == n {
					break
				}
			}
			for size := 1; size <= n+1; size++ {
				got := ""
				var kept []Window
				for w, err := range c.Stream(func(yield func([]int, error) bool) {
					for piece := range slices.Chunk(upTo(n), size) {
						if !yield(slices.Clone(piece), nil) {
							return
						}
					}
				}) {
					reftest.OK(t, err)
					kept = append(kept, w)
				}
				for _, w := range kept {
					got += fmt.Sprintln(w)
				}
				if got != want {
					t.Fatalf("%+v: %d tokens in pieces of %d:\n%swant\n%s", c, n, size, got, want)
				}
			}
		}
	}
}
