package samplers_test

import (
	"context"
	"fmt"

	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// surest is a method that looks at rows: it asks about every masked position and reveals
// the one whose best token is most probable, the first among equals.
type surest struct{}

func (surest) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	return &deciding{canvas: c, draws: d}, nil
}

// deciding is the decoder of one sequence.
type deciding struct {
	canvas *samplers.Canvas
	draws  *draw.Numbers
	masked []int
}

func (s *deciding) Ask(a *samplers.Ask) bool {
	if s.masked = s.canvas.Masked(s.masked[:0]); len(s.masked) == 0 {
		return false
	}
	a.Rows = append(a.Rows, samplers.AskRow{Positions: s.masked, Uniforms: s.draws.Tokens(nil, s.masked)})
	a.Head, a.Top = samplers.HeadBest, 1
	return true
}

func (s *deciding) Take(r samplers.Rows, e *samplers.Edit) error {
	var position int
	var surest draw.Best
	for i, l := range s.masked {
		b, err := r.Best(0, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		if i == 0 || b.Top[0].LogP > surest.Top[0].LogP {
			position, surest = l, b
		}
	}
	e.Set(position, surest.Token, surest.LogP)
	return nil
}

// A decoder may run in an engine shared by many callers, and be observed step by step.
func ExampleMethod_rows() {
	engine, err := samplers.NewEngine(coin{}, 8)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	job := samplers.Job{Canvas: []int{2, 2, 1, 2, 2}, Method: surest{}, Seed: 1}
	for step, err := range engine.Sample(context.Background(), job) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("positions", step.Positions, "tokens", step.Tokens)
	}
	// Output:
	// positions [3] tokens [1]
	// positions [4] tokens [1]
	// positions [0] tokens [1]
	// positions [1] tokens [1]
}
