package bench

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// Tried is a cache with its cost, measured on samples with it.
type Tried struct {
	Cache string `json:"cache"`
	// Computed is the number of positions computed per token, and Share its ratio to that of calls
	// that compute all positions.
	Computed float64           `json:"positions_per_token"`
	Share    float64           `json:"share"`
	KL       estimate.Estimate `json:"kl_per_token"`
	// Within reports whether the upper end of the interval of KL is within the accepted cost.
	Within bool `json:"within"`
}

// The sizes of the measurement of a cache: the number of texts; of texts after which one that costs
// several times too much is given up; and of audited calls of a text.
const (
	cacheTexts, cacheGlance = 16, 4
	farTooMuch              = 3
	cacheAudits             = 16
)

// CacheConfig configures the measurement of caches. Seed, Confidence and KeepBytes are as in
// [AuditConfig].
type CacheConfig struct {
	Seed       uint64
	Confidence float64
	KeepBytes  int64
	Batch      int
	// OnTexts, if not nil, is called after n more texts.
	OnTexts func(n int)
}

// CheapestCache finds the cache that computes the fewest positions among those whose KL from full rows,
// in nats per token of samples by o on a canvas, is at most cost with the given confidence. It halves
// a list of windows, and of caches of blocks if o has blocks, ordered by the positions that they compute
// with one reveal a call. So as many are tried as the list has bits, and each interval has that share of
// the doubt: all hold together, whichever cache is chosen. It returns an error if o can have no cache,
// and an empty Cache if none costs so little.
func CheapestCache(ctx context.Context, m model.Model, canvas []int, o catalog.Options, cost float64, cfg CacheConfig) (found Tried, all []Tried, err error) {
	list, err := caches(m, canvas, o)
	if err != nil {
		return found, nil, err
	}
	doubt := (1 - cfg.Confidence) / float64(bits.Len(uint(len(list))))
	for from, to := 0, len(list); from < to; {
		mid := (from + to) / 2
		o.Cache = list[mid]
		t, err := try(ctx, m, canvas, o, cost, 1-2*doubt, cfg)
		if err != nil {
			return found, all, err
		}
		if all = append(all, t); t.Within {
			found, to = t, mid
		} else {
			from = mid + 1
		}
	}
	return found, all, nil
}

// try measures the cost of a cache.
func try(ctx context.Context, m model.Model, canvas []int, o catalog.Options, cost, confidence float64, cfg CacheConfig) (t Tried, err error) {
	t.Cache, o.Audit = o.Cache, min(1, cacheAudits/float64(len(canvas)))
	s, err := catalog.New(o, m.Spec())
	if err != nil {
		return t, err
	}
	var kl, tokens [cacheTexts]float64
	var sums samplers.Totals
	done := 0
	for _, n := range []int{cacheGlance, cacheTexts} {
		got, err := samplers.Sample(ctx, m, samplers.Copies(canvas, uint64(done), n-done), samplers.Config{
			Method: s, Seed: cfg.Seed ^ auditSeed, Batch: cfg.Batch, Keep: cfg.KeepBytes,
		}, func(r samplers.Result) error {
			kl[r.Index], tokens[r.Index] = r.Audit.KL, float64(r.Audit.Tokens)
			return nil
		})
		if err != nil {
			return t, err
		}
		sums.Positions, sums.Tokens, sums.Calls = sums.Positions+got.Positions, sums.Tokens+got.Tokens, sums.Calls+got.Calls+got.FinishCalls
		t.KL = estimate.Ratio(kl[:n], tokens[:n], nil, confidence)
		if cfg.OnTexts != nil {
			cfg.OnTexts(n - done)
		}
		if done = n; t.KL.Mean > farTooMuch*cost {
			break
		}
	}
	t.Computed, t.Share = float64(sums.Positions)/float64(sums.Tokens), float64(sums.Positions)/float64(sums.Calls*len(canvas))
	t.Within = t.KL.Hi <= cost || t.KL.Mean == 0
	return t, nil
}

// caches lists the caches that a sampler can have on a canvas, the one that computes the fewest positions
// first.
func caches(m model.Model, canvas []int, o catalog.Options) (out []string, err error) {
	if err := cache.Check(m); err != nil {
		return nil, err
	}
	spec := m.Spec()
	d := len(spec.Masked(canvas))
	computed := make(map[string]float64)
	add := func(how cache.Settings, full int, rest float64) {
		text := how.String()
		per := (float64(full*len(canvas)) + float64(d-full)*rest) / float64(d)
		if o.Cache = text; full >= d || per >= float64(len(canvas)) {
			return
		}
		if _, wrong := catalog.New(o, spec); wrong != nil {
			err = cmp.Or(err, wrong)
			return
		}
		out, computed[text] = append(out, text), per
	}
	for _, w := range []int{1, 2, 4, 8, 16} {
		for _, refresh := range []int{4, 16, 64} {
			if refresh == 4 && w < 8 || refresh == 64 && d <= 16 {
				continue // Another is cheaper, or equivalent.
			}
			add(cache.Settings{Kind: cache.Window, W: w, Refresh: refresh}, (d-1)/refresh+1, float64(2*(2*w+1)))
		}
	}
	if b := o.BlockLength; b > 0 {
		add(cache.Settings{Kind: cache.Dual}, (d-1)/b+1, float64(b))
		add(cache.Settings{Kind: cache.Prefix}, (d-1)/b+1, float64(len(canvas)+b)/2)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(computed[a], computed[b]) })
	if out != nil {
		err = nil
	}
	return out, err
}

// AuditedFor are the options on which a cache's cost depends: those of the plan, of blocks and of draws,
// without what belongs to one request.
func AuditedFor(o catalog.Options) catalog.Options {
	d, _ := catalog.Describe(cmp.Or(o.Sampler, plan.FHS.Name))
	return catalog.Options{Sampler: d.Name, PlanOptions: o.PlanOptions, RankOptions: o.RankOptions, RemaskOptions: o.RemaskOptions,
		LayerOptions: catalog.LayerOptions{BlockLength: o.BlockLength}, Steps: o.Steps, Draw: o.Draw, Interactions: o.Interactions}
}
