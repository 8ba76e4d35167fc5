package likelihood_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
)

// TestSummarize checks that the corpus's numbers are ratios of sums, per token, byte and word; that
// a count unknown for one window is unknown for the corpus; and that bounds are named as such.
func TestSummarize(t *testing.T) {
	windows := []likelihood.Scored{
		{Nats: estimate.Exact(6), Tokens: 3, Bytes: 12, Words: 2},
		{Nats: estimate.Exact(2), Tokens: 1, Bytes: 4, Words: 0},
	}
	c := likelihood.Summarize(windows, false, 0.9)
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-12*want }
	if !near(c.NatsPerToken.Mean, 2) || !near(c.PerplexityBound.Mean, math.Exp(2)) || !near(c.BitsPerByte.Mean, 0.5/math.Ln2) ||
		!near(c.BytePerplexityBound.Mean, math.Exp(0.5)) || !near(c.WordPerplexityBound.Mean, math.Exp(4)) || *c.Words != 2 || *c.Bytes != 16 {
		t.Errorf("%+v", c)
	}
	for _, named := range []bool{false, true} {
		c.NotBound = !named
		raw, err := json.Marshal(c)
		for _, name := range []string{"perplexity", "word_perplexity", "byte_perplexity"} {
			if err != nil || strings.Contains(string(raw), `"`+name+`":`) == named || strings.Contains(string(raw), `"`+name+`_bound":`) != named {
				t.Errorf("bound %v: %s in %s, %v", named, name, raw, err)
			}
		}
	}
	windows[1].Words, windows[0].Bytes = -1, -1
	if c := likelihood.Summarize(windows, false, 0.9); c.Words != nil || c.WordPerplexityBound != nil || c.Bytes != nil || c.BitsPerByte != nil || c.BytePerplexityBound != nil || !near(c.NatsPerToken.Mean, 2) {
		t.Errorf("%+v", c)
	}
}
