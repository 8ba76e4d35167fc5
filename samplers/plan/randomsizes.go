package plan

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
	"sync"

	"mdmgen/samplers"
)

// RandomSizes describes the sampler.
var RandomSizes = Sampler{New: newRandomSizes, Descriptor: samplers.Descriptor{
	Name:    "random-sizes",
	Summary: "First-Hitting order in groups of random sizes, with a bound for every distribution",
	Law: "Positions in uniform order are cut into at most N groups, whose tokens are independent. " +
		"Groups end at the counts of a geometric grid with a uniform shift θ: where ⌈exp((k+θ)h−1)⌉ positions are left with correlation=total, or ⌊exp((k+θ)h)⌋ are revealed with correlation=dual, k = 0, 1, …. h is the least value for which no θ makes more than N groups. " +
		"If rows are the conditionals of one distribution, KL from it to the sampler is at most ρ·TC with ρ = 1−(1−e^(−h))/h for total, and at most ρ·DTC with ρ = (e^h−1)/h−1 for dual. TC and DTC are its total and its dual total correlation." + AtCount,
	Calls:  samplers.Groups,
	Cost:   "At most min(N, d) calls.",
	Source: "Random sizes: Zhao and Cai, arXiv 2602.20126; the distribution of the sizes, its bounds and their constants: docs/research/interactions.md.",
	Flags:  []string{"correlation", "steps"},
}}

func newRandomSizes(o *Options, b samplers.Build) (*Method, error) {
	*b.Steps, o.Correlation = cmp.Or(*b.Steps, samplers.DefaultSteps), cmp.Or(o.Correlation, "total")
	s := randomSizes{*b.Steps, false, 1 / math.E, math.Ceil, new(sync.Map)}
	if o.Correlation == "dual" {
		s.dual, s.least, s.round = true, 1, math.Floor
	}
	return &Method{Planner: s}, nil
}

// randomSizes cuts a uniform order into groups at the points of a geometric grid of counts:
// (1/e)·exp((k+θ)h) positions from the end, or, with dual, exp((k+θ)h) from the start, with θ
// uniform on (0,1). Counts are rounded so that groups end earlier: up if counted from the end, down
// if counted from the start.
//
// Let H_j be the mean entropy of a token given j others at random, Δ_m = H_{m−1} − H_m, and R_m the
// number of positions after the first m, up to the end of the first group that ends at or after m. Then
//
//	KL = Σ_m Δ_m·E R_m,  TC = Σ_m Δ_m·(d−m),  DTC = Σ_m Δ_m·m,  m = 1..d−1,
//
// and E R_m ≤ ρ(d−m), or ρ·m, since the last point of the grid up to u is u·e^(−hU), U uniform, and the
// next one u·e^(hU). Points below 1/e are not needed: the points between 1 and u compensate for them.
type randomSizes struct {
	steps int
	dual  bool
	// least is the least point of the grid, and round converts points to counts.
	least float64
	round func(float64) float64
	// known caches the grids by number of positions, [int]shifts.
	known *sync.Map
}

// shifts holds all grids of one log step h. Groups are the same for all shifts between two of ends.
type shifts struct {
	h    float64
	ends []float64
}

// of finds the least step of the grid for which no shift makes too many groups of d positions.
func (s randomSizes) of(d int) shifts {
	if known, ok := s.known.Load(d); ok {
		return known.(shifts)
	}
	out := shifts{ends: []float64{0, 1}}
	if d > 1 && s.steps == 1 {
		out.h = math.Inf(1)
	} else if s.steps < d {
		most := func(at shifts) (n int) {
			for sizes := range s.each(d, at) {
				n = max(n, len(sizes))
			}
			return n
		}
		low := 0.0
		out = s.shifts(d, 1.01*(math.Log(float64(d))+1)/float64(s.steps-1))
		for range 40 {
			if middle := s.shifts(d, (low+out.h)/2); most(middle) <= s.steps {
				out = middle
			} else {
				low = middle.h
			}
		}
	}
	s.known.Store(d, out)
	return out
}

// shifts finds the shifts at which a point of the grid is a whole number up to d.
func (s randomSizes) shifts(d int, h float64) shifts {
	out := shifts{h, []float64{0, 1}}
	for n := range d {
		_, theta := math.Modf(math.Log(float64(n+1)/s.least) / h)
		out.ends = append(out.ends, theta)
	}
	slices.Sort(out.ends)
	return out
}

// sizes returns the groups of d positions for shifts between ends i−1 and i.
func (s randomSizes) sizes(d int, at shifts, i int) []int {
	if at.h == 0 {
		return slices.Repeat([]int{1}, d)
	}
	var sizes []int
	counted, theta, factor := 0, (at.ends[i-1]+at.ends[i])/2, math.Exp(at.h)
	for x := s.least * math.Exp(theta*at.h); x < float64(d); x *= factor {
		if n := int(s.round(x)) - counted; n > 0 && counted+n < d {
			sizes, counted = append(sizes, n), counted+n
		}
	}
	if sizes = append(sizes, d-counted); !s.dual {
		slices.Reverse(sizes)
	}
	return sizes
}

// each yields the possible sizes with their probabilities.
func (s randomSizes) each(d int, at shifts) iter.Seq2[[]int, float64] {
	return func(yield func([]int, float64) bool) {
		for i := 1; i < len(at.ends); i++ {
			if p := at.ends[i] - at.ends[i-1]; p > 0 && !yield(s.sizes(d, at, i), p) {
				return
			}
		}
	}
}

// Plan computes the shift from the largest of d uniforms: its d-th power is uniform and independent
// of the order.
func (s randomSizes) Plan(p *Plan) error {
	d := len(p.Reveals)
	if d == 0 {
		return nil
	}
	at := s.of(d)
	i := sort.SearchFloat64s(at.ends, math.Pow(p.Reveals[0].U, float64(d)))
	order := make([]int, d)
	for j, r := range p.Reveals {
		order[j] = r.Position
	}
	for _, n := range s.sizes(d, at, max(i, 1)) {
		p.AddGroup(order[:n]...)
		order = order[n:]
	}
	return nil
}

func (s randomSizes) Calls(d int) (blocks, left float64, err error) {
	blocks = float64(min(s.steps, d))
	for sizes, p := range s.each(d, s.of(d)) {
		blocks -= float64(p * float64(min(s.steps, d)-len(sizes)))
	}
	return blocks, 0, nil
}

func (s randomSizes) Law() samplers.Planned {
	return samplers.BySizes{Random: func(d int) iter.Seq2[[]int, float64] { return s.each(d, s.of(d)) }}
}
