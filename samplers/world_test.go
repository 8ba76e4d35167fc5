package samplers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// chain adds to law the probability of every way to fill a canvas of a time-free world, using its
// rows or modified ones. choose returns the sets of positions that may be revealed together next,
// with their probabilities.
func chain(w *world.World, rows rowOf, canvas []int, p float64, choose func(free []int) map[string]choice, law []float64) {
	mask := w.Facts().MaskID
	var free []int
	for l, id := range canvas {
		if id == mask {
			free = append(free, l)
		}
	}
	if len(free) == 0 || p == 0 {
		law[w.State(canvas)] += p
		return
	}
	for _, c := range choose(free) {
		fillAll(rows, canvas, slices.Clone(canvas), c.positions, p*c.p, func(next []int, p float64) { chain(w, rows, next, p, choose, law) })
	}
}

type choice struct {
	positions []int
	p         float64
}

// fillAll calls then for each way to fill positions of next, independently, from the rows of canvas.
func fillAll(rows rowOf, canvas, next, positions []int, p float64, then func([]int, float64)) {
	if len(positions) == 0 {
		then(slices.Clone(next), p)
		return
	}
	for a, q := range rows(canvas, positions[0]) {
		next[positions[0]] = a
		fillAll(rows, canvas, next, positions[1:], p*q, then)
	}
}

// uniform chooses one position uniformly.
func uniform(free []int) map[string]choice {
	out := make(map[string]choice)
	for _, l := range free {
		out[fmt.Sprint(l)] = choice{[]int{l}, 1 / float64(len(free))}
	}
	return out
}

// TestChains compares plans without a reference law, and prompts, with the sum over all their paths.
func TestChains(t *testing.T) {
	t.Parallel()
	one := func(positions ...int) map[string]choice { return map[string]choice{"": {positions, 1}} }
	tests := []struct {
		name   string
		o      catalog.Options
		prompt map[int]int
		choose func(free []int) map[string]choice
	}{
		{"left to right", catalog.Options{Sampler: "ordered"}, nil, func(f []int) map[string]choice { return one(f[0]) }},
		{"right to left", catalog.Options{Sampler: "ordered", Order: "right-to-left"}, nil, func(f []int) map[string]choice { return one(f[len(f)-1]) }},
		{"the middle first", catalog.Options{Sampler: "ordered", Order: "1,2,0"}, nil, func(f []int) map[string]choice {
			if slices.Contains(f, 1) {
				return one(1)
			}
			return one(f[len(f)-1])
		}},
		{"random order", catalog.Options{Sampler: "ordered", Order: "random"}, nil, uniform},
		{"fhs after a prompt", catalog.Options{}, map[int]int{1: 1}, uniform},
		{"fhs after a longer prompt", catalog.Options{}, map[int]int{0: 0, 2: 1}, uniform},
		{"one block", catalog.Options{Sampler: "parallel-fhs", Steps: 1}, nil, func(f []int) map[string]choice { return one(f...) }},
		{"one step of ancestral sampling", catalog.Options{Sampler: "ancestral", Grid: "lambda", Steps: 1}, nil, func(f []int) map[string]choice { return one(f...) }},
		{"groups of two and one", catalog.Options{Sampler: "parallel-fhs", Sizes: "2,1"}, nil, func(f []int) map[string]choice {
			if len(f) == 1 {
				return one(f[0])
			}
			return map[string]choice{"01": {[]int{0, 1}, 1. / 3}, "02": {[]int{0, 2}, 1. / 3}, "12": {[]int{1, 2}, 1. / 3}}
		}},
	}
	const n = 20000
	for _, world := range []int{1, 3} {
		w := openWorld(t, world)
		for _, test := range tests {
			canvas := allMask(w)
			for l, id := range test.prompt {
				canvas[l] = id
			}
			law := make([]float64, states(w))
			chain(w, plainRow(w), canvas, 1, test.choose, law)
			got := sampleFrom(t, w, w, canvas, config(w, newSampler(t, w, test.o), 11), n)
			fits(t, got.states, law, familyLevel/float64(2*len(tests)), worldNames[world], test.name)
		}
	}
}

// TestSamplesGolden freezes samples of a world: the samples of a seed must not change.
func TestSamplesGolden(t *testing.T) {
	w := openWorld(t, 0)
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "euler", Steps: 4, Finish: "leave"}, "1:022 2:220 3:200 5:022 6:202 7:100 8:022 9:022 10:101 11:202 0:111 4:121 "},
		{catalog.Options{Sampler: "tweedie", Grid: "lambda", Steps: 4}, "0:101 1:011 4:011 5:010 6:100 7:101 8:000 9:011 2:010 3:000 10:111 11:001 "},
		{catalog.Options{Sampler: "tau-leaping", Grid: "paper", Steps: 4, Tau: "one"}, "5:011 6:100 7:100 9:011 1:011 2:000 3:100 8:000 10:111 11:001 0:111 4:101 "},
		{catalog.Options{Sampler: "matu", Steps: 4}, "0:111 1:011 2:000 3:000 4:101 5:000 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "dmpm", Steps: 4}, "6:100 9:011 1:011 2:000 5:010 8:000 11:001 0:111 3:000 4:101 7:101 10:111 "},
		{catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 2}, "0:101 6:100 7:101 8:000 9:011 1:011 2:110 3:000 4:011 5:010 10:111 11:001 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2}, "0:111 1:011 2:000 3:000 4:111 5:011 6:100 7:100 8:000 9:011 10:111 11:001 "},
		{catalog.Options{Sampler: "random-sizes", Steps: 2, Correlation: "dual"}, "0:111 1:011 2:010 3:100 4:011 5:010 6:100 7:101 8:000 9:000 10:111 11:001 "},
		{catalog.Options{Sampler: "paired-fhs", Sizes: "1,2"}, "0:111 1:010 2:010 3:100 4:111 5:010 6:100 7:101 8:000 9:010 10:111 11:000 "},
	} {
		var got string
		_, err := samplers.Sample(context.Background(), w, repeat(allMask(w), 12), config(w, newSampler(t, w, test.o), 2026), func(r samplers.Result) error {
			got += fmt.Sprintf("%d:", r.Index)
			for _, id := range r.IDs {
				got += fmt.Sprint(id)
			}
			got += " "
			return nil
		})
		reftest.OK(t, err)
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.o, got, test.want)
		}
	}
}
