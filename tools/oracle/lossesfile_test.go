package oracle

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers/schedule"
)

// lossInputs holds the losses of a public implementation for fixed inputs, with an entry of each
// list per sequence. The lists that the file has determine which losses are compared; the others
// are nil.
type lossInputs struct {
	// X0 are sequences of one length, T the times of the log-linear noise. Mask is 1 if a position
	// of x0 is MASK; KMask is the same for k_DCE.
	X0, Mask  [][]int
	KMask     [][]int `json:"k_mask"`
	Order     []int
	T, Lambda []float64
	// Sigma is −log α, DSigma its derivative in t; the lists with 64 are the float64 values, if the
	// file has them.
	Sigma, DSigma []float64
	Sigma64       []float64 `json:"sigma_float64"`
	DSigma64      []float64 `json:"dsigma_float64"`
	// Losses are MDLM's and SEDD's, ByName RADD's; the lists with 64 are in float64.
	Losses    []float64            `json:"loss"`
	Losses64  []float64            `json:"loss_float64"`
	ByName    map[string][]float64 `json:"losses"`
	ByName64  map[string][]float64 `json:"losses_float64"`
	Entropy   []float64            `json:"score_entropy"`
	Entropy64 []float64            `json:"score_entropy_float64"`
	// Floor is the largest |float32 − float64|/(1+|float64|) of the file's losses and score
	// entropies, according to the file.
	Floor float64 `json:"floor_relative"`
}

// losses recomputes the losses of a public implementation of MDLM, RADD or SEDD from the model's
// rows, at the file's inputs, and compares them with its values: those in float32 within the
// difference that the file states. Differences are relative. It also recomputes what the file
// derives from its own inputs: canvases, noise and counts.
func losses(m *matcher, f *file) {
	want, err := lossValues(m.t.Context(), f.net, inputs[lossInputs](m.t, f), m.limit)
	if err != nil {
		m.fault("%v", err)
		return
	}
	maps.DeleteFunc(want, func(name string, _ any) bool { return f.doc[name] == nil })
	if want["loss_float64"] == nil && want["score_entropy_float64"] == nil && want["losses_float64"] == nil {
		m.fault("holds none of losses_float64, score_entropy_float64 and loss_float64")
	}
	m.match("", f.doc, want)
}

// lossValues returns all values that follow from the inputs, of which a file has only some.
func lossValues(ctx context.Context, net model.Model, in lossInputs, limit float64) (object, error) {
	e, err := likelihood.New(net, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	facts := net.Facts()
	want := object{
		"mask_token_id": facts.MaskID, "vocab_size": max(facts.Columns, facts.MaskID+1),
		"time_conditioning": facts.TimeConditioned, "scale_by_sigma": facts.ScaleBySigma,
		"x0": given{}, "mask": given{}, "k_mask": given{}, "t": given{}, "lambda": given{}, "order": given{},
		"xt": canvases(in.X0, in.Mask, facts.MaskID), "k_xt": canvases(in.X0, in.KMask, facts.MaskID),
		"floor_relative": within{floor(in), doubleNoise},
	}
	var counts []int
	for _, row := range in.KMask {
		counts = append(counts, count(row))
	}
	want["k"] = counts
	var sigma, dsigma []float64
	for _, t := range in.T {
		theta := schedule.LogLinear.Theta(t)
		sigma, dsigma = append(sigma, theta), append(dsigma, -schedule.LogLinear.AlphaPrime(t)/math.Exp(-theta))
	}
	want["sigma"], want["dsigma"] = within{sigma, singleNoise}, within{dsigma, singleNoise}
	want["sigma_float64"], want["dsigma_float64"] = within{sigma, doubleNoise}, within{dsigma, doubleNoise}
	if in.Sigma64 != nil {
		// RADD's float32 noise has no float64 form in the file; it is accurate enough.
		in.Sigma, in.DSigma = in.Sigma64, in.DSigma64
	}

	r := lossRun{ctx: ctx, e: e, in: in}
	single := limit + 2*in.Floor
	switch {
	case in.ByName64 != nil:
		double, float := object{}, object{}
		for name := range inOrder(in.ByName64) {
			got := r.radd(name)
			double[name], float[name] = got, within{got, single}
		}
		want["losses_float64"], want["losses"] = double, float
	case in.Entropy64 != nil:
		entropy, tokens := r.rows(in.Mask, func(i int, logMu, logMass float64) float64 {
			return likelihood.ScoreEntropyTerm(logMu, logMass, in.Sigma[i])
		})
		loss := make([]float64, len(entropy))
		for i, v := range entropy {
			loss[i] = v * in.DSigma[i]
		}
		want["score_entropy_float64"], want["score_entropy"], want["score_entropy_per_token"] = entropy, within{entropy, single}, within{tokens, single}
		want["loss_float64"], want["loss"] = loss, within{loss, single}
	default:
		loss, tokens := r.rows(in.Mask, func(i int, logMu, _ float64) float64 {
			return -logMu * timeWeight(in.Sigma[i], in.DSigma[i])
		})
		want["loss_float64"], want["loss"], want["loss_per_token"] = loss, within{loss, single}, within{tokens, single}
	}
	return want, r.err
}

// count returns the number of masked positions.
func count(mask []int) (n int) {
	for _, m := range mask {
		n += m
	}
	return n
}

// canvases returns x0 with MASK at the positions where mask is 1.
func canvases(x0, mask [][]int, id int) [][]int {
	var out [][]int
	for i, row := range mask {
		out = append(out, slices.Clone(x0[i]))
		for p, m := range row {
			if m == 1 {
				out[i][p] = id
			}
		}
	}
	return out
}

// floor returns the largest relative difference between the file's losses and score entropies in
// float32 and in float64.
func floor(in lossInputs) (most float64) {
	apart := func(single, double []float64) {
		for i := range min(len(single), len(double)) {
			most = max(most, math.Abs(single[i]-double[i])/(1+math.Abs(double[i])))
		}
	}
	apart(in.Losses, in.Losses64)
	apart(in.Entropy, in.Entropy64)
	for name, double := range in.ByName64 {
		apart(in.ByName[name], double)
	}
	return most
}

// lossRun computes losses and keeps the first error.
type lossRun struct {
	ctx context.Context
	e   *likelihood.Evaluator
	in  lossInputs
	err error
}

// rows evaluates the masked positions of each sequence at its σ, and sums term over them; tokens
// holds each term at its position.
func (l *lossRun) rows(mask [][]int, term func(seq int, logMu, logMass float64) float64) (sums []float64, tokens [][]float64) {
	sums, tokens = make([]float64, len(l.in.X0)), make([][]float64, len(l.in.X0))
	if l.err != nil {
		return sums, tokens
	}
	var asks []likelihood.Ask
	var sequences []int
	for i, x := range l.in.X0 {
		tokens[i] = make([]float64, len(x))
		t := likelihood.Whole(x)
		if err := l.e.Check(t); err != nil {
			l.err = err
			return sums, tokens
		}
		var masked []int
		for p, m := range mask[i] {
			if m != 0 {
				masked = append(masked, p)
			}
		}
		if masked == nil {
			continue
		}
		asks = append(asks, likelihood.Ask{
			Target: &t, Masked: masked, Wanted: masked, Lambda: -math.Expm1(-l.in.Sigma[i]),
			LogMu: make([]float64, len(masked)), LogMass: make([]float64, len(masked)),
		})
		sequences = append(sequences, i)
	}
	if l.err = l.e.Eval(l.ctx, asks); l.err != nil {
		return sums, tokens
	}
	for n, a := range asks {
		i := sequences[n]
		for j, p := range a.Wanted {
			tokens[i][p] = term(i, a.LogMu[j], a.LogMass[j])
			sums[i] += tokens[i][p]
		}
	}
	return sums, tokens
}

// radd returns one of the seven losses of RADD.
func (l *lossRun) radd(name string) (sums []float64) {
	in := l.in
	switch name {
	case "t_DSE":
		sums, _ = l.rows(in.Mask, func(i int, logMu, logMass float64) float64 {
			return in.DSigma[i] * likelihood.ScoreEntropyTerm(logMu, logMass, in.Sigma[i])
		})
	case "t_DCE":
		sums, _ = l.rows(in.Mask, func(i int, logMu, _ float64) float64 {
			return timeWeight(in.Sigma[i], in.DSigma[i]) * crossEntropyTerm(logMu, in.Sigma[i])
		})
	case "lambda_DCE":
		sums, _ = l.rows(in.Mask, func(i int, logMu, _ float64) float64 { return -logMu / in.Lambda[i] })
	case "k_DCE":
		sums, _ = l.rows(in.KMask, func(i int, logMu, _ float64) float64 {
			return -logMu * float64(len(in.X0[i])) / float64(count(in.KMask[i]))
		})
	case "ar_forward", "ar_backward", "ar_random":
		return l.chains(name)
	default:
		l.err = fmt.Errorf("loss %q is not known", name)
	}
	return sums
}

// chains returns −log P of each sequence in one order.
func (l *lossRun) chains(name string) []float64 {
	order := make([]int, len(l.in.X0[0]))
	for i := range order {
		order[i] = i
	}
	switch name {
	case "ar_backward":
		slices.Reverse(order)
	case "ar_random":
		order = l.in.Order
	}
	out := make([]float64, len(l.in.X0))
	for i, x := range l.in.X0 {
		if l.err == nil {
			out[i] = l.chain(x, order)
		}
	}
	return out
}

// chain returns −log P of revealing a sequence one by one in an order.
func (l *lossRun) chain(x, order []int) (sum float64) {
	t, masked := likelihood.Whole(x), likelihood.InOrder(len(x))
	asks := make([]likelihood.Ask, len(order))
	for i, at := range order {
		asks[i] = likelihood.Ask{Target: &t, Masked: masked, Wanted: []int{at}, Lambda: float64(len(masked)) / float64(len(order)+1), LogMu: make([]float64, 1)}
		masked = slices.DeleteFunc(slices.Clone(masked), func(l int) bool { return l == at })
	}
	l.err = l.e.Eval(l.ctx, asks)
	for _, a := range asks {
		sum -= a.LogMu[0]
	}
	return sum
}

// timeWeight is σ'/(e^σ−1), the weight of −log μ in continuous time in MDLM's loss
// (_forward_pass_diffusion, SUBS) and RADD's t_DSE. For the log-linear schedule it is 1/t.
func timeWeight(sigma, dsigma float64) float64 { return dsigma / math.Expm1(sigma) }

// crossEntropyTerm is −log μ + log(e^σ−1): multiplied by [timeWeight], RADD's t_DCE. The added term
// has expectation 0 over t.
func crossEntropyTerm(logMu, sigma float64) float64 { return -logMu + math.Log(math.Expm1(sigma)) }

// TestFloor checks that the largest difference counts, in whichever list it is.
func TestFloor(t *testing.T) {
	in := lossInputs{Losses: []float64{1, 2}, Losses64: []float64{1, 2.5}, Entropy: []float64{3}, Entropy64: []float64{7}}
	if got := floor(in); got != 0.5 {
		t.Errorf("%v, want 0.5 of the score entropies", got)
	}
	in.Losses64[0] = 4
	if got := floor(in); got != 0.6 {
		t.Errorf("%v, want 0.6 of the losses", got)
	}
}
