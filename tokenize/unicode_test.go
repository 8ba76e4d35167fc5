package tokenize

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"mdmgen/internal/reftest"
)

// ranges reads "41-5a 61 …".
func ranges(t *testing.T, s string) map[rune]bool {
	t.Helper()
	set := make(map[rune]bool)
	for _, part := range strings.Fields(s) {
		lo, hi, ok := strings.Cut(part, "-")
		if !ok {
			hi = lo
		}
		a, errA := strconv.ParseInt(lo, 16, 32)
		b, errB := strconv.ParseInt(hi, 16, 32)
		if errA != nil || errB != nil {
			t.Fatalf("range %q", part)
		}
		for r := rune(a); r <= rune(b); r++ {
			set[r] = true
		}
	}
	return set
}

// TestClasses compares every code point with the reference.
func TestClasses(t *testing.T) {
	t.Parallel()
	var want map[string]string
	readJSON(t, reftest.Data(t, "tokenizers", "classes.json"), &want)
	strip := bertNormalizer{stripAccents: true}
	for name, class := range map[string]func(rune) bool{
		"letter":       isLetter,
		"number":       isNumber,
		"space":        unicode.IsSpace,
		"bert_punct":   isBertPunct,
		"bert_removed": isBertControl,
		"bert_han":     isHan,
		"bert_marks":   func(r rune) bool { return strip.normalize(string(r)) == "" },
	} {
		set := ranges(t, want[name])
		if len(set) == 0 {
			t.Errorf("no class %s in the reference", name)
		}
		wrong := 0
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if utf8.ValidRune(r) && class(r) != set[r] {
				if wrong++; wrong <= 3 {
					t.Errorf("%s(%U) = %v; want %v", name, r, class(r), set[r])
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d code points are wrong", name, wrong)
		}
	}
	hash := sha256.New()
	lower := bertNormalizer{lowercase: true}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) {
			fmt.Fprint(hash, lower.normalize(string(r)))
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want["lower_sha256"] {
		t.Errorf("lower case mappings have digest %s; want %s", got, want["lower_sha256"])
	}
}

// TestForms checks that x/text and this package's own algorithm agree where they must.
func TestForms(t *testing.T) {
	for _, s := range []string{
		"", "café", "cafe\u0301", "s\u0323\u0307", "s\u0307\u0323", "\u0344x", "\u1100\u1161\u11a8", "각\u11a8", "\u1e69", "\u0f73\u0f71",
		"\u0b47\u0b3e", "\u09c7\u09be", "\u0958", "\u212b", "\u0301a\u0301",
	} {
		if got, want := string(compose(decompose(s))), nfc(s); got != want {
			t.Errorf("compose(decompose(%+q)) = %+q; want %+q", s, got, want)
		}
	}
	// x/text alone would insert U+034F here.
	if got, want := nfc("e"+strings.Repeat("\u0301", 40)), "é"+strings.Repeat("\u0301", 39); got != want {
		t.Errorf("forty accents: %+q; want %+q", got, want)
	}
	if got, want := nfd("é"+strings.Repeat("\u0316", 40)), "e"+strings.Repeat("\u0316", 40)+"\u0301"; got != want {
		t.Errorf("forty graves: %+q; want %+q", got, want)
	}
}

// TestLossyUTF8 uses the examples of the Unicode Standard, tables 3-8 to 3-11.
func TestLossyUTF8(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"valid", "aé€😀", "aé€😀"},
		{"valid mark", "\ufffd", "\ufffd"},
		{"overlong", "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", strings.Repeat("\ufffd", 8) + "A"},
		{"surrogates", "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", strings.Repeat("\ufffd", 8) + "A"},
		{"beyond", "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", strings.Repeat("\ufffd", 5) + "A\ufffd\ufffdB"},
		{"truncated", "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", strings.Repeat("\ufffd", 4) + "A"},
		{"at the end", "\xf0\x9f\x98", "\ufffd"},
	} {
		if got := lossyUTF8(c.in); got != c.want {
			t.Errorf("%s: lossyUTF8(%q) = %q; want %q", c.name, c.in, got, c.want)
		}
	}
}
