package catalog_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
)

// letterChain is a Markov chain of letters and blanks with its exact posterior: the row of a masked
// position is p(x_l | all visible tokens), which depends on the nearest visible token on each side.
// It is a network without error, as in arXiv 2602.19619.
type letterChain struct {
	start []float64
	// powers[k] is the k-step transition matrix, and logs[k] its logarithms.
	powers, logs [][][]float64
}

const letters = 27

// newLetterChain counts the pairs of letters in a text, with 0.1 added to each count.
func newLetterChain(text string, length int) *letterChain {
	one := make([][]float64, letters)
	for a := range one {
		one[a] = slices.Repeat([]float64{0.1}, letters)
	}
	before := 0
	for _, r := range strings.ToLower(text) {
		a := 0
		if r >= 'a' && r <= 'z' {
			a = int(r-'a') + 1
		} else if before == 0 {
			continue
		}
		one[before][a]++
		before = a
	}
	for _, row := range one {
		var sum float64
		for _, x := range row {
			sum += x
		}
		for b := range row {
			row[b] /= sum
		}
	}
	c := &letterChain{powers: [][][]float64{nil, one}}
	for k := 2; k <= max(length, 64); k++ {
		next := make([][]float64, letters)
		for a := range next {
			next[a] = make([]float64, letters)
			for m, x := range c.powers[k-1][a] {
				for b, y := range one[m] {
					next[a][b] += x * y
				}
			}
		}
		c.powers = append(c.powers, next)
	}
	c.start = c.powers[len(c.powers)-1][0] // the stationary law
	for _, power := range c.powers {
		log := make([][]float64, letters)
		for a, row := range power {
			for _, x := range row {
				log[a] = append(log[a], math.Log(x))
			}
		}
		c.logs = append(c.logs, log)
	}
	return c
}

func (c *letterChain) Spec() samplers.Spec {
	return samplers.Spec{Vocabulary: draw.Vocabulary{Columns: letters + 1, Mask: letters}}
}

func (c *letterChain) Logits(ctx context.Context, call samplers.Call) ([]float32, error) {
	row, err := c.Rows(ctx, call)
	return row.Float32(), err
}

// Rows returns the logarithms of the posteriors.
func (c *letterChain) Rows(_ context.Context, call samplers.Call) (draw.Row, error) {
	n, rest := call.Length(), call.Positions
	out := make([]float64, 0, len(rest)*(letters+1))
	for i, k := range call.Counts {
		canvas := call.IDs[i*n : (i+1)*n]
		for _, l := range rest[:k] {
			left, right := int(l)-1, int(l)+1
			for left >= 0 && canvas[left] == letters {
				left--
			}
			for right < n && canvas[right] == letters {
				right++
			}
			for a := range letters {
				x := c.logs[len(c.logs)-1][0][a]
				if left >= 0 {
					x = c.logs[int(l)-left][canvas[left]][a]
				}
				if right < n {
					x += c.logs[right-int(l)][a][canvas[right]]
				}
				out = append(out, x)
			}
			out = append(out, math.Inf(-1))
		}
		rest = rest[k:]
	}
	return draw.Double(out), nil
}

// texts draws from the chain itself.
func (c *letterChain) texts(n, length int, r *rand.Rand) (out [][]int) {
	for range n {
		var text []int
		row := c.start
		for range length {
			text = append(text, reftest.Pick(row, r.Float64()))
			row = c.powers[1][text[len(text)-1]]
		}
		out = append(out, text)
	}
	return out
}

// judge returns the mean over letters of the total variation between the transitions of texts and
// those of the chain, and the texts' −log p per token.
func (c *letterChain) judge(texts [][]int) (apart, loss float64) {
	counts := make([][letters]float64, letters)
	var tokens, pairs float64
	for _, text := range texts {
		loss -= math.Log(c.start[text[0]])
		for l, b := range text[1:] {
			counts[text[l]][b]++
			loss -= math.Log(c.powers[1][text[l]][b])
			pairs++
		}
		tokens += float64(len(text))
	}
	for a, row := range counts {
		var of float64
		for _, n := range row {
			of += n
		}
		for b, n := range row {
			if of > 0 {
				apart += math.Abs(n-of*c.powers[1][a][b]) / 2 / pairs
			}
		}
	}
	return apart, loss / tokens
}

// TestHiddenMarkov checks that with an exact network, samplers with few calls have wrong transitions,
// unless positions revealed together are far from each other. One position per call is right in an order
// that does not depend on drawn tokens, and wrong, with a lower loss than the truth, in one that does.
func TestHiddenMarkov(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const length, n = 64, 300
	c := newLetterChain(string(reftest.Must(os.ReadFile(filepath.Join("..", "..", "examples", "tale.txt")))(t)), length)
	floor, truth := c.judge(c.texts(n, length, rand.New(rand.NewPCG(1, 2))))
	t.Logf("| the chain itself | | %.3f | %.2f |", floor, truth)
	const (
		right = iota // as close as texts of the chain
		apart        // more surprising than these
		sharp        // less surprising than these, and far from them
	)
	for _, test := range []struct {
		name    string
		options catalog.Options
		want    int
	}{
		{"fhs", catalog.Options{}, right},
		{"parallel-fhs steps=8", catalog.Options{Sampler: "parallel-fhs", Steps: 8}, apart},
		{"parallel-fhs steps=16", catalog.Options{Sampler: "parallel-fhs", Steps: 16}, apart},
		{"parallel-fhs steps=32", catalog.Options{Sampler: "parallel-fhs", Steps: 32}, apart},
		{"tweedie grid=lambda steps=16", catalog.Options{Sampler: "tweedie", Steps: 16, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, apart},
		{"tweedie grid=lambda steps=64", catalog.Options{Sampler: "tweedie", Steps: 64, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, apart},
		{"euler steps=64", catalog.Options{Sampler: "euler", Steps: 64}, apart},
		{"remdm steps=64", catalog.Options{Sampler: "remdm", Steps: 64}, apart},
		{"spread steps=4", catalog.Options{Sampler: "spread", Steps: 4}, right},
		{"entropy-bounded", catalog.Options{Sampler: "entropy-bounded"}, right},
		{"entropy-bounded gamma=4", catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: new(4.0)}}, apart},
		{"confidence score=margin steps=64", catalog.Options{Sampler: "confidence", Steps: 64, RankOptions: catalog.RankOptions{Score: rank.ByMargin}}, right},
		{"confidence steps=8", catalog.Options{Sampler: "confidence", Steps: 8}, sharp},
		{"confidence steps=64", catalog.Options{Sampler: "confidence", Steps: 64}, sharp},
		{"threshold threshold=0.2", catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: 0.2}}, sharp},
		{"klass threshold=0.2 kl-threshold=0.1", catalog.Options{Sampler: "klass", Steps: 64, RankOptions: catalog.RankOptions{Threshold: 0.2, KLThreshold: 0.1}}, sharp},
		{"wino threshold=0.2 threshold-back=0.1", catalog.Options{Sampler: "wino", RankOptions: catalog.RankOptions{Threshold: 0.2}, RemaskOptions: catalog.RemaskOptions{ThresholdBack: 0.1}, LayerOptions: catalog.LayerOptions{BlockLength: 16}}, sharp},
	} {
		s := lawstest.NewFor(t, test.options, c.Spec())
		n := n
		if test.want == sharp && !testing.Verbose() {
			n = 40 // a tenth of a nat or more from the limit
		}
		var texts [][]int
		calls, rows := 0, 0
		reftest.Must(samplers.Sample(t.Context(), c, samplers.Copies(slices.Repeat([]int{letters}, length), 0, n), samplers.Config{Method: s, Seed: 5, Batch: 64}, func(r samplers.Result) error {
			texts = append(texts, r.IDs)
			calls, rows = calls+r.Calls+r.FinishCalls, rows+r.Rows
			return nil
		}))(t)
		tv, loss := c.judge(texts)
		t.Logf("| `%s` | %.1f | %.1f | %.3f | %.2f |", test.name, float64(calls)/float64(n), float64(rows)/float64(n), tv, loss)
		got := right
		switch {
		case loss < truth-0.05 && tv > 2*floor:
			got = sharp
		case loss > truth+0.015:
			got = apart
		}
		if got != test.want || got == right && (tv > 1.15*floor || loss < truth-0.015) {
			t.Errorf("%s: transitions are %.4f apart, of the chain's own texts %.4f; loss %.3f, of the chain %.3f", test.name, tv, floor, loss, truth)
		}
	}
}
