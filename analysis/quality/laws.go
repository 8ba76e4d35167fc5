package quality

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"mdmgen/analysis/likelihood"
	"mdmgen/samplers"
)

// exactLaws returns −log P of every target under every sampler, and the number of network
// rows. Where one table of subsets a target tells all laws, targets share calls and tables
// are worked out on all processors; else a target is asked about by itself.
func exactLaws(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, ss []*samplers.Sampler) ([][]likelihood.Exact, int, error) {
	before := e.Totals().Rows
	out := make([][]likelihood.Exact, len(ts))
	if e.Facts().TimeConditioned || slices.ContainsFunc(ss, needsMore) {
		var err error
		for i, t := range ts {
			if out[i], err = e.Laws(ctx, t, ss); err != nil {
				return nil, 0, err
			}
		}
		return out, e.Totals().Rows - before, nil
	}
	tables, err := e.Tables(ctx, ts, false)
	if err != nil {
		return nil, 0, err
	}
	errs := make([]error, len(ts))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ts)) {
		wg.Go(func() {
			for i := range next {
				out[i], errs[i] = fromTable(ctx, tables[i], ss)
			}
		})
	}
	for i := range ts {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return out, e.Totals().Rows - before, nil
}

func fromTable(ctx context.Context, t *likelihood.Table, ss []*samplers.Sampler) ([]likelihood.Exact, error) {
	var out []likelihood.Exact
	for _, s := range ss {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, err := t.Sampler(s)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// needsMore says whether a sampler's law takes more than a table of subsets: the positions
// of the window, or whole rows of two calls.
func needsMore(s *samplers.Sampler) bool {
	switch set := s.Settings(); set.Sampler {
	case "ordered":
		return set.Order != string(samplers.RandomOrder)
	case "trapezoidal", "extrapolated-fhs", "paired-fhs":
		return true
	}
	return false
}
