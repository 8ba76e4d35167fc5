package samplers

import "fmt"

// slot is a sequence of the batch with its own clock. It is used again for the
// next sequence.
type slot struct {
	index  uint64
	canvas []int64
	free   []int
	stream Stream
	plan   Plan
	// w holds the uniform for the token, by position; only free positions' are
	// meaningful.
	w []float64
	// next counts the blocks that were taken from the plan; block is the one to fill.
	next      int
	block     Block
	finishing bool
	// kept are the rows [len(keptAt)·columns] that the last call gave at the positions
	// keptAt, which the block to fill looks back at.
	kept   []float32
	keptAt []int
	// decoder stands in place of the plan where there is none.
	decoder decoder

	calls, finishCalls int
}

// start takes a sequence: it copies the canvas, draws the plan, and then the
// uniforms of the tokens, in ascending order of the free positions.
func (s *slot) start(seq Sequence, cfg Config) error {
	v := cfg.Vocabulary
	*s = slot{index: seq.Index, canvas: s.canvas[:0], free: s.free[:0], stream: s.stream, plan: s.plan, w: s.w[:0], kept: s.kept[:0], keptAt: s.keptAt[:0], decoder: s.decoder}
	for l, id := range seq.Canvas {
		switch {
		case id == v.Mask:
			if l == 0 && v.Shift {
				return fmt.Errorf("position 0 is free: this network predicts position l from row l−1, so give the first token")
			}
			s.free = append(s.free, l)
		case id < 0 || id >= v.Columns:
			return fmt.Errorf("position %d: id %d: must be in 0..%d, or the mask's id %d", l, id, v.Columns-1, v.Mask)
		}
		s.canvas = append(s.canvas, int64(id))
	}
	s.stream.Reset(cfg.Seed, seq.Index)
	if raw := cfg.Sampler.raw; raw != nil {
		s.plan.reset()
		s.decoder.start(raw, s.canvas, s.free, &s.stream)
	} else if err := s.plan.draw(cfg.Sampler.law, &s.stream, s.free); err != nil {
		return err
	}
	for range seq.Canvas {
		s.w = append(s.w, 0)
	}
	for _, l := range s.free {
		s.w[l] = s.stream.Float64()
	}
	return nil
}

// advance takes the next block, or what the plan left if that is to be filled, and
// returns false when the sequence is finished.
func (s *slot) advance(denoise bool) bool {
	if s.decoder.kernel != nil && !s.finishing {
		var more bool
		if s.block, more = s.decoder.next(); more {
			return true
		}
		steps := s.decoder.kernel.steps
		n := steps.Grid.Steps()
		s.plan.Left, s.plan.LeftLambda, s.plan.LeftTheta = s.decoder.masked, steps.Grid.Lambda[n], steps.Grid.Theta[n]
	}
	switch {
	case s.next < len(s.plan.Blocks):
		s.block = s.plan.Blocks[s.next]
		s.next++
		return true
	case denoise && !s.finishing && len(s.plan.Left) > 0:
		s.finishing = true
		s.block = Block{Positions: s.plan.Left, Lambda: s.plan.LeftLambda, Theta: s.plan.LeftTheta, Step: -1}
		return true
	}
	return false
}

func (s *slot) result(mask int) Result {
	r := Result{Index: s.index, IDs: make([]int, len(s.canvas)), Calls: s.calls, FinishCalls: s.finishCalls, Events: s.plan.Events}
	for l, id := range s.canvas {
		r.IDs[l] = int(id)
		if r.IDs[l] == mask {
			r.Left++
		}
	}
	return r
}
