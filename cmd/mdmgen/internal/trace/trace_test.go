package trace

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/serve/frame"
)

// BenchmarkFrame writes a call that reveals one of 1,024 positions, which takes a network
// milliseconds.
func BenchmarkFrame(b *testing.B) {
	w := reftest.Must(Create(context.Background(), filepath.Join(b.TempDir(), "run.jsonl"), Header{Schema: Schema}))(b)
	m := frame.Maker{Mask: 9, Piece: func(int) string { return " word" }, Begin: time.Now()}
	canvas := make([]int, 1024)
	step := samplers.Step{Positions: []int{512}, Tokens: []int{3}, LogP: []float64{-1.2345678901234567}, Theta: 0.1, Rows: 1}
	for b.Loop() {
		for _, f := range m.Step(step, canvas) {
			w.Frame(f)
		}
	}
	reftest.OK(b, w.Close(false))
}
