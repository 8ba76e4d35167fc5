package likelihood

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// fitsListed returns an error for a sum over more than [plan.MaxListed] plans.
func fitsListed(d int, s *catalog.Sampler) error {
	if n := s.Plans(d); n > plan.MaxListed {
		return &TooLargeError{Free: d, Plans: n, Most: mostListed(d, s)}
	}
	return nil
}

// mostListed returns the greatest number of free positions with at most [plan.MaxListed] plans.
func mostListed(d int, s *catalog.Sampler) int {
	for d > 0 && s.Plans(d) > plan.MaxListed {
		d--
	}
	return d
}

// listed returns −log P of a sampler that lists its n equally probable plans, P = Σ_i P(x|plan
// i)/n. Plans that reach the same canvas share its row.
func (e *Evaluator) listed(ctx context.Context, t Target, s *catalog.Sampler) (float64, error) {
	n := int(s.Plans(len(t.Free)))
	l := listing{known: make(map[string]int)}
	for i := range n {
		var p plan.Plan
		if err := s.ListPlan(&p, t.Free, i); err != nil {
			return 0, err
		}
		l.add(planAsks(nil, &t, &p, false))
	}
	if err := e.Eval(ctx, l.asks); err != nil {
		return 0, err
	}
	logs := make([]float64, n)
	for i, path := range l.paths {
		for _, r := range path {
			logs[i] += l.asks[r.ask].LogMu[r.wanted]
		}
	}
	return math.Log(float64(n)) - floats.LogSumExp(logs), nil
}

// listing holds the rows of several paths, each once.
type listing struct {
	asks  []Ask
	known map[string]int // by canvas
	paths [][]row
}

// row is a wanted position of an ask.
type row struct{ ask, wanted int }

func (l *listing) add(asks []Ask) {
	var path []row
	for _, a := range asks {
		key := maskedKey(a.Masked)
		i, ok := l.known[key]
		if !ok {
			i = len(l.asks)
			l.known[key] = i
			l.asks = append(l.asks, Ask{Target: a.Target, Masked: a.Masked, Lambda: a.Lambda})
		}
		have := &l.asks[i]
		for _, position := range a.Wanted {
			w := slices.Index(have.Wanted, position)
			if w < 0 {
				w = len(have.Wanted)
				have.Wanted = append(have.Wanted, position)
				have.LogMu = append(have.LogMu, 0)
			}
			path = append(path, row{i, w})
		}
	}
	l.paths = append(l.paths, path)
}

// maskedKey encodes a set of positions as a string.
func maskedKey(masked []int) string {
	key := make([]byte, 0, 3*len(masked))
	for _, l := range masked {
		key = append(key, byte(l), byte(l>>8), byte(l>>16))
	}
	return string(key)
}
