package rank_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/rank"
)

// tiedWorld returns a world of three positions and tokens whose rows are permutations of a few, so
// that many scores are equal.
func tiedWorld(t *testing.T, r *rand.Rand) *world.World {
	t.Helper()
	const d, v = 3, 3
	kinds := [][]float64{{0.5, 0.3, 0.2}, {0.5, 0.25, 0.25}, {0.4, 0.3, 0.3}, {0.4, 0.4, 0.2}, {0.3, 0.6, 0.1}}
	var table [][]any
	for s := range 64 {
		var rows []any
		for l := range d {
			if s/[]int{16, 4, 1}[l]%4 != v {
				rows = append(rows, nil)
				continue
			}
			row := slices.Clone(kinds[r.IntN(len(kinds))])
			r.Shuffle(v, func(i, j int) { row[i], row[j] = row[j], row[i] })
			rows = append(rows, row)
		}
		table = append(table, rows)
	}
	data := reftest.Must(json.Marshal(map[string]any{"schema": world.Schema, "d": d, "V": v, "mu_kind": "time_free", "mu0": table, "q0": slices.Repeat([]float64{1. / 27}, 27)}))(t)
	return reftest.Must(world.Parse(data))(t)
}

// byRule returns the law of the decoder confidence, as documented: a token is drawn at every mask, and
// those with the greatest scores are revealed, the lowest positions first among equals.
func byRule(w *laws.World, score rank.RankBy, quotas []int) []float64 {
	return lawstest.Outcomes(w.States, func(pick func([]float64) int) int {
		state := w.AllMask()
		for _, quota := range quotas {
			var free []int
			drawn, scores := make([]int, w.D), make([]float64, w.D)
			w.EachMasked(state, func(l int) {
				row := w.Row(w.Rows(0), state, l)
				sorted := slices.Sorted(slices.Values(row))
				free, drawn[l] = append(free, l), pick(row)
				switch score {
				case rank.ByMargin:
					scores[l] = sorted[2] - sorted[1]
				case rank.ByEntropy:
					scores[l] = -laws.Entropy(sorted)
				default:
					scores[l] = row[drawn[l]]
				}
			})
			slices.SortStableFunc(free, func(i, j int) int { return cmp.Compare(math.Round(scores[j]*1e9), math.Round(scores[i]*1e9)) })
			for _, l := range free[:quota] {
				state = w.Reveal(state, l, drawn[l])
			}
		}
		return state
	})
}

// TestTies checks that on worlds whose rows have equal scores the outcomes, the replayed probabilities
// and the samples of a decoder follow the documented rule, the lowest position first among equals.
func TestTies(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	worst, most := 0.0, 0.0
	for i := range 10 {
		w := tiedWorld(t, r)
		canvas := lawstest.AllMask(w)
		for _, score := range []rank.RankBy{rank.ByConfidence, rank.ByMaskGIT, rank.ByMargin, rank.ByEntropy} {
			s := lawstest.NewFor(t, catalog.Options{Sampler: "confidence", Steps: 2, RankOptions: catalog.RankOptions{Score: score}}, w.Spec())
			want, got := byRule(reftest.Must(laws.New(w))(t), score, []int{2, 1}), make([]float64, 64)
			outcomes, _, err := s.Outcomes(t.Context(), w, canvas, 1e6)
			reftest.OK(t, err)
			var texts []rank.Text
			for _, x := range outcomes {
				got[w.State(x.IDs)] = x.P
				texts = append(texts, rank.Text{Canvas: canvas, IDs: x.IDs})
			}
			replayed := reftest.Must(s.Replay(t.Context(), w, texts, 9))(t)
			var tv, apart float64
			for state := range want {
				tv += math.Abs(got[state]-want[state]) / 2
			}
			for j, x := range replayed {
				apart += math.Abs(math.Exp(x.LogP)-want[w.State(texts[j].IDs)]) / 2
			}
			worst, most = max(worst, tv), max(most, apart)
			lawstest.Fits(t, lawstest.Sample(t, w, s, uint64(i), 4000).States, want, 1e-5, "world", i, score)
		}
	}
	if text := fmt.Sprintf("outcomes at most at TV %.2g, replayed probabilities at %.2g of the rule", worst, most); max(worst, most) > 1e-12 {
		t.Error(text)
	} else {
		t.Log(text)
	}
}
