package bound

import (
	"cmp"
	"context"
	"encoding/json"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/samplers/catalog"
)

// chunkRows is how many network rows are asked for together: enough to fill calls, and
// few enough that tables are small and progress is seen.
const chunkRows = 1 << 13

// window holds the exact numbers of a window, in nats.
type window struct {
	d int
	// fhs is −log P_FHS, chain −log of the left-to-right chain.
	fhs, nelbo, chain float64
	// slack is the quadrature's error in fhs and nelbo together, 0 where they are exact; nodes
	// is how many it has.
	slack float64
	nodes int
	// casesSlack is the greatest error of cases by quadrature.
	casesSlack float64
	// entropy is the integrated score entropy by quadrature, of normalised scores.
	entropy float64
	// cases [len(cases)] are −log P_N, apart log p* of each, NaN where no collision bound is
	// known.
	cases, apart []float64
	// orders [len(orders)] are −log of the chains along given orders.
	orders []float64
}

// worker works out windows.
type worker struct {
	e     *likelihood.Evaluator
	cases []Case
	done  func(windows int)
	// tolerance is that of quadratures, 0 for their own.
	tolerance float64
}

// timeFree refuses networks that the collision bound is not about.
func timeFree(e *likelihood.Evaluator) error {
	if e.Facts().TimeConditioned {
		return fault.Errorf("bound", "the network is time-conditioned: its first-hitting samples are drawn at random times, and no collision bound compares other samplers with them; a text has exact values")
	}
	return nil
}

// windows works out all of a list of targets. orders, where it is not nil, has orders of
// the free positions for each. With an error come the windows that were done before it.
func (w *worker) windows(ctx context.Context, ts []likelihood.Target, orders [][][]int) ([]window, error) {
	if w.e.Facts().TimeConditioned {
		return w.timedWindows(ctx, ts, orders)
	}
	out := make([]window, len(ts))
	for from := 0; from < len(ts); {
		to, rows := from, 0.0
		for to < len(ts) && (to == from || rows < chunkRows) {
			rows += likelihood.ExactRows(len(ts[to].Free))
			to++
		}
		tables, err := w.e.Tables(ctx, ts[from:to], true)
		if err != nil {
			return out[:from], err
		}
		var of [][][]int
		if orders != nil {
			of = orders[from:to]
		}
		if err := w.tables(ctx, out[from:to], tables, of); err != nil {
			return out[:from], err
		}
		if err := w.others(ctx, out[from:to], ts[from:to]); err != nil {
			return out[:from], err
		}
		if w.done != nil {
			w.done(to - from)
		}
		from = to
	}
	return out, nil
}

// timedWindows works out windows one by one: each fills its calls by itself.
func (w *worker) timedWindows(ctx context.Context, ts []likelihood.Target, orders [][][]int) ([]window, error) {
	var out []window
	for i, t := range ts {
		var along [][]int
		if orders != nil {
			along = orders[i]
		}
		done, err := w.timedWindow(ctx, t, along)
		if err != nil {
			return out, err
		}
		out = append(out, done)
		if w.done != nil {
			w.done(1)
		}
	}
	return out, nil
}

// tables works out windows from their tables, on all processors.
func (w *worker) tables(ctx context.Context, out []window, tables []*likelihood.Table, orders [][][]int) error {
	errs := make([]error, len(tables))
	parallel.For(len(tables), func(i int) {
		var along [][]int
		if orders != nil {
			along = orders[i]
		}
		out[i], errs[i] = w.one(ctx, tables[i], along)
	})
	return cmp.Or(errs...)
}

// keptWindow is a window as it is kept.
type keptWindow struct {
	Free       int               `json:"free"`
	FHS        estimate.Number   `json:"fhs"`
	NELBO      estimate.Number   `json:"nelbo"`
	Entropy    estimate.Number   `json:"score_entropy"`
	Slack      estimate.Number   `json:"slack"`
	CasesSlack estimate.Number   `json:"cases_slack"`
	Nodes      int               `json:"nodes,omitempty"`
	Cases      []estimate.Number `json:"cases"`
	Apart      []estimate.Number `json:"apart"`
}

// MarshalJSON writes what a text's report needs.
func (w window) MarshalJSON() ([]byte, error) {
	n := func(x float64) estimate.Number { return estimate.Number(x) }
	return json.Marshal(keptWindow{w.d, n(w.fhs), n(w.nelbo), n(w.entropy), n(w.slack), n(w.casesSlack), w.nodes, numbers(w.cases), numbers(w.apart)})
}

// UnmarshalJSON reads what MarshalJSON wrote, bit for bit.
func (w *window) UnmarshalJSON(b []byte) error {
	var k keptWindow
	err := json.Unmarshal(b, &k)
	*w = window{d: k.Free, fhs: float64(k.FHS), nelbo: float64(k.NELBO), entropy: float64(k.Entropy), slack: float64(k.Slack), casesSlack: float64(k.CasesSlack), nodes: k.Nodes, cases: floats(k.Cases), apart: floats(k.Apart)}
	return err
}

func (w *worker) one(ctx context.Context, t *likelihood.Table, orders [][]int) (window, error) {
	out := window{d: t.D, fhs: t.FHS(), nelbo: t.NELBO(), chain: t.LeftToRight(), entropy: t.ScoreEntropy().Normalised}
	for _, c := range w.cases {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		cost, apart := math.NaN(), math.NaN()
		if likelihood.TableTells(c.Sampler) {
			law, err := t.Sampler(c.Sampler)
			if err != nil {
				return out, err
			}
			cost = law.NegLog
		}
		if c.Bounded() {
			var err error
			if apart, err = quality.Collision(c.Sampler, t.D); err != nil {
				return out, err
			}
		}
		out.cases, out.apart = append(out.cases, cost), append(out.apart, apart)
	}
	for _, o := range orders {
		out.orders = append(out.orders, t.Chain(o))
	}
	return out, nil
}

// others works out the cases that a table does not tell, and fills their places.
func (w *worker) others(ctx context.Context, out []window, ts []likelihood.Target) error {
	var at []int
	var list []*catalog.Sampler
	for i, c := range w.cases {
		if !likelihood.TableTells(c.Sampler) {
			at, list = append(at, i), append(list, c.Sampler)
		}
	}
	for i := range out {
		if len(list) == 0 {
			break
		}
		laws, err := w.e.Laws(ctx, ts[i], list)
		if err != nil {
			return err
		}
		for k, law := range laws {
			out[i].cases[at[k]] = law.NegLog
		}
	}
	return nil
}

// each maps windows to numbers.
func each[W any](ws []W, f func(w W) float64) []float64 {
	out := make([]float64, len(ws))
	for i, w := range ws {
		out[i] = f(w)
	}
	return out
}

// minus is a − b of two costs, 0 where both are infinite: neither is above the other.
func minus(a, b float64) float64 {
	if a == b {
		return 0
	}
	return a - b
}
