package match

import (
	"context"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mdmgen/internal/reftest"
)

// patterns use every operator, characters of every length and empty texts.
var patterns = []string{
	`yes|no|maybe`, `[0-9]{3}-[0-9]{4}`, `(ab)*a?`, `[a-c]+(x|yz)?`, `a{2,4}b{0,3}`, `(?i)hello`, `[^a]b*`, `.{3}`, `(?s).{2}`,
	`\d+(\.\d+)?`, `[äöü]+`, `[а-яё]{1,3}`, `\p{Greek}+`, `(a|ab)(c|bcd)(d*)`, `^a+$`, `(^a|b)c$`, `a*?b`, `x*`, `\x{1F600}|[\x{10000}-\x{10FFFF}]`,
	`[\x{7ff}-\x{801}]`, `[\x{d000}-\x{e001}]`, `(a|b)*abb`, `(?:a(?:b(?:c)?)?)?`, `"[^"\\]*"`, `k`, `(?i)k`, `\s?\w\S`, `[[:alpha:]]{2}`,
}

// texts returns random texts of characters that occur in patterns.
func texts(r *rand.Rand, pattern string) string {
	letters := []rune("abcdxyz0159-. \"\\hHeElLoOkK\u212Aäöüжя_\u07ff\u0800\u0801ωΩ\n😀\U00010FFFF\ue000yesnomb")
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	if r.IntN(8) == 0 {
		b.WriteString("\xff")
	}
	return b.String()
}

func accepts(d *dfa, text string) bool {
	s := d.start
	for i := range len(text) {
		s = d.next[s][text[i]]
	}
	return d.accept[s]
}

// TestRegexp checks automata against package regexp on random texts, and on walks through the
// automaton, which end in matches.
func TestRegexp(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, pattern := range patterns {
		d := reftest.Must(parse(t.Context(), pattern))(t)
		want := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
		for range 3000 {
			text := texts(r, pattern)
			if got := accepts(d, text); got != (want.MatchString(text) && utf8.ValidString(text)) {
				t.Fatalf("%s on %q: %v", pattern, text, got)
			}
		}
		for range 200 {
			var text []byte
			for s := d.start; len(text) < 300; {
				if d.accept[s] && r.IntN(4) == 0 {
					if !want.Match(text) {
						t.Fatalf("%s on %q: does not match", pattern, text)
					}
					break
				}
				b := byte(r.IntN(256))
				for range 256 {
					if d.next[s][b] != 0 {
						break
					}
					b++
				}
				if d.next[s][b] == 0 {
					break
				}
				s, text = d.next[s][b], append(text, b)
			}
		}
	}
}

// TestHostilePatterns checks that patterns that take too much are rejected quickly with one line.
func TestHostilePatterns(t *testing.T) {
	reftest.Long(t)
	letters := make([][]byte, 256)
	for b := range letters {
		letters[b] = []byte{byte(b)}
	}
	v := NewVocabulary(letters, -1)
	for _, c := range [][2]string{
		{`(((a{100}){100}){100}){100}`, "invalid repeat count"}, {`(a|b)*a(a|b){20}`, "more than 16384 states"}, {`(a{1,30}){1,30}b{1000}c{1000}[a-z]{1000}(x|y){1000}.{1000}.{1000}.{1000}`, "more than 16384 states"},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "nests too deeply"}, {`a(`, "missing closing )"}, {`\bword`, `\b`}, {`(?m)^a$`, "line anchors"},
		{`a\Ab`, "no text matches"}, {`[^\x00-\x{10FFFF}]`, "no text matches"}, {"a\nb{1001}", "invalid repeat count"}, {`(.*a.*b.*c.*d.*e.*f.*g.*){10}(\pL|\pN){500}`, "pattern"},
		{`(\pL*){1000}(\pN*){900}`, "pattern"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		_, err := v.Language(t.Context(), c[0])
		runtime.ReadMemStats(&after)
		reftest.FailsInLine(t, err, c[1], c[0][:min(len(c[0]), 40)])
		t.Logf("%.40q: %.2f s, %d MB: %v", c[0], time.Since(begin).Seconds(), (after.TotalAlloc-before.TotalAlloc)>>20, err)
	}
}

// TestCancelled checks that nothing is made after the context has ended.
func TestCancelled(t *testing.T) {
	t.Parallel()
	v := NewVocabulary([][]byte{[]byte("a")}, -1)
	d := reftest.Must(parse(t.Context(), "a+"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, parsed := parse(ctx, "a+")
	connected := new(Language).connect(ctx, v, d)
	for what, err := range map[string]error{"parse": parsed, "connect": connected} {
		if err != context.Canceled {
			t.Errorf("%s: %v", what, err)
		}
	}
}
