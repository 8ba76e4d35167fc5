package likelihood

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/subset"
)

// FitsPlans returns an error if no bound by plans, or by paths of a decoder without a plan, can be
// computed for the free positions.
func FitsPlans(free []int, s *catalog.Sampler) error {
	switch law := s.Law().(type) {
	case samplers.Replayed:
		if law.By == samplers.ReplayRandom {
			return nil
		}
		return law.Fits(len(free), false)
	case samplers.ByCausal:
		return fault.Errorf("likelihood", "%s is exact without plans: leave them out", s)
	case samplers.Unknown:
		return fault.Errorf("likelihood", "cannot compute a likelihood of %s: %s", s, law.Why)
	}
	m, _ := s.Plan()
	return m.Plan(new(plan.Plan), draw.NewStream(0, 0), free)
}

// Replay repeats the choices of decoders on each target ([catalog.Sampler.Replay]); results are
// indexed by target and decoder. Each decoder draws tokens by its own settings. Several decoders
// share the rows of a target if these take at most 256 MiB.
func (e *Evaluator) Replay(ctx context.Context, ts []Target, ss []*catalog.Sampler) ([][]rank.Replayed, error) {
	texts, most := make([]rank.Text, len(ts)), 0
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return nil, err
		}
		texts[i] = e.text(t)
		for _, s := range ss {
			if err := s.Law().Fits(len(t.Free), false); err != nil {
				return nil, err
			}
		}
		most = max(most, e.Together(len(t.IDs), len(t.Free)))
	}
	out, together := make([][]rank.Replayed, len(ts)), 1
	if len(ss) == 1 {
		together = max(len(ts), 1)
	}
	for from := 0; from < len(ts); from += together {
		net := asking{e: e}
		if d := len(ts[from].Free); len(ss) > 1 && ExactRows(d)*float64(d*e.facts.Columns)/2 <= maxKnown {
			net.known = make(map[string]draw.Row)
		}
		for _, s := range ss {
			told, err := s.Replay(ctx, &net, texts[from:from+together], most)
			if err != nil {
				return nil, err
			}
			for i, x := range told {
				out[from+i] = append(out[from+i], x)
			}
		}
	}
	return out, nil
}

// replayPaths computes the estimates of [Plans] for a decoder without a plan, from K of its paths
// to the text in place of K plans.
func (e *Evaluator) replayPaths(ctx context.Context, ts []Target, first uint64, c Config) ([]Result, error) {
	var stream draw.Stream
	out := make([]Result, len(ts))
	law := c.Sampler.Law().(samplers.Replayed)
	for i, t := range ts {
		if err := e.Check(t); err != nil {
			return nil, err
		}
		draws, plans := c.DrawsOr(), max(c.Plans, 1)
		if law.By == samplers.ReplayOne {
			draws, plans = 1, 1 // all paths are the same
		}
		stream.Reset(c.Seed, first+uint64(i))
		before := e.totals.Rows
		logs, err := c.Sampler.ReplayPaths(ctx, &asking{e: e}, e.text(t), draws*plans, &stream, e.Together(len(t.IDs), len(t.Free)))
		if err != nil {
			return nil, err
		}
		out[i].Rows = e.totals.Rows - before
		if law.By == samplers.ReplayOne {
			out[i].Nats = estimate.Exact(-logs[0])
			continue
		}
		var values []float64
		for paths := range slices.Chunk(logs, plans) {
			values = append(values, math.Log(float64(plans))-subset.LogSum(paths))
		}
		out[i].Nats = estimate.Mean(values, c.Confidence)
		// If a few paths have most of the probability, the intervals of a lower side miss too
		// often.
		out[i].Lower = &Lower{Reason: "no lower side: paths of a decoder are too unequal for its intervals"}
	}
	return out, nil
}

// text converts a target to the samplers' type.
func (e *Evaluator) text(t Target) rank.Text {
	return rank.Text{Canvas: t.Canvas(e.facts.MaskID), IDs: t.IDs}
}

// maxKnown is the greatest number of cached logits.
const maxKnown = 1 << 26

// asking is the evaluator's network. It counts its calls and may cache rows.
type asking struct {
	e *Evaluator
	// known caches rows by canvas, time and position; nil if none are kept.
	known map[string]draw.Row
	out   draw.Row
}

func (a *asking) Spec() samplers.Spec { return a.e.model.Spec() }

func (a *asking) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := a.Rows(ctx, c)
	return out.Float32(), err
}

func (a *asking) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	if a.known == nil {
		return a.ask(ctx, c)
	}
	var missing samplers.Call
	var keys, learnt []string
	length, rest := c.Length(), c.Positions
	for i, n := range c.Counts {
		ids, before := c.IDs[i*length:(i+1)*length], len(learnt)
		at := fmt.Sprint(ids)
		if c.Sigma != nil {
			at = fmt.Sprint(ids, c.Sigma[i])
		}
		for _, l := range rest[:n] {
			key := fmt.Sprint(at, l)
			if keys = append(keys, key); a.known[key].Len() == 0 {
				missing.Positions, learnt = append(missing.Positions, l), append(learnt, key)
			}
		}
		rest = rest[n:]
		if len(learnt) == before {
			continue
		}
		missing.IDs, missing.Counts = append(missing.IDs, ids...), append(missing.Counts, len(learnt)-before)
		if c.Sigma != nil {
			missing.Sigma = append(missing.Sigma, c.Sigma[i])
		}
	}
	if learnt != nil {
		rows, err := a.ask(ctx, missing)
		if err != nil {
			return draw.Row{}, err
		}
		for i, key := range learnt {
			a.known[key] = rows.Slice(i*a.e.facts.Columns, (i+1)*a.e.facts.Columns).Clone()
		}
	}
	a.out = a.out.Empty()
	for _, key := range keys {
		a.out = a.out.Append(a.known[key])
	}
	return a.out, nil
}

// ask calls the network and counts the call.
func (a *asking) ask(ctx context.Context, c samplers.Call) (draw.Row, error) {
	begin, t := time.Now(), &a.e.totals
	out, err := samplers.RowsOf(ctx, a.e.model, c)
	t.Network += time.Since(begin)
	t.Calls, t.Rows, t.Positions = t.Calls+1, t.Rows+len(c.Counts), t.Positions+len(c.Positions)
	return out, err
}
