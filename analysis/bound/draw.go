package bound

import (
	"context"
	"strconv"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// drawn holds samples with the log-probabilities that they were drawn with.
type drawn struct {
	targets []likelihood.Target
	// logs are the logarithms of the products of the tokens' probabilities when drawn.
	logs []float64
}

// drawRows is the greatest number of rows in a call of drawAlong.
const drawRows = 64

// drawAlong fills the free positions of each target, ignoring their tokens, one by one along an
// order of their indices. It uses the ordered sampler and the network's own distribution. The
// probabilities come from the draws, independent of the likelihoods, so that the two can be
// compared. Sample i uses the draws (seed, i).
func drawAlong(ctx context.Context, m model.Model, ts []likelihood.Target, orders [][]int, seed uint64) (drawn, error) {
	mask, spec := m.Facts().MaskID, m.Spec()
	out := drawn{targets: make([]likelihood.Target, len(ts)), logs: make([]float64, len(ts))}
	var seqs []samplers.Sequence
	for i, t := range ts {
		var list []string
		for _, k := range orders[i] {
			list = append(list, strconv.Itoa(ts[i].Free[k]))
		}
		ordered, err := catalog.New(catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: strings.Join(list, ",")}}, spec)
		if err != nil {
			return drawn{}, err
		}
		seqs = append(seqs, samplers.Sequence{Index: uint64(i), Canvas: t.Canvas(mask), Method: ordered})
	}
	_, err := samplers.Sample(ctx, m, samplers.ByLength(seqs), samplers.Config{Seed: seed, Batch: drawRows}, func(r samplers.Result) error {
		i := int(r.Index)
		out.targets[i] = likelihood.Target{IDs: r.IDs, Free: ts[i].Free}
		out.logs[i] = r.LogP
		return nil
	})
	return out, err
}

// shuffled returns a uniform order of 0..d−1.
func shuffled(d int, s *draw.Stream) []int {
	out := likelihood.InOrder(d)
	for i := d - 1; i > 0; i-- {
		j := min(int(s.Float64()*float64(i+1)), i)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
