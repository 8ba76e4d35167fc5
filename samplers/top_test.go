package samplers_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestTop checks that the top tokens in steps are the likeliest of the row that the token was drawn
// from, that the entropy is that of the rows, and that neither changes a sample, whether the
// network draws or not.
func TestTop(t *testing.T) {
	t.Parallel()
	const top = 3
	for _, c := range []struct {
		o catalog.Options
		// ahead reports whether a call's tokens are drawn one after another.
		ahead bool
	}{
		{catalog.Options{Sampler: "fhs"}, false}, {catalog.Options{Sampler: "parallel-fhs", Steps: 3}, false}, {catalog.Options{Sampler: "fhs", Lookahead: 3}, true},
		{catalog.Options{Sampler: "confidence", Steps: 3}, false}, {catalog.Options{Sampler: "p2", Steps: 3}, false}, {catalog.Options{Sampler: "remdm", Steps: 9}, false},
	} {
		rows := newAnyNet()
		for _, net := range []samplers.Network{rows, &drawingNet{anyNet: newAnyNet(), t: t}} {
			canvas := slices.Repeat([]int{rows.Spec().Mask}, 7)
			sampler := lawstest.NewFor(t, c.o, net.Spec())
			cfg := samplers.Config{Method: sampler, Seed: 7}
			var plain, named []int
			reftest.Must(samplers.Sample(t.Context(), net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(r samplers.Result) error { plain = r.IDs; return nil }))(t)
			now, tokens := slices.Clone(canvas), 0
			cfg.Top = top
			cfg.OnStep = func(s samplers.Step) {
				before := slices.Clone(now)
				for i, l := range s.Positions {
					want, entropy := likeliest(t, rows, before, l)
					if len(s.Top[i]) != top {
						t.Fatalf("%v: %d tokens beside that of position %d, want %d", sampler, len(s.Top[i]), l, top)
					}
					for k, x := range s.Top[i] {
						if x.Token != want[k].Token || math.Abs(x.LogP-want[k].LogP) > 1e-12 {
							t.Fatalf("%v: position %d: %v, want %v", sampler, l, s.Top[i], want[:top])
						}
					}
					if c.o.Sampler == "fhs" && !c.ahead && math.Abs(s.Entropy-entropy) > 1e-12 {
						t.Errorf("%v: entropy %v, want %v", sampler, s.Entropy, entropy)
					}
					if now[l] = s.Tokens[i]; c.ahead {
						before[l] = s.Tokens[i]
					}
					tokens++
				}
				for _, l := range s.Masked {
					now[l] = rows.Spec().Mask
				}
			}
			reftest.Must(samplers.Sample(t.Context(), net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(r samplers.Result) error { named = r.IDs; return nil }))(t)
			if !slices.Equal(plain, named) || tokens < len(canvas) {
				t.Errorf("%v: %v, without %v; %d tokens", sampler, named, plain, tokens)
			}
		}
	}
}

// likeliest returns all tokens at a position of a canvas, the likeliest first, and their entropy.
func likeliest(t *testing.T, net samplers.Network, canvas []int, l int) (out []draw.Scored, entropy float64) {
	spec := net.Spec()
	var call samplers.Call
	ids := make([]int64, len(canvas))
	for i, id := range canvas {
		ids[i] = int64(id)
	}
	call.Add(&spec, ids, samplers.AskRow{Positions: []int{l}})
	row := reftest.Must(samplers.RowsOf(context.Background(), net, call))(t)
	law := reftest.Must(draw.NewCategorical(spec.Vocabulary, draw.Settings{}))(t)
	p := make([]float64, spec.Columns)
	reftest.OK(t, law.Probabilities(p, row))
	for a, q := range p {
		if q > 0 {
			out = append(out, draw.Scored{Token: a, LogP: math.Log(q)})
			entropy -= q * math.Log(q)
		}
	}
	slices.SortStableFunc(out, func(a, b draw.Scored) int { return cmp.Compare(b.LogP, a.LogP) })
	return out, entropy
}
