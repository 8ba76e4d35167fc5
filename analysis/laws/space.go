package laws

import "math"

// Space is the set of states of d positions over V tokens and MASK.
type Space struct {
	// D is the number of positions, V the number of clean tokens.
	D, V int
	// States is (V+1)^D, Sequences V^D.
	States, Sequences int
	// place[l] is (V+1)^(D−1−l).
	place []int
	// tokens [States·D] are the digits of each state; masks [States] counts MASK.
	tokens, masks []int
	// clean [Sequences] is the state of each sequence.
	clean []int
}

// NewSpace enumerates the states; d and v are at least 1.
func NewSpace(d, v int) Space {
	s := Space{D: d, V: v, States: 1, Sequences: 1, place: make([]int, d)}
	for l := d - 1; l >= 0; l-- {
		s.place[l] = s.States
		s.States *= v + 1
		s.Sequences *= v
	}
	s.tokens, s.masks = make([]int, s.States*d), make([]int, s.States)
	for x := range s.States {
		for l := range d {
			a := x / s.place[l] % (v + 1)
			s.tokens[x*d+l] = a
			if a == v {
				s.masks[x]++
			}
		}
		if s.masks[x] == 0 {
			s.clean = append(s.clean, x)
		}
	}
	return s
}

// AllMask returns the state in which every position is masked.
func (s Space) AllMask() int { return s.States - 1 }

// Token returns the token of a state at position l: 0..V−1, or V for MASK.
func (s Space) Token(state, l int) int { return s.tokens[state*s.D+l] }

// Sequence returns the tokens of sequence i in base V, position 0 first. They must not be changed.
func (s Space) Sequence(i int) []int {
	x := s.clean[i]
	return s.tokens[x*s.D : (x+1)*s.D : (x+1)*s.D]
}

// Reveal returns the state with token a at its masked position l.
func (s Space) Reveal(state, l, a int) int { return state - (s.V-a)*s.place[l] }

// Hide returns the state with MASK at its visible position l.
func (s Space) Hide(state, l int) int { return state + (s.V-s.Token(state, l))*s.place[l] }

// OnSequences restricts a law over states to the sequences without MASK.
func (s Space) OnSequences(law []float64) []float64 {
	out := make([]float64, s.Sequences)
	for i, x := range s.clean {
		out[i] = law[x]
	}
	return out
}

// OnStates returns a law over sequences as a law over states.
func (s Space) OnStates(law []float64) []float64 {
	out := make([]float64, s.States)
	for i, x := range s.clean {
		out[x] = law[i]
	}
	return out
}

// Row returns the row of a state and a position in a table [States·D·V].
func (s Space) Row(table []float64, state, l int) []float64 {
	at := (state*s.D + l) * s.V
	return table[at : at+s.V : at+s.V]
}

// EachMasked calls do for each masked position of a state.
func (s Space) EachMasked(state int, do func(l int)) {
	for l, a := range s.tokens[state*s.D : (state+1)*s.D] {
		if a == s.V {
			do(l)
		}
	}
}

// mixture returns the probability that exactly m given ones of d positions are masked, when each is
// independently masked with probability λ and visible with probability α.
func mixture(d, m int, alpha, lambda float64) float64 {
	return math.Pow(alpha, float64(d-m)) * math.Pow(lambda, float64(m))
}
