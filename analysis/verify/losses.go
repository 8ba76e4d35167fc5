package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
)

// lossesFile holds losses that a public implementation gave for fixed inputs: a row
// of each list for a sequence. Which lists there are tells which losses.
type lossesFile struct {
	Source string  `json:"source"`
	MaskID int     `json:"mask_token_id"`
	X0     [][]int `json:"x0"`
	// Mask is 1 where a position of x0 is MASK; KMask the same for k_DCE.
	Mask  [][]int `json:"mask"`
	KMask [][]int `json:"k_mask"`
	// Sigma is −log α, DSigma its derivative in t.
	Sigma    []float64 `json:"sigma_float64"`
	DSigma   []float64 `json:"dsigma_float64"`
	Sigma32  []float64 `json:"sigma"`
	DSigma32 []float64 `json:"dsigma"`
	Lambda   []float64 `json:"lambda"`
	K        []int     `json:"k"`
	Order    []int     `json:"order"`

	PerToken     [][]float64          `json:"loss_per_token"`
	Loss         []float64            `json:"loss_float64"`
	ScoreEntropy []float64            `json:"score_entropy_float64"`
	ByName       map[string][]float64 `json:"losses_float64"`
}

// losses recomputes the losses of a public implementation of MDLM, RADD or SEDD from
// the model's rows, at the inputs that the file gives, and compares them with its
// float64 values. Differences are relative.
func losses(ctx context.Context, m model.Model, path string, data []byte, limit float64) ([]Item, error) {
	var f lossesFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	items, err := f.compare(ctx, m, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return items, nil
}

func (f *lossesFile) compare(ctx context.Context, m model.Model, limit float64) ([]Item, error) {
	if err := f.check(m.Facts()); err != nil {
		return nil, err
	}
	e, err := likelihood.New(m, likelihood.Options{})
	if err != nil {
		return nil, err
	}
	l := lossRun{file: f, ctx: ctx, e: e, limit: limit}
	switch {
	case f.ByName != nil:
		l.radd()
	case f.ScoreEntropy != nil:
		l.sedd()
	case f.Loss != nil:
		l.mdlm()
	default:
		return nil, fmt.Errorf("holds none of losses_float64, score_entropy_float64 and loss_float64")
	}
	return l.items, l.err
}

// check refuses lists whose lengths do not fit.
func (f *lossesFile) check(facts model.Facts) error {
	n := len(f.X0)
	if n == 0 {
		return fmt.Errorf("x0 is missing")
	}
	if f.MaskID != facts.MaskID {
		return fmt.Errorf("mask_token_id is %d, the model's is %d", f.MaskID, facts.MaskID)
	}
	// RADD's float32 noise has no float64 form in the file; it is exact enough.
	if f.Sigma == nil {
		f.Sigma, f.DSigma = f.Sigma32, f.DSigma32
	}
	for name, got := range map[string]int{"mask": len(f.Mask), "sigma": len(f.Sigma), "dsigma": len(f.DSigma)} {
		if got != n {
			return fmt.Errorf("%s has %d rows, x0 has %d", name, got, n)
		}
	}
	for i, x := range f.X0 {
		if len(x) == 0 || len(x) != len(f.X0[0]) || len(f.Mask[i]) != len(x) {
			return fmt.Errorf("sequence %d: x0 and mask differ in length", i)
		}
	}
	for i, mask := range f.KMask {
		if i >= n || len(mask) != len(f.X0[i]) {
			return fmt.Errorf("k_mask does not have the shape of x0")
		}
	}
	for name, values := range f.ByName {
		if len(values) != n {
			return fmt.Errorf("losses_float64.%s has %d values, x0 has %d rows", name, len(values), n)
		}
	}
	return nil
}

// lossRun computes and keeps the first error.
type lossRun struct {
	ctx   context.Context
	e     *likelihood.Evaluator
	file  *lossesFile
	limit float64
	items []Item
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
func (l *lossRun) item(name string, got, want []float64) {
	if l.err != nil {
		return
	}
	if len(got) != len(want) {
		l.err = fmt.Errorf("%s has %d values, x0 has %d rows", name, len(want), len(got))
		return
	}
	c := newComparison(name, Relative, l.limit)
	for i := range want {
		c.add(got[i], want[i], func() string { return fmt.Sprintf("%s[%d]", name, i) })
	}
	item, err := c.finish()
	l.items, l.err = append(l.items, item), err
}

func (l *lossRun) mdlm() {
	f := l.file
	per := make([][]float64, len(f.X0))
	for i, x := range f.X0 {
		per[i] = make([]float64, len(x))
	}
	loss := l.rows(f.Mask, func(i int, logMu, _ float64) float64 {
		return -logMu * likelihood.TimeWeight(f.Sigma[i], f.DSigma[i])
	}, per)
	l.item("loss_float64", loss, f.Loss)
	if f.PerToken != nil && l.err == nil {
		l.item("loss_per_token", slices.Concat(per...), slices.Concat(f.PerToken...))
	}
}

func (l *lossRun) sedd() {
	f := l.file
	entropy := l.rows(f.Mask, func(i int, logMu, logMass float64) float64 {
		return likelihood.ScoreEntropyTerm(logMu, logMass, f.Sigma[i])
	}, nil)
	l.item("score_entropy_float64", entropy, f.ScoreEntropy)
	if f.Loss == nil {
		return
	}
	loss := make([]float64, len(entropy))
	for i, v := range entropy {
		loss[i] = v * f.DSigma[i]
	}
	l.item("loss_float64", loss, f.Loss)
}

// radd compares the seven losses of RADD that the file holds.
func (l *lossRun) radd() {
	f := l.file
	need := func(name string, rows int) bool {
		if rows != len(f.X0) && l.err == nil {
			l.err = fmt.Errorf("%s has %d rows, x0 has %d", name, rows, len(f.X0))
		}
		return l.err == nil
	}
	for _, name := range []string{"t_DSE", "t_DCE", "lambda_DCE", "k_DCE", "ar_forward", "ar_backward", "ar_random"} {
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
				return likelihood.TimeWeight(f.Sigma[i], f.DSigma[i]) * likelihood.CrossEntropyTerm(logMu, f.Sigma[i])
			}, nil)
		case "lambda_DCE":
			if need("lambda", len(f.Lambda)) {
				got = l.rows(f.Mask, func(i int, logMu, _ float64) float64 { return -logMu / f.Lambda[i] }, nil)
			}
		case "k_DCE":
			if need("k", len(f.K)) && need("k_mask", len(f.KMask)) {
				got = l.rows(f.KMask, func(i int, logMu, _ float64) float64 {
					return -logMu * float64(len(f.X0[i])) / float64(f.K[i])
				}, nil)
			}
		default:
			got = l.chains(name)
		}
		l.item("losses_float64."+name, got, want)
	}
	if len(l.items) == 0 && l.err == nil {
		l.err = fmt.Errorf("losses_float64 holds none of RADD's losses")
	}
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
