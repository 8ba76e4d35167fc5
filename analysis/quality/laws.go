package quality

import (
	"context"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/parallel"
	"mdmgen/samplers/catalog"
)

// exactLaws hands emit −log P of every target under every sampler, in order, with the
// number of its network rows. Where one table of subsets a target has all laws, targets
// share calls and tables are computed on all processors; else
// [likelihood.Evaluator.LawsOf] does.
func exactLaws(ctx context.Context, e *likelihood.Evaluator, ts []likelihood.Target, ss []*catalog.Sampler, emit func(i int, laws []likelihood.Exact, rows int) error) error {
	if !sharesTables(e, ss) {
		return e.LawsOf(ctx, ts, ss, emit)
	}
	before := e.Totals().Rows
	tables, err := e.Tables(ctx, ts, false)
	if err != nil {
		return err
	}
	rows := (e.Totals().Rows - before) / len(ts)
	out := make([][]likelihood.Exact, len(ts))
	errs := make([]error, len(ts))
	parallel.For(len(ts), func(i int) { out[i], errs[i] = fromTable(ctx, tables[i], ss) })
	for i, err := range errs {
		if err == nil {
			err = emit(i, out[i], rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sharesTables reports whether tables of subsets have all laws.
func sharesTables(e *likelihood.Evaluator, ss []*catalog.Sampler) bool {
	return !e.Facts().TimeConditioned && !slices.ContainsFunc(ss, needsMore)
}

func fromTable(ctx context.Context, t *likelihood.Table, ss []*catalog.Sampler) ([]likelihood.Exact, error) {
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

// needsMore reports whether a sampler's law takes more than a table of subsets: the positions
// of the window, or whole rows.
func needsMore(s *catalog.Sampler) bool {
	law, planned := s.Law()
	return !planned || law.Fixed || law.LookBack
}
