package samplers

import "mdmgen/samplers/schedule"

// bounded is a law without a plan that may make other calls than one a position: mostCalls is the
// greatest number of them on a canvas of so many positions, d > 0 of which are free.
type bounded interface {
	mostCalls(c Spec, d, length int) int
}

// MostCalls is the greatest number of calls that a canvas can take: one a free position, but
// for samplers that mask again, edit or correct, and for those whose calls may reveal nothing.
func (s *Sampler) MostCalls(c Spec, canvas []int) int {
	free := 0
	for _, id := range canvas {
		if id == c.Mask {
			free++
		}
	}
	return s.mostCalls(c, free, len(canvas))
}

func (s *Sampler) mostCalls(c Spec, d, length int) int {
	if law, ok := s.law.(bounded); ok && d > 0 {
		return law.mostCalls(c, d, length)
	}
	return d
}

// blocksOf is the greatest number of blocks of a canvas.
func blocksOf(length, block int) int {
	if block == 0 {
		return 1
	}
	return (length-1)/block + 1
}

func (law *ranking) mostCalls(_ Spec, d, length int) int {
	blocks := blocksOf(length, law.block)
	switch choice, _ := law.choosing.(surelyChoice); {
	case choice.edits:
		return d + blocks*choice.polishes
	case law.raw && law.rounding == schedule.RoundDream: // a mask may be drawn in each step
		return max(d, law.steps+blocks)
	}
	return d
}

func (law *remasking) mostCalls(Spec, int, int) int { return len(law.steps) + 1 }

func (r rawKernel) mostCalls(c Spec, d, _ int) int { return mostSteps(r.steps.Grid, c, d) }

func (g gumbelKernel) mostCalls(c Spec, d, _ int) int { return mostSteps(g.steps.Grid, c, d) }

// mostSteps is the most of a decoder that goes through a grid with the rows of all masks.
func mostSteps(g schedule.Grid, c Spec, d int) int {
	if c.TimeConditioned {
		return g.Steps() + 1
	}
	return min(g.Steps(), d) + 1
}

func (law windows) mostCalls(c Spec, d, length int) int {
	if law.inner.Planned() {
		return d
	}
	return blocksOf(length, law.length) * law.inner.mostCalls(c, d, length)
}

func (law correcting) mostCalls(c Spec, d, length int) int {
	return law.inner.mostCalls(c, d, length) + law.count
}
