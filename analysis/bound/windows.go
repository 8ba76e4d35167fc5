package bound

import (
	"context"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/parallel"
	"mdmgen/samplers/catalog"
)

// chunkRows is the number of network rows computed together: enough to fill calls, and few enough
// to keep tables small and progress visible.
const chunkRows = 1 << 13

// number is a value of a window, stored bit for bit in files of parts.
type number = estimate.Number

// window holds the values of a window, in nats: exact, or bounds by plans.
type window struct {
	Free int `json:"free"`
	// Length is the number of all positions, Document the number of the document if some have several
	// windows; both are 0 for samples of a chain.
	Length   int `json:"length,omitempty"`
	Document int `json:"document,omitempty"`
	// FHS is −log P_FHS; ScoreEntropy is the integrated score entropy of normalised scores: exact, an
	// estimate on a time-conditioned network, and otherwise 0 for bounds by plans.
	FHS          number `json:"fhs"`
	NELBO        number `json:"nelbo"`
	ScoreEntropy number `json:"score_entropy"`
	// Cases are −log P_N, empty for bounds by plans.
	Cases []number `json:"cases,omitempty"`
	// chain is −log of the left-to-right chain.
	chain float64
}

func (w window) fhs() float64          { return float64(w.FHS) }
func (w window) nelbo() float64        { return float64(w.NELBO) }
func (w window) leftToRight() float64  { return w.chain }
func (w window) scoreEntropy() float64 { return float64(w.ScoreEntropy) }

// cost returns −log P_N of a case.
func (w window) cost(i int) float64 { return float64(w.Cases[i]) }

// logCollisions holds log p* of the cases by the number of free positions, NaN if no collision bound is
// known.
type logCollisions map[int][]float64

func newAparts(ts []likelihood.Target, cases []Case) (logCollisions, error) {
	out := make(logCollisions)
	for _, t := range ts {
		d := len(t.Free)
		for i := len(out[d]); i < len(cases); i++ {
			apart := math.NaN()
			if cases[i].Bounded() {
				var err error
				if apart, err = cases[i].Sampler.Collision(d); err != nil {
					return nil, err
				}
			}
			out[d] = append(out[d], apart)
		}
	}
	return out, nil
}

func (a logCollisions) of(w window, i int) float64 { return a[w.Free][i] }

// worker computes windows.
type worker struct {
	e     *likelihood.Evaluator
	cases []Case
	done  func(windows int)
}

// windows computes the windows of a list of targets. With an error, it returns the windows finished
// before it.
func (w *worker) windows(ctx context.Context, ts []likelihood.Target) ([]window, error) {
	var out []window
	for len(out) < len(ts) {
		from := len(out)
		to, rows := from+1, likelihood.ExactRows(len(ts[from].Free))
		for to < len(ts) && rows < chunkRows {
			rows += likelihood.ExactRows(len(ts[to].Free))
			to++
		}
		done, err := w.tables(ctx, ts[from:to])
		if err != nil {
			return out, err
		}
		if out = append(out, done...); w.done != nil {
			w.done(to - from)
		}
	}
	return out, nil
}

// tables computes windows from their tables, which share calls.
func (w *worker) tables(ctx context.Context, ts []likelihood.Target) ([]window, error) {
	ss := each(w.cases, func(c Case) *catalog.Sampler { return c.Sampler })
	tables, laws, err := w.e.TableLaws(ctx, ts, ss, true)
	if err != nil {
		return nil, err
	}
	out := make([]window, len(ts))
	parallel.For(len(tables), func(i int) {
		t := tables[i]
		out[i] = window{Free: t.D, FHS: number(t.FHS()), NELBO: number(t.NELBO()), ScoreEntropy: number(t.ScoreEntropy().Normalised), chain: t.LeftToRight()}
		for _, law := range laws[i] {
			out[i].Cases = append(out[i].Cases, number(law.NegLog))
		}
	})
	return out, nil
}

// mostFree returns the greatest number of free positions of a window.
func mostFree(ts []likelihood.Target) (most int) {
	for _, t := range ts {
		most = max(most, len(t.Free))
	}
	return most
}

// each returns f of every element.
func each[W, X any](ws []W, f func(w W) X) []X {
	out := make([]X, len(ws))
	for i, w := range ws {
		out[i] = f(w)
	}
	return out
}

// minus returns a − b of two costs, 0 if both are infinite.
func minus(a, b float64) float64 { return quality.LogRatio(b, a) }

// differences returns a − b, term by term.
func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = minus(a[i], b[i])
	}
	return out
}

func negative(x []float64) []float64 {
	return each(x, func(v float64) float64 { return -v })
}

// numbers and floats convert between stored and computed values.
func numbers(x []float64) []number {
	return each(x, func(v float64) number { return number(v) })
}

func floats(x []number) []float64 {
	return each(x, func(v number) float64 { return float64(v) })
}
