package certificate

import (
	"math"

	"mdmgen/samplers"
)

// side is a sampler beside a run of first-hitting: what it would have given the same tokens.
type side struct {
	pieces  []piece
	sources []*source // of each piece
	// at is the piece of the next token.
	at int
	// log is Σ log(q_i/p_i), block that of this block so far, sum Σ (1 − e^(W_block))_+ of
	// the blocks before, kl Σ KL(p_i‖q_i).
	log, block, sum, kl float64
}

// gap is how two rows differ: log(q/p) of the token that was drawn from p, and KL(p‖q).
type gap struct{ log, kl float64 }

// compare sets each sampler's row of the position of rank r.at, which got the token, beside
// first-hitting's.
func (r *run) compare(token int) error {
	own := r.sources[r.at][0]
	known := false // p holds first-hitting's row
	for k := range r.sides {
		s := &r.sides[k]
		for s.pieces[s.at].to <= r.at {
			s.at++
		}
		x, from := &s.pieces[s.at], s.sources[s.at]
		w := x.weight(r.at)
		if (from != own || w != 0) && !known {
			if err := r.rowsOf.Probabilities(r.p, own.row(r.at, r.columns)); err != nil {
				return err
			}
			known = true
		}
		var g gap
		var err error
		switch {
		case w != 0:
			g, err = r.mixed(from, s.sources[s.at-1], w, x.floor, token)
		case from != own:
			g, err = r.plain(from, token)
		}
		if err != nil {
			return err
		}
		s.add(g, x.to == r.at+1)
	}
	return nil
}

// plain is the gap to a token drawn from one row, which samplers may share.
func (r *run) plain(from *source, token int) (gap, error) {
	if from.at != r.at {
		if err := r.rowsOf.Probabilities(r.q, from.row(r.at, r.columns)); err != nil {
			return gap{}, err
		}
		from.at, from.gap = r.at, between(r.p, r.q, token)
	}
	return from.gap, nil
}

// mixed is the gap to a token drawn from the rows of two calls.
func (r *run) mixed(from, before *source, w, floor float64, token int) (gap, error) {
	if err := r.rowsOf.Probabilities(r.q, from.row(r.at, r.columns)); err != nil {
		return gap{}, err
	}
	if err := r.rowsOf.Probabilities(r.before, before.row(r.at, r.columns)); err != nil {
		return gap{}, err
	}
	samplers.Mix(r.q, r.q, r.before, w, floor)
	return between(r.p, r.q, token), nil
}

// between compares two distributions.
func between(p, q []float64, token int) gap {
	g := gap{log: math.Log(q[token] / p[token])}
	for a, x := range p {
		if x > 0 {
			// p log(p/q) + q − p is not negative, and sums to the same.
			g.kl += x*math.Log(x/q[a]) + q[a] - x
		} else {
			g.kl += q[a]
		}
	}
	g.kl = max(g.kl, 0)
	return g
}

func (s *side) add(g gap, last bool) {
	s.log += g.log
	s.block += g.log
	s.kl += g.kl
	if last {
		s.sum += shortfall(s.block)
		s.block = 0
	}
}

// shortfall is (1 − e^w)_+.
func shortfall(w float64) float64 { return max(0, -math.Expm1(w)) }
