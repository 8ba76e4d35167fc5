package printable

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", `C:\dir`: `C:\dir`, "naïve 東京 👩‍👧 – a|b": "naïve 東京 👩‍👧 – a|b",
		"\x1b]0;x\x07": `\u001b]0;x\u0007`, "a\r\nb\tc": `a\r\nb\tc`, "a\u202eb\u2066": `a\u202eb\u2066`, "\xffa\xe2\x82": `\xffa\xe2\x82`,
		"\u009b2J\x7f": `\u009b2J\u007f`, "\u2028\ufeff\u200e": `\u2028\ufeff\u200e`, "\U000e0041": `\udb40\udc41`, "\ufffd": "\ufffd",
	} {
		if got := String(in); got != want {
			t.Errorf("String(%+q) = %q, want %q", in, got, want)
		}
	}
	if got := Text("a\n\tb\x1b\r\n"); got != "a\n\tb\\u001b\\r\n" {
		t.Errorf("Text: %q", got)
	}
	for in, want := range map[string]string{
		"a\n": `a\n`, "a|b": `a\|b`, `a\|b`: `a\\\|b`, `C:\a\`: `C:\a\\`, "`x` [y](z)": "\\`x\\` \\[y\\](z)", "<b>*a*~&amp;": `\<b\>\*a\*\~\&amp;`,
		"P_FHS": "P_FHS", "_a_b__": `\_a_b\_\_`, "": "", "plain 1.5 – a=b": "plain 1.5 – a=b",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %s, want %s", in, got, want)
		}
	}
}

// FuzzEscapes checks that the result is one line of UTF-8 without controls, and is not changed by
// another call.
func FuzzEscapes(f *testing.F) {
	f.Add("a\x1b\n\u202e\xff\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		got := String(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x07\u202e\u2028\u009b") || String(got) != got {
			t.Errorf("%q is written %q", s, got)
		}
		// In JSON strings the escapes mean the characters that they replace.
		text, _ := json.Marshal(s)
		var a, b string
		if json.Unmarshal(text, &a) != nil || json.Unmarshal([]byte(Text(string(text))), &b) != nil || a != b {
			t.Errorf("%q in JSON is %q, then %q", s, a, b)
		}
	})
}
