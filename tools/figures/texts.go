package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/tools/internal/fatal"
)

// templates lists templates with 64 of 128 positions free.
var templates = []struct {
	name string
	free func(l int) bool
}{
	{"a continuation, behind 64 tokens", func(l int) bool { return l >= 64 }},
	{"a gap, 32 tokens on each side", func(l int) bool { return l >= 32 && l < 96 }},
	{"every other position, at random", func() func(l int) bool {
		random := rand.New(rand.NewPCG(seed, 0)).Perm(128)[:64]
		return func(l int) bool { return slices.Contains(random, l) }
	}()},
}

// textWindows is the number of windows of the tale that are filled.
const textWindows = 10

// texts tabulates the loss of groups in gaps of a text, by interactions measured on it.
func texts(ctx context.Context, net network) ([]report.Plot, []byte) {
	ids := tale()
	const d = 128
	var windows [][]int
	for i := range textWindows {
		from := i * (len(ids) - d) / (textWindows - 1)
		windows = append(windows, ids[from:from+d])
	}
	t := report.Table{Head: []string{"free positions", "calls", "random groups: predicted", "measured", "spread: predicted", "measured"}, Numbers: 1}
	for _, at := range templates {
		var free []int
		canvases := make([][]int, len(windows))
		for i, w := range windows {
			canvases[i] = slices.Clone(w)
			free = nil
			for l := range w {
				if at.free(l) {
					canvases[i][l] = net.Facts().MaskID
					free = append(free, l)
				}
			}
		}
		in := fatal.Must(interaction.Measure(ctx, net.Model, canvases[0], interaction.Config{Texts: windows, Seed: seed}))
		for _, steps := range []int{16, 8, 4} {
			row := []string{at.name, fmt.Sprint(steps)}
			for _, o := range []catalog.Options{{Sampler: "parallel-fhs", Steps: steps}, {Sampler: "spread", Steps: steps, Interactions: &in.Interactions}} {
				s := fatal.Must(catalog.New(o, net.Spec()))
				predicted := fatal.Must(interaction.Predict(&in.Interactions, s, free))
				var terms []interaction.Terms
				for i, canvas := range canvases {
					one := fatal.Must(interaction.AuditText(ctx, net.Model, s, canvas, nil, draw.NewNumbers(seed+1, uint64(i)), nil))
					terms = append(terms, one)
				}
				row = append(row, fmt.Sprintf("%.2g", predicted), short(interaction.Summary(terms, true, estimate.DefaultConfidence).KL))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return nil, markdown(t)
}
