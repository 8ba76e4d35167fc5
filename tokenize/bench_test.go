package tokenize

import (
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// benchmarkEncode reports MB/s (10⁶ bytes of text) and tokens per second.
func benchmarkEncode(b *testing.B, tok *Tokenizer, text string) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		ids := reftest.Must(tok.EncodePlain(text))(b)
		n += len(ids)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkEncode reads the strings of the embedded tokenizer's vectors.
func BenchmarkEncode(b *testing.B) {
	tok := reftest.Must(Open(b.Context(), reftest.Builtin(b)))(b)
	var v struct{ Strings []struct{ Text string } }
	readJSON(b, reftest.Data(b, "tokens.json"), &v)
	var text strings.Builder
	for text.Len() < 200_000 {
		for _, s := range v.Strings {
			text.WriteString(s.Text)
		}
	}
	benchmarkEncode(b, tok, text.String())
}
