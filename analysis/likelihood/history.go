package likelihood

import (
	"context"
	"math"
	"slices"

	"mdmgen/samplers/draw"
)

// historyBytes limits the memory of the whole rows of asks that look back, at one time.
const historyBytes = 256 << 20

// evalHistory answers asks some of which look back. It answers them in groups whose whole rows fit
// in memory: for each position one row of the ask and one of the previous ask. If a group begins
// with an ask that looks back, the previous ask is evaluated again at those positions.
func (e *Evaluator) evalHistory(ctx context.Context, asks []Ask) error {
	most := max(1, historyBytes/(8*e.facts.Columns))
	for from := 0; from < len(asks); {
		to, rows := from, 0
		for to < len(asks) && (to == from || rows+2*len(asks[to].Wanted) <= most) {
			if asks[to].Weight != 0 {
				rows += 2 * len(asks[to].Wanted)
			}
			to++
		}
		if err := e.historyGroup(ctx, asks, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// historyGroup answers asks[from:to].
func (e *Evaluator) historyGroup(ctx context.Context, asks []Ask, from, to int) error {
	first := from
	if asks[from].Weight != 0 {
		first--
	}
	// work[k] is ask first+k with the positions that the next ask needs of it; rows[k] holds its
	// whole rows by position.
	work, rows := make([]Ask, to-first), make([]map[int][]float64, to-first)
	for k := range work {
		a := asks[first+k]
		if first+k < from {
			a.Wanted, a.LogMass, a.Weight = nil, nil, 0
		}
		var keep []int
		if a.Weight != 0 {
			keep = slices.Clone(a.Wanted)
		}
		if n := first + k + 1; n < to && asks[n].Weight != 0 {
			keep = append(keep, asks[n].Wanted...)
			a.Wanted = slices.Concat(a.Wanted, asks[n].Wanted)
		}
		a.LogMu, a.Weight = make([]float64, len(a.Wanted)), 0
		if a.LogMass != nil {
			a.LogMass = make([]float64, len(a.Wanted))
		}
		if len(keep) > 0 {
			rows[k] = make(map[int][]float64, len(keep))
			for _, l := range keep {
				rows[k][l] = make([]float64, e.facts.Columns)
			}
			wanted, mine := a.Wanted, rows[k]
			a.Whole = func(j int, p []float64) { copy(mine[wanted[j]], p) }
		}
		work[k] = a
	}
	if err := e.eval(ctx, work); err != nil {
		return err
	}
	for n := from; n < to; n++ {
		a, k := &asks[n], n-first
		copy(a.LogMu, work[k].LogMu)
		copy(a.LogMass, work[k].LogMass)
		if a.Weight == 0 {
			continue
		}
		for j, l := range a.Wanted {
			row := rows[k][l]
			draw.Mix(row, row, rows[k-1][l], a.Weight, a.Floor)
			a.LogMu[j] = math.Log(row[a.Target.IDs[l]])
		}
	}
	return nil
}
