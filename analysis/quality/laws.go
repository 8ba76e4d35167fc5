package quality

import (
	"context"
	"runtime"
	"sync"

	"mdmgen/analysis/likelihood"
	"mdmgen/samplers"
)

// exactLaws returns −log P of every target under every sampler, and the number of network
// rows. A network without time answers all samplers from one table a target; the tables
// are then worked out on all processors.
func exactLaws(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, ss []*samplers.Sampler) ([][]likelihood.Exact, int, error) {
	before := e.Totals().Rows
	out := make([][]likelihood.Exact, len(ts))
	if e.Facts().TimeConditioned || hasOrder(ss) {
		for i, t := range ts {
			for _, s := range ss {
				x, err := e.Exact(ctx, t, s)
				if err != nil {
					return nil, 0, err
				}
				out[i] = append(out[i], x)
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

// hasOrder says whether a sampler reveals along a fixed order, which needs the positions.
func hasOrder(ss []*samplers.Sampler) bool {
	for _, s := range ss {
		if set := s.Settings(); set.Sampler == "ordered" && set.Order != string(samplers.RandomOrder) {
			return true
		}
	}
	return false
}
