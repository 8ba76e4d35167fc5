package score

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestDocumentsAreUnits checks that 95 % intervals of the mean over 12 documents, each of five
// equal windows, cover it in at least 90 % of 1,000 texts. With windows as units they cover 61 %.
func TestDocumentsAreUnits(t *testing.T) {
	t.Parallel()
	r := &texts.Reader{Cutting: texts.Cutting{As: "jsonl", Length: 4, Frame: "none", Tail: "keep"}, Ctx: t.Context(), Command: "score", Facts: model.Facts{Length: 4, Columns: 8, MaskID: 8},
		Check:   func(likelihood.Target) error { return nil },
		Streams: kit.Streams{In: strings.NewReader(strings.Repeat(fmt.Sprintf("{\"ids\":[%s1]}\n", strings.Repeat("1,", 19)), 12))}}
	read, err := r.Read()
	if err != nil || len(read) != 60 {
		t.Fatal(len(read), err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	covered := 0
	for range 1000 {
		var c chunk
		var nats float64
		for i, w := range read {
			if i%5 == 0 {
				nats = 8 + random.NormFloat64()
			}
			c.Windows = append(c.Windows, keptWindow{scoredWindow: scoredWindow{Document: w.Document, Tokens: len(w.Free), Nats: estimate.Exact(nats)}})
		}
		all := newResults(Record{Settings: settings{Confidence: estimate.DefaultConfidence}}, printing{"json", r.Clustered()}, nil)
		reftest.OK(t, all.take(c))
		if e := all.corpus.Corpus(0).NatsPerToken; e.Lo <= 2 && 2 <= e.Hi {
			covered++
		}
	}
	t.Logf("%d of 1000 covered", covered)
	if covered < 900 {
		t.Errorf("%d of 1000 intervals cover the mean", covered)
	}
}
