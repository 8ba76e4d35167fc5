package tokenize

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"mdmgen/internal/reftest"
)

// checkEncoding checks properties of every text: both encodings return known ids, the plain one
// none that is barred, and a byte-level tokenizer decodes to the same text, up to its normalizer
// and prefix.
func checkEncoding(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	for _, encode := range []func(string) ([]int, error){tok.Encode, tok.EncodePlain} {
		ids := reftest.Must(encode(text))(t, tok.name, text)
		reftest.Must(tok.Decode(ids))(t, tok.name, text, "gives ids that are not its own:")
	}
	ids, _ := tok.EncodePlain(text)
	barred, level := tok.plain.model.(bpe)
	if !level {
		unk, _ := tok.ID("[UNK]")
		for _, id := range ids {
			if tok.Special(id) && id != unk {
				t.Fatalf("%s: plain %q gives %d, a special token", tok.name, text, id)
			}
		}
		return
	}
	for _, id := range ids {
		if barred.barred[id] {
			t.Fatalf("%s: plain %q gives %d, an added token", tok.name, text, id)
		}
	}
	if slices.Contains(ids, barred.unknown) {
		return // bytes that the vocabulary lacks are lost
	}
	want := lossyUTF8(text)
	if n := tok.plain.pre.normalize; n != nil {
		want = n(want)
	}
	if tok.plain.pre.prefix && want != "" && want[0] != ' ' {
		want = " " + want
	}
	if got, _ := tok.Decode(ids); got != want {
		t.Fatalf("%s: %q comes back as %q; want %q", tok.name, text, got, want)
	}
}

// openAll opens the small tokenizers and the embedded one.
func openAll(t testing.TB) []*Tokenizer {
	t.Helper()
	all := []*Tokenizer{reftest.Must(Open(t.Context(), reftest.Builtin(t)))(t)}
	for _, name := range small {
		all = append(all, openSmall(t, name))
	}
	return all
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{
		"", "a\n\nb", "  x <r>   y", "[MASK] a [CLS]", "aaaaa-----———", "résumé cafe\u0301", "'ſab it's", "\u00a0\u2003", "東京 䶮㐀豈", "a\xffb\xe2\x82",
		"<|endoftext|><é><｜m｜>", "\x1a\x8d\x00 \x1d", strings.Repeat("\u0301", 40), "\U00011938\u0898",
	} {
		f.Add(s)
	}
	all := openAll(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip("long texts are slow under the fuzzer's instrumentation; TestVectors has them")
		}
		for _, tok := range all {
			checkEncoding(t, tok, text)
		}
	})
}

// TestPlainBars checks that a word of the vocabulary that is also an added token
// is spelled out in plain text.
func TestPlainBars(t *testing.T) {
	token := func(id int, content string) []any {
		return []any{map[string]any{"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}}
	}
	for _, c := range []struct {
		name, file, token, text string
	}{
		{"by merges", "gpt2", "the", "the thethe"},
		{"as a whole", "llama3", "Ġmask", " mask masks"},
		{"of WordPiece", "wordpiece", "dog", "the dog dogs"},
	} {
		id, ok := openSmall(t, c.file).ID(c.token)
		if !ok {
			t.Fatalf("%s: %q is not in the vocabulary of %s", c.name, c.token, c.file)
		}
		tok := reftest.Must(Parse(c.name, edited(t, c.file, token(id, c.token), "added_tokens")))(t)
		full, err := openSmall(t, c.file).EncodePlain(c.text)
		if err != nil || !slices.Contains(full, id) {
			t.Errorf("%s: %q is %v, %v without the added token; want %d in it", c.name, c.text, full, err, id)
		}
		plain, err := tok.EncodePlain(c.text)
		if err != nil || slices.Contains(plain, id) {
			t.Errorf("%s: plain %q is %v, %v; want no %d", c.name, c.text, plain, err, id)
		}
		if back, _ := tok.Decode(plain); c.file != "wordpiece" && back != c.text {
			t.Errorf("%s: %q comes back as %q", c.name, c.text, back)
		}
	}

	id, _ := openSmall(t, "gpt2").ID("a")
	tok, err := Parse("x.json", edited(t, "gpt2", token(id, "a"), "added_tokens"))
	reftest.OK(t, err)
	_, err = tok.EncodePlain("bab")
	checkLine(t, "a byte", err, `byte 0x61 has no token but the added token "a"`)
	if ids, err := tok.Encode("bab"); err != nil || !slices.Contains(ids, id) {
		t.Errorf("Encode with the added token a = %v, %v; want %d in it", ids, err, id)
	}
}

// An added token that the rstrip of the one before has swallowed completely disappears if it has
// lstrip, and otherwise does not: ids of the tokenizers library 0.23.3.
func TestSwallowed(t *testing.T) {
	for _, c := range []struct {
		lstrip bool
		want   []int
	}{
		{true, []int{64, 376, 65}},
		{false, []int{64, 376, 376, 376, 65}},
	} {
		token := map[string]any{"id": 376, "content": "\n", "single_word": false, "lstrip": c.lstrip, "rstrip": true, "normalized": false, "special": false}
		tok := reftest.Must(Parse("x.json", edited(t, "gpt2", []any{token}, "added_tokens")))(t)
		ids, err := tok.Encode("a\n\n \nb")
		if err != nil || !slices.Equal(ids, c.want) {
			t.Errorf("lstrip %v: ids %v, %v; want %v", c.lstrip, ids, err, c.want)
		}
	}
}

// A text with a byte that has no token is rejected by name, unless there is an unknown token.
func TestLackingBytes(t *testing.T) {
	tok := reftest.Must(Parse("x.json", edited(t, "lacking", nil, "model", "unk_token")))(t)
	reftest.Must(tok.EncodePlain("the fox"))(t)
	for _, encode := range []func(string) ([]int, error){tok.Encode, tok.EncodePlain} {
		_, err := encode("a café")
		checkLine(t, "a byte", err, `byte 0xc3 of " café" has no token`)
	}
}

// TestMergesAgree compares the two merging algorithms, on words of every length that one of them
// handles.
func TestMergesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := openSmall(t, "gpt2").matched.model.(bpe)
	const letters = "aaaa--- tehTi\xe2\x80\x94"
	for range 3000 {
		word := make([]int32, 1+rng.IntN(scanLimit))
		for i := range word {
			word[i] = int32(m.bytes[letters[rng.IntN(len(letters))]])
		}
		long, short := m.mergeLong(slices.Clone(word)), m.mergeShort(slices.Clone(word))
		if !slices.Equal(long, short) {
			t.Fatalf("%v: heap %v, search %v", word, long, short)
		}
	}
}

// TestScannersCover checks that pre-tokens join to the text.
func TestScannersCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []rune("ab'sſLl19½é \u00a0\t\n\r!-東\u0301\U00010d40")
	for expr, scan := range scanners {
		for range 2000 {
			var b strings.Builder
			for range rng.IntN(20) {
				b.WriteRune(parts[rng.IntN(len(parts))])
			}
			for s := b.String(); s != ""; {
				n := scan(s)
				if n < 1 || n > len(s) || !utf8.ValidString(s[:n]) {
					t.Fatalf("%s: %d bytes of %q", expr, n, s)
				}
				s = s[n:]
			}
		}
	}
}

// TestConcurrent shares tokenizers between goroutines; run it with -race.
func TestConcurrent(t *testing.T) {
	all := openAll(t)
	texts := []string{"Once upon a time [MASK]", "  résumé\n\n", strings.Repeat("-", 300)}
	var want [][]int
	for _, tok := range all {
		for _, s := range texts {
			want = append(want, reftest.Must(tok.Encode(s))(t))
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			i := 0
			for _, tok := range all {
				for _, s := range texts {
					ids, err := tok.Encode(s)
					if err != nil || !slices.Equal(ids, want[i]) {
						t.Errorf("%q: %v, %v; want %v", s, ids, err, want[i])
					}
					if _, err := tok.Decode(ids); err != nil {
						t.Error(err)
					}
					i++
				}
			}
		})
	}
	wg.Wait()
}
