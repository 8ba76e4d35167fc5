package certificate

import (
	"math"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// side is a sampler whose plan cuts the order of a run of first-hitting.
type side struct {
	pieces []piece
	// at is the index of the next token's piece.
	at int
	// log is W so far; it starts at the log of the probability that no mask is left.
	log float64
}

// piece is a block of a sampler's plan: one call reveals the positions order[from:to] on the canvas
// on which from positions are revealed. A block that reveals nothing has from = to.
type piece struct {
	from, to int
	theta    float64
	// ahead, at least to, is the end of the rows that the block needs, some of which the next block
	// looks back at.
	ahead int
	// weight and floor are as in [plan.Block], weight 0 for a plain fill.
	weight, floor float64
	source        *source
}

// cut returns the pieces of a sampler's plan for the free positions, drawn from the numbers that
// gave first-hitting its order. If the sampler may leave masks, the plan is drawn given that it
// leaves none.
func cut(s *catalog.Sampler, d *draw.Numbers, free, order []int) ([]piece, error) {
	var p plan.Plan
	var err error
	if s.Denoises() {
		err = s.Plan(&p, d, free)
	} else {
		_, err = s.PlanRevealed(&p, d, free)
	}
	if err != nil {
		return nil, err
	}
	var out []piece
	at := 0
	for _, b := range p.Blocks {
		to := at + len(b.Positions)
		if to > len(order) || !slices.Equal(b.Positions, order[at:to]) {
			return nil, fault.Errorf("certificate", "%s does not reveal in first-hitting's order", s)
		}
		ahead := to
		for _, l := range b.Ahead {
			ahead = max(ahead, slices.Index(order, l)+1)
		}
		out = append(out, piece{from: at, to: to, theta: b.Theta, ahead: ahead, weight: b.Weight, floor: b.Floor})
		at = to
	}
	if at+len(p.Left) != len(order) {
		return nil, fault.Errorf("certificate", "the plan of %s has %d reveals and leaves %d of %d positions", s, at, len(p.Left), len(order))
	}
	if len(p.Left) > 0 {
		out = append(out, piece{from: at, to: len(order), theta: p.LeftTheta, ahead: len(order)})
	}
	return out, nil
}

// add adds the run's token of a rank, whose probability is already in the logs of all open sources.
func (s *side) add(r *run, rank, token int) error {
	for s.pieces[s.at].to <= rank {
		s.at++
	}
	x := &s.pieces[s.at]
	gain, err := s.gain(r, x, rank, token)
	if err != nil {
		return err
	}
	s.log += gain
	return nil
}

// gain returns the contribution of the token of a rank to W.
func (s *side) gain(r *run, x *piece, rank, token int) (float64, error) {
	own := r.sources[rank][0].logs[0]
	if x.weight == 0 {
		logs := x.source.logs
		n := len(logs) - 1
		switch {
		case math.IsInf(logs[n], -1): // because of this token or an earlier one in the block
			return logs[n], nil
		case n > 0:
			return logs[n] - logs[n-1] - own, nil
		default:
			return logs[0] - own, nil
		}
	}
	if err := r.rows.Probabilities(r.p, draw.Single(x.source.row(rank, r.columns))); err != nil {
		return 0, err
	}
	if err := r.rows.Probabilities(r.before, draw.Single(s.pieces[s.at-1].source.row(rank, r.columns))); err != nil {
		return 0, err
	}
	draw.Mix(r.p, r.p, r.before, x.weight, x.floor)
	return math.Log(r.p[token]) - own, nil
}
