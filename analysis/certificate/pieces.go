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
// on which from positions are revealed.
type piece struct {
	from, to int
	theta    float64
	source   *source
}

// cut returns the pieces of a sampler's plan for the free positions, drawn from the numbers that
// gave first-hitting its order. If the sampler may leave masks, the plan is drawn given that it
// leaves none.
func cut(s *catalog.Sampler, d *draw.Numbers, free, order []int) ([]piece, error) {
	var p plan.Plan
	m, _ := s.Plan()
	var err error
	if m.Denoise {
		err = m.Plan(&p, d, free)
	} else {
		_, err = m.PlanRevealed(&p, d, free)
	}
	if err != nil {
		return nil, err
	}
	var out []piece
	at := 0
	for _, b := range p.Blocks {
		to := at + len(b.Positions)
		if to > len(order) || !slices.Equal(b.Positions, order[at:to]) {
			return nil, fault.Errorf("certificate", "%s does not reveal in First-Hitting's order", s)
		}
		out = append(out, piece{from: at, to: to, theta: b.Theta})
		at = to
	}
	if at+len(p.Left) != len(order) {
		return nil, fault.Errorf("certificate", "the plan of %s has %d reveals and leaves %d of %d positions", s, at, len(p.Left), len(order))
	}
	if len(p.Left) > 0 {
		out = append(out, piece{from: at, to: len(order), theta: p.LeftTheta})
	}
	return out, nil
}

// add adds the run's token of a rank, whose probability is already in the logs of all open sources.
func (s *side) add(r *run, rank int) {
	for s.pieces[s.at].to <= rank {
		s.at++
	}
	logs, own := s.pieces[s.at].source.logs, r.sources[rank][0].logs[0]
	switch n := len(logs) - 1; {
	case math.IsInf(logs[n], -1): // because of this token or an earlier one in the block
		s.log += logs[n]
	case n > 0:
		s.log += logs[n] - logs[n-1] - own
	default:
		s.log += logs[0] - own
	}
}
