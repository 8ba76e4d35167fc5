package interaction

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// Audited is what a planned sampler loses against its own order one position at a time, in nats a
// token: Σ_j KL(μ^j(·|x) ‖ μ^j(·|x, earlier of the group)) over the groups of its samples, whose
// mean bounds KL(P̃ ‖ P), and the same of TV.
type Audited struct {
	KL, TV estimate.Estimate
	// Worst is the greatest KL of a token, Calls the mean number of groups a sequence.
	Worst, Calls float64
}

// Audit samples sequences by the plans of a sampler, and reveals the tokens of every group one by
// one beside: a row a token more. Units of the errors are sequences.
func Audit(ctx context.Context, net samplers.Network, canvas []int, s *catalog.Sampler, cfg Config) (Audited, error) {
	cfg.Sequences = cmp.Or(cfg.Sequences, 8)
	a := &auditor{net: net, spec: net.Spec()}
	var err error
	if a.law, err = draw.NewCategorical(a.spec.Vocabulary, s.Settings().Draw); err != nil {
		return Audited{}, err
	}
	if law, ok := s.Law(); !ok || law.LookBack {
		return Audited{}, fault.Errorf("interaction", "%s: its tokens are not drawn from the rows of one call at planned positions", s)
	}
	var kl, tv, tokens []float64
	var out Audited
	for i := range cfg.Sequences {
		a.kl, a.tv, a.tokens, a.ids = 0, 0, 0, a.ids[:0]
		var free []int
		for l, id := range canvas {
			if a.ids = append(a.ids, int64(id)); id == a.spec.Mask {
				free = append(free, l)
			}
		}
		a.numbers = draw.NewNumbers(cfg.Seed, uint64(i))
		var p plan.Plan
		if err := s.Plan(&p, a.numbers, free); err != nil {
			return out, err
		}
		blocks := p.Blocks
		if len(p.Left) > 0 && s.Denoises() {
			blocks = append(slices.Clone(blocks), plan.Block{Positions: p.Left, Theta: p.LeftTheta})
		}
		for _, b := range blocks {
			if err := a.group(ctx, b); err != nil {
				return out, err
			}
			if cfg.OnCall != nil {
				cfg.OnCall()
			}
		}
		out.Calls += float64(len(blocks)) / float64(cfg.Sequences)
		out.Worst = max(out.Worst, a.worst)
		kl, tv, tokens = append(kl, a.kl), append(tv, a.tv), append(tokens, float64(a.tokens))
	}
	out.KL, out.TV = estimate.Ratio(kl, tokens, nil, estimate.DefaultConfidence), estimate.Ratio(tv, tokens, nil, estimate.DefaultConfidence)
	return out, nil
}

// auditor fills one sequence after the other.
type auditor struct {
	net     samplers.Network
	spec    samplers.Spec
	law     *draw.Categorical
	numbers *draw.Numbers
	ids     []int64

	kl, tv, worst float64
	tokens        int
}

// group reveals the positions of a block and compares its rows with those of one by one.
func (a *auditor) group(ctx context.Context, b plan.Block) error {
	together, err := a.rows(ctx, []samplers.AskRow{{Positions: b.Positions, Theta: b.Theta}}, len(b.Positions))
	if err != nil {
		return err
	}
	var asks []samplers.AskRow
	for i, l := range b.Positions {
		token, _ := a.law.Pick(together[i], a.numbers.Token(l))
		a.ids[l] = int64(token)
		if i+1 < len(b.Positions) {
			asks = append(asks, samplers.AskRow{Canvas: slices.Clone(a.ids), Positions: b.Positions[i+1 : i+2], Theta: b.Theta}) // the time is not what is audited
		}
	}
	a.tokens += len(b.Positions)
	const most = 16 // canvases a call
	for i := 0; i < len(asks); i += most {
		n := min(most, len(asks)-i)
		apart, err := a.rows(ctx, asks[i:i+n], n)
		if err != nil {
			return err
		}
		for j, p := range apart {
			kl, tv := distance(together[i+j+1], p)
			a.kl, a.tv, a.worst = a.kl+kl, a.tv+tv, max(a.worst, kl)
		}
	}
	return nil
}

// rows asks for n rows of probabilities.
func (a *auditor) rows(ctx context.Context, asks []samplers.AskRow, n int) ([][]float64, error) {
	var call samplers.Call
	for _, r := range asks {
		r.Theta = min(r.Theta, schedule.ThetaOf(a.spec.MostMasked()))
		call.Add(&a.spec, a.ids, r)
	}
	logits, err := samplers.RowsOf(ctx, a.net, call)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, a.spec.Columns)
		if err := a.law.Probabilities(out[i], logits.Slice(i*a.spec.Columns, (i+1)*a.spec.Columns)); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return out, nil
}

// distance is KL(p‖q) in nats and TV.
func distance(p, q []float64) (kl, tv float64) {
	for i, x := range p {
		if x > 0 {
			kl += x * math.Log(x/q[i])
		}
		tv += math.Abs(x-q[i]) / 2
	}
	return max(kl, 0), tv
}
