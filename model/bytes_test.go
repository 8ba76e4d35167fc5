package model

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"

	"github.com/dustin/go-humanize"
)

// The bytes transferred to a device and back in a call, with canvases of 1024 positions and rows of
// 50,258 columns, are those in docs/cuda.md: a price for each canvas and one for each wanted
// position, whatever the call.
func TestBytesACall(t *testing.T) {
	const config = `{"model_type":"mdlm","hidden_dim":16,"cond_dim":8,"n_blocks":2,"n_heads":2,"model_length":1024,"vocab_size":50258}`
	wide := []Builtin{{Name: "wide", FS: checkpointtest.Folder(config, "backbone.", checkpoint.F32, 5)}}
	m, err := Open(t.Context(), "wide", Options{Builtins: wide, Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	n := m.(heads)
	sent := func(canvases, positions int, run func(samplers.Call) error) (bytes int) {
		c := samplers.Call{IDs: make([]int64, 1024*canvases)}
		for range canvases {
			c.Counts = append(c.Counts, positions)
			for l := range positions {
				c.Positions = append(c.Positions, int64(l))
			}
		}
		reftest.OK(t, run(c))
		for _, x := range [][]ort.Tensor{n.in, n.res} {
			for _, x := range x {
				bytes += 8*len(x.Int64) + 4*len(x.Float32) + 8*len(x.Float64)
			}
		}
		return bytes
	}
	draw := func(top int) func(c samplers.Call) error {
		return func(c samplers.Call) error {
			k := len(c.Positions)
			d := samplers.Drawing{Uniforms: make([]float64, k), Temperatures: make([]float64, k), Top: top}
			return n.Best(t.Context(), c, d, make([]draw.Best, k))
		}
	}
	page := reftest.Must(os.ReadFile("../docs/cuda.md"))(t)
	for name, run := range map[string]func(samplers.Call) error{
		"rows of logits": func(c samplers.Call) error {
			_, err := n.Logits(t.Context(), c)
			return err
		},
		"log-probability of one token": func(c samplers.Call) error {
			k := len(c.Positions)
			return n.LogProbs(t.Context(), c, make([]int64, k), make([]float64, k), make([]float64, k))
		},
		"drawn token": draw(0),
		"drawn token and the best 4, with entropy": draw(4),
	} {
		// A canvas that wants one position asks two.
		two, three, both := sent(1, 2, run), sent(1, 3, run), sent(2, 3, run)
		position := three - two
		canvas := both - three - 3*position
		if rest := two - 2*position - canvas; rest != 8 { // the number of top tokens
			t.Errorf("%s: %d bytes belong to no canvas or position", name, rest)
		}
		line := fmt.Sprintf("| %s | %s | %s |", name, humanize.Comma(int64(canvas)), humanize.Comma(int64(position)))
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/cuda.md does not have %s", line)
		}
	}
}
