package bound

import (
	"context"
	"math"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers"
)

// drawn are samples with their log-probabilities as the draws themselves had them.
type drawn struct {
	targets []likelihood.Target
	// logs are log of the product of the probabilities that tokens were drawn with.
	logs []float64
}

// drawRows is how many rows a call of draw has at most.
const drawRows = 64

// draw fills the free positions of each target, whose tokens there are not looked at, one
// by one along an order of their indices; tokens come from the network's own distribution,
// at the times of the ordered sampler where it looks at the time.
// Probabilities are taken from what tokens are drawn from and from nothing that the
// likelihoods compute, so that the two can be compared. Sample i has the stream (seed, i).
func draw(ctx context.Context, m model.Model, ts []likelihood.Target, orders [][]int, seed uint64) (drawn, error) {
	f := m.Facts()
	category, err := samplers.NewCategorical(samplers.Vocabulary{Columns: f.Columns, Mask: f.MaskID, Excluded: f.Excluded(), Shift: f.Shift}, samplers.Draw{})
	if err != nil {
		return drawn{}, err
	}
	out := drawn{targets: make([]likelihood.Target, len(ts)), logs: make([]float64, len(ts))}
	streams := make([]*samplers.Stream, len(ts))
	for i, t := range ts {
		ids := append([]int(nil), t.IDs...)
		for _, l := range t.Free {
			ids[l] = f.MaskID
		}
		out.targets[i] = likelihood.Target{IDs: ids, Free: t.Free}
		streams[i] = samplers.NewStream(seed, uint64(i))
	}
	probabilities := make([]float64, f.Columns)
	var ids, positions []int64
	var sigma []float64
	for from := 0; from < len(ts); {
		// A call has canvases of one length with one number of positions to fill.
		to := from
		for to < len(ts) && to-from < drawRows && len(ts[to].IDs) == len(ts[from].IDs) && len(orders[to]) == len(orders[from]) {
			to++
		}
		for step := range orders[from] {
			ids, positions, sigma = ids[:0], positions[:0], sigma[:0]
			for i := from; i < to; i++ {
				for _, id := range out.targets[i].IDs {
					ids = append(ids, int64(id))
				}
				l := int64(ts[i].Free[orders[i][step]])
				if f.Shift {
					l--
				}
				positions = append(positions, l)
				if f.TimeConditioned {
					// m of d masked: the ordered sampler asks at λ = m/(d+1).
					d := len(orders[i])
					sigma = append(sigma, -math.Log1p(-float64(d-step)/float64(d+1)))
				}
			}
			rows, err := m.Logits(ctx, to-from, ids, positions, sigma)
			if err != nil {
				return drawn{}, err
			}
			for i := from; i < to; i++ {
				row := rows[(i-from)*f.Columns : (i-from+1)*f.Columns]
				if err := category.Probabilities(probabilities, row); err != nil {
					return drawn{}, err
				}
				id, err := category.Token(row, streams[i].Float64())
				if err != nil {
					return drawn{}, err
				}
				out.targets[i].IDs[ts[i].Free[orders[i][step]]] = id
				out.logs[i] += math.Log(probabilities[id])
			}
		}
		from = to
	}
	return out, nil
}

// inOrder is 0..d−1.
func inOrder(d int) []int {
	out := make([]int, d)
	for i := range out {
		out[i] = i
	}
	return out
}

// shuffled is a uniform order of 0..d−1.
func shuffled(d int, s *samplers.Stream) []int {
	out := inOrder(d)
	for i := d - 1; i > 0; i-- {
		j := min(int(s.Float64()*float64(i+1)), i)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
