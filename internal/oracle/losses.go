package oracle

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/verify"
	"mdmgen/model"
)

// losses recomputes the losses of a public implementation of MDLM, RADD or SEDD from
// the model's rows, at the inputs that the file gives, and compares them with its
// values, those in float32 within the difference that the file states beside. Differences are
// relative. What the file derives from its own inputs is recomputed too: canvases, noise and counts.
func losses(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]verify.Item, error) {
	f, err := readLosses(data, m.Facts())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	items, err := f.compare(ctx, m, limit)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %s", path, strings.ReplaceAll(err.Error(), "likelihood: ", ""))
	}
	return items, nil
}

func (f *lossesFile) compare(ctx context.Context, m model.Model, limit float64) ([]verify.Item, error) {
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	l := lossRun{file: f, ctx: ctx, e: e, limit: limit}
	l.inputs()
	switch {
	case f.ByName != nil:
		l.radd()
	case f.ScoreEntropy != nil:
		l.sedd()
	default:
		l.mdlm()
	}
	return l.items, l.err
}

// lossRun computes and keeps the first error.
type lossRun struct {
	ctx   context.Context
	e     *likelihood.Evaluator
	file  *lossesFile
	limit float64
	items []verify.Item
	err   error
}

// rows evaluates the masked positions of each sequence at its σ, and sums term
// over them; perToken, where it is not nil, receives each term at its position.
func (l *lossRun) rows(mask [][]int, term func(seq int, logMu, logMass float64) float64, perToken [][]float64) []float64 {
	f := l.file
	out := make([]float64, len(f.X0))
	if l.err != nil {
		return out
	}
	var asks []likelihood.Ask
	var sequences []int
	for i, x := range f.X0 {
		t := likelihood.Whole(x)
		if l.err = l.e.Check(t); l.err != nil {
			return out
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
			Target: &t, Masked: masked, Wanted: masked, Lambda: -math.Expm1(-f.Sigma[i]),
			LogMu: make([]float64, len(masked)), LogMass: make([]float64, len(masked)),
		})
		sequences = append(sequences, i)
	}
	if l.err = l.e.Eval(l.ctx, asks); l.err != nil {
		return out
	}
	for n, a := range asks {
		i := sequences[n]
		for j, p := range a.Wanted {
			v := term(i, a.LogMu[j], a.LogMass[j])
			out[i] += v
			if perToken != nil {
				perToken[i][p] = v
			}
		}
	}
	return out
}

// item compares one value a sequence.
func (l *lossRun) item(name string, got, want []float64) { l.within(name, got, want, l.limit) }

// single compares values of float32 arithmetic: beside the limit they may be off by what
// the file states.
func (l *lossRun) single(name string, got, want []float64) {
	if want != nil {
		l.within(name, got, want, l.limit+2*l.file.Floor)
	}
}

// within compares values, none where the file has none.
func (l *lossRun) within(name string, got, want []float64, limit float64) {
	if l.err != nil {
		return
	}
	if len(got) != len(want) {
		l.err = fmt.Errorf("field %q: %d values: must have %d", name, len(want), len(got))
		return
	}
	c := verify.NewComparison(name, verify.Relative, limit)
	for i := range want {
		c.Add(got[i], want[i], func() string { return fmt.Sprintf("%s[%d]", name, i) })
	}
	item, err := c.Finish()
	l.items, l.err = append(l.items, item), err
}

// perToken is room for the terms of every position.
func (l *lossRun) perToken() [][]float64 {
	per := make([][]float64, len(l.file.X0))
	for i, x := range l.file.X0 {
		per[i] = make([]float64, len(x))
	}
	return per
}

// tokens compares the terms of positions, in float32.
func (l *lossRun) tokens(name string, got, want [][]float64) {
	if want != nil && l.err == nil {
		l.single(name, slices.Concat(got...), slices.Concat(want...))
	}
}

func (l *lossRun) mdlm() {
	f := l.file
	per := l.perToken()
	loss := l.rows(f.Mask, func(i int, logMu, _ float64) float64 {
		return -logMu * timeWeight(f.Sigma[i], f.DSigma[i])
	}, per)
	l.item("loss_float64", loss, f.Loss)
	l.single("loss", loss, f.Loss32)
	l.tokens("loss_per_token", per, f.PerToken)
	l.floor([]lossPair{{f.Loss32, f.Loss}})
}

func (l *lossRun) sedd() {
	f := l.file
	per := l.perToken()
	entropy := l.rows(f.Mask, func(i int, logMu, logMass float64) float64 {
		return likelihood.ScoreEntropyTerm(logMu, logMass, f.Sigma[i])
	}, per)
	l.item("score_entropy_float64", entropy, f.ScoreEntropy)
	l.single("score_entropy", entropy, f.ScoreEntropy32)
	l.tokens("score_entropy_per_token", per, f.ScoreEntropyPerToken)
	if f.Loss == nil && f.Loss32 == nil {
		return
	}
	loss := make([]float64, len(entropy))
	for i, v := range entropy {
		loss[i] = v * f.DSigma[i]
	}
	if f.Loss != nil {
		l.item("loss_float64", loss, f.Loss)
	}
	l.single("loss", loss, f.Loss32)
	l.floor([]lossPair{{f.Loss32, f.Loss}})
}

// radd compares the seven losses of RADD that the file holds.
func (l *lossRun) radd() {
	f := l.file
	need := func(name string, rows int) bool {
		if rows != len(f.X0) && l.err == nil {
			l.err = fmt.Errorf("field %q is missing: a loss needs it", name)
		}
		return l.err == nil
	}
	var pairs []lossPair
	for _, name := range raddLosses {
		want, ok := f.ByName[name]
		if !ok || l.err != nil {
			continue
		}
		var got []float64
		switch name {
		case "t_DSE":
			got = l.rows(f.Mask, func(i int, logMu, logMass float64) float64 {
				return f.DSigma[i] * likelihood.ScoreEntropyTerm(logMu, logMass, f.Sigma[i])
			}, nil)
		case "t_DCE":
			got = l.rows(f.Mask, func(i int, logMu, _ float64) float64 {
				return timeWeight(f.Sigma[i], f.DSigma[i]) * crossEntropyTerm(logMu, f.Sigma[i])
			}, nil)
		case "lambda_DCE":
			if need("lambda", len(f.Lambda)) {
				got = l.rows(f.Mask, func(i int, logMu, _ float64) float64 { return -logMu / f.Lambda[i] }, nil)
			}
		case "k_DCE":
			if need("k", len(f.KMask)) {
				got = l.rows(f.KMask, func(i int, logMu, _ float64) float64 {
					return -logMu * float64(len(f.X0[i])) / float64(count(f.KMask[i]))
				}, nil)
			}
		default:
			got = l.chains(name)
		}
		l.item("losses_float64."+name, got, want)
		l.single("losses."+name, got, f.ByName32[name])
		pairs = append(pairs, lossPair{f.ByName32[name], want})
	}
	l.floor(pairs)
}

// chains is −log P of each sequence in one order.
func (l *lossRun) chains(name string) []float64 {
	f := l.file
	d := len(f.X0[0])
	order := make([]int, d)
	for i := range order {
		order[i] = i
	}
	switch name {
	case "ar_backward":
		slices.Reverse(order)
	case "ar_random":
		order = f.Order
	}
	out := make([]float64, len(f.X0))
	for i, x := range f.X0 {
		if l.err == nil {
			out[i], l.err = l.e.Order(l.ctx, likelihood.Whole(x), order)
		}
	}
	return out
}

// timeWeight is σ'/(e^σ−1), what −log μ is weighted with in continuous time: MDLM's
// loss (_forward_pass_diffusion, SUBS) and RADD's t_DSE. For the log-linear schedule
// it is 1/t.
func timeWeight(sigma, dsigma float64) float64 { return dsigma / math.Expm1(sigma) }

// crossEntropyTerm is −log μ + log(e^σ−1): with [timeWeight] before it RADD's t_DCE. What
// it adds to −log μ has expectation 0 over t only.
func crossEntropyTerm(logMu, sigma float64) float64 { return -logMu + math.Log(math.Expm1(sigma)) }
