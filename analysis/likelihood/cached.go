package likelihood

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// Rows computed with kept keys and values depend on the order of the calls, so no table of subsets
// holds them: a text is replayed along plans, through the cache itself.

// maxCached is the greatest number of free positions for a sum over all orders: 6! = 720 paths.
const maxCached = 6

// insideCache returns the planned sampler inside a cache that changes rows, and the settings of the
// cache. The sampler is nil if s has no such cache.
func insideCache(s *catalog.Sampler, spec samplers.Spec) (*catalog.Sampler, cache.Settings, error) {
	if s == nil {
		return nil, cache.Settings{}, nil
	}
	o := s.Settings().Options
	how, err := cache.Parse(o.Cache)
	if err != nil || how.Kind == "" || how.Kind == cache.Blocks {
		return nil, how, err
	}
	o.Cache = ""
	inner, err := catalog.New(o, spec)
	if err != nil {
		return nil, how, err
	}
	if law, planned := inner.Law(); !planned || law.LookBack {
		return nil, how, fault.Errorf("likelihood", "cache %s: a text is replayed along plans, each token drawn from the rows of one call: %s has no such plan, or is wrapped in layers", how, o.Sampler)
	}
	return inner, how, nil
}

// fitsCached returns an error if a sum over orders is too long or its orders are not equally
// probable.
func (e *Evaluator) fitsCached(d int, inner *catalog.Sampler, how cache.Settings) error {
	law, _ := inner.Law()
	switch {
	case isListed(inner):
		return fitsListed(d, inner)
	case e.facts.TimeConditioned || law.Steps != nil || !law.OneByOne:
		return fault.Errorf("likelihood", "cache %s: an exact value is a sum over orders one by one of a network without time: use the estimator %s", how, Plans)
	case d > maxCached:
		return fault.Errorf("likelihood", "cache %s: an exact value over %d free positions would be a sum over all orders: at most %d are supported: use the estimator %s", how, d, maxCached, Plans)
	}
	return nil
}

// cachedValue returns −log of the mean probability over all plans.
func (e *Evaluator) cachedValue(ctx context.Context, t Target, inner *catalog.Sampler, how cache.Settings) (float64, error) {
	if err := e.Check(t); err != nil {
		return 0, err
	}
	if err := e.fitsCached(len(t.Free), inner, how); err != nil {
		return 0, err
	}
	asks, ends, err := e.allPaths(&t, inner)
	if err == nil {
		err = e.evalCached(ctx, asks, how)
	}
	logs := costsOf(asks, ends)
	for i, cost := range logs {
		logs[i] = -cost
	}
	return math.Log(float64(len(ends))) - logSum(logs), err
}

// allPaths returns the asks of all plans, or of all orders, and the index at which each path ends.
func (e *Evaluator) allPaths(t *Target, inner *catalog.Sampler) (asks []Ask, ends []int, err error) {
	add := func(p *plan.Plan) {
		asks = planAsks(asks, t, p, false)
		ends = append(ends, len(asks))
	}
	if isListed(inner) {
		for i := range int(inner.Plans(len(t.Free))) {
			var p plan.Plan
			if err := inner.ListPlan(&p, t.Free, i); err != nil {
				return nil, nil, err
			}
			add(&p)
		}
		return asks, ends, nil
	}
	for _, order := range combin.Permutations(len(t.Free), len(t.Free)) {
		var p plan.Plan
		for _, i := range order {
			p.Blocks = append(p.Blocks, plan.Block{Positions: []int{t.Free[i]}})
		}
		add(&p)
	}
	return asks, ends, nil
}

// evalCached answers the asks of paths, one path after another, each through its own cache.
func (e *Evaluator) evalCached(ctx context.Context, asks []Ask, how cache.Settings) error {
	if err := cache.Check(e.model); err != nil || len(asks) == 0 {
		return err
	}
	var paths []samplers.Sequence
	longest := 0
	for from := 0; from < len(asks); {
		t, to := asks[from].Target, from+1
		for to < len(asks) && asks[to].Target == t && len(asks[to].Masked) < len(t.Free) {
			to++
		}
		canvas, err := e.canvasOf(*t)
		if err != nil {
			return err
		}
		paths = append(paths, samplers.Sequence{Canvas: canvas, Method: &along{cache.Around(&path{asks: asks[from:to]}, how)}})
		from, longest = to, max(longest, len(canvas))
	}
	begin := time.Now()
	totals, err := samplers.Sample(ctx, e.model, slices.Values(paths), samplers.Config{Draw: e.opts.Draw, Batch: e.Together(longest, 1)}, func(samplers.Result) error { return nil })
	e.totals.Network += time.Since(begin)
	e.totals.Calls, e.totals.Rows, e.totals.Positions = e.totals.Calls+totals.NetworkCalls, e.totals.Rows+totals.Rows, e.totals.Positions+totals.Tokens
	return err
}

// along makes a kernel a method.
type along struct{ samplers.Kernel }

func (a *along) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return samplers.Start(a.Kernel, c, d)
}

// path is a kernel and a decoder that reveals a text along asks and answers them.
type path struct {
	asks []Ask
	next int
}

func (p *path) Fill(*samplers.Canvas, *draw.Numbers, []int) (samplers.Decoder, error) { return p, nil }
func (p *path) Law() samplers.Law                                                     { return samplers.Law{Planned: true} }
func (p *path) Head(draw.Settings) samplers.Head                                      { return samplers.HeadRows }
func (p *path) MostCalls(samplers.Spec, int, int) int                                 { return len(p.asks) }

func (p *path) Ask(a *samplers.Ask) bool {
	if p.next == len(p.asks) {
		return false
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: p.asks[p.next].Wanted, Theta: sigma(p.asks[p.next].Lambda)})
	return true
}

func (p *path) Take(r samplers.Rows, e *samplers.Edit) error {
	a := &p.asks[p.next]
	probabilities := make([]float64, r.Columns())
	for i, l := range a.Wanted {
		if err := r.Probabilities(probabilities, 0, i); err != nil {
			return err
		}
		a.LogMu[i] = math.Log(probabilities[a.Target.IDs[l]])
		e.Set(l, a.Target.IDs[l], a.LogMu[i])
	}
	p.next++
	return nil
}
