package samplers

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"mdmgen/samplers/schedule"
	"mdmgen/samplers/subset"
)

// Planned is the law of a sampler whose plan, which call reveals which position, is drawn before the
// first network call. The probability of a text is a sum over plans.
type Planned interface {
	Law
	// NegLog returns −log P of a text for which Fits returns nil. Other errors are those of x.
	NegLog(x Text) (Exact, error)
}

// Text gives the probabilities of a text's tokens in a network's rows.
type Text interface {
	// Free lists the positions that are revealed, ascending; the others are given.
	Free() []int
	// Timed reports whether the network is time-conditioned.
	Timed() bool
	// Subsets returns the rows of all subsets of visible positions. With m of d positions masked, a
	// time-conditioned network is queried at masked fraction lambda(m).
	Subsets(lambda func(m int) float64) (*subset.Table, error)
	// Along returns −log P along paths, each a list of groups of positions, revealed one after
	// another. A time-conditioned network is queried at the fractions of [ByCount].
	Along(paths [][][]int) ([]float64, error)
}

// Exact is −log P of a sampler on a text, in nats.
type Exact struct {
	// NegLog is −log P of the sampler with its own ending; +Inf if it cannot produce the text.
	NegLog float64
	// Endings holds both endings of a grid sampler, nil for others.
	Endings *subset.Endings
	// Rows counts the network's rows for a sampler without a plan; those of others share a table's.
	Rows int
}

// ByCount returns the masked fraction at which samplers without times query a time-conditioned
// network with m of d free positions masked: m/(d+1), the mean of that of first-hitting's query
// with as many (Lemma 6 of the paper), and never 0 or 1.
func ByCount(d int) func(m int) float64 {
	return func(m int) float64 { return float64(m) / float64(d+1) }
}

// errRandomTimes is the reason why laws with random times are not computed on time-conditioned networks.
var errRandomTimes = errors.New("it queries this time-conditioned network at random times, over which no exact value integrates")

// fitsTables returns an error if tables at a number of times take too many rows.
func fitsTables(d, times int) error {
	const maxRows = 1 << 21
	if rows := float64(times) * math.Ldexp(1, d); d > subset.MaxFree || rows > maxRows {
		return &TooLargeError{Free: d, Rows: rows, Most: max(0, min(subset.MaxFree, int(math.Log2(maxRows/float64(times)))))}
	}
	return nil
}

// inTables describes the likelihood of laws that need all subsets.
var inTables = fmt.Sprintf("exact up to %d free positions, from 2^d rows, and bounds by plans", subset.MaxFree)

// ByGrid is the law of a sampler that reveals masked positions independently in each step of a grid.
type ByGrid struct {
	schedule.Steps
	// OneByOne reports whether each call reveals one position, so that each token is drawn given all
	// tokens before it.
	OneByOne bool
	// AtHit reports whether a time-conditioned network is queried at the time of each reveal, not at
	// the beginning of its step.
	AtHit bool
	// Denoise reports whether one more call fills positions that no step reveals.
	Denoise bool
}

// Fits needs a table, and on a time-conditioned network one for each step.
func (g ByGrid) Fits(d int, timed bool) error {
	switch {
	case timed && g.AtHit:
		return errRandomTimes
	case timed:
		return fitsTables(d, len(g.Jump)+1)
	}
	return fitsTables(d, 1)
}

// NegLog applies the steps. Without time they do not matter to a sampler that reveals one by one.
func (g ByGrid) NegLog(x Text) (Exact, error) {
	jump := g.Jump
	if g.OneByOne && !x.Timed() {
		jump = []float64{1 - g.Left()}
	}
	ends, err := subset.Grid(len(x.Free()), jump, g.OneByOne, func(k int) (*subset.Table, error) {
		return x.Subsets(func(int) float64 { return g.Grid.Lambda[k] })
	})
	out := Exact{NegLog: ends.Leave, Endings: &ends}
	if g.Denoise {
		out.NegLog = ends.Denoise
	}
	return out, err
}

// Collision returns the logarithm of the probability that no two positions share a step. If each
// call reveals one position, it is that of no mask left or, if a last call fills the rest, at most one.
func (g ByGrid) Collision(d int) (float64, error) {
	n, left := float64(d), g.Left()
	switch {
	case !g.OneByOne:
		return g.LogApart(d, g.Denoise), nil
	case !g.Denoise:
		return n * math.Log1p(-left), nil
	}
	return (n-1)*math.Log1p(-left) + math.Log1p((n-1)*left), nil
}

// Likelihood names the rows.
func (ByGrid) Likelihood() string { return inTables }

// BySizes is the law of positions in uniform order, cut into groups. The zero value is the law of
// random orders with one position per call.
type BySizes struct {
	// Of returns the sizes of the groups of d positions, which the caller must not change; nil
	// stands for groups of one.
	Of func(d int) ([]int, error)
	// Random, if not nil, replaces Of: it ranges over the possible sizes with their probabilities.
	Random func(d int) iter.Seq2[[]int, float64]
	// AtHit reports whether a time-conditioned network is queried at the time at which the first
	// position of the group is revealed, not by the number of masked positions ([ByCount]).
	AtHit bool
}

// FHS is the law of Algorithm 1 of "Sharp Convergence Rates for Masked Diffusion Models".
func (s BySizes) FHS() bool { return s.Of == nil && s.Random == nil && s.AtHit }

// Each ranges over the possible sizes of the groups of d positions with their probabilities.
func (s BySizes) Each(d int) (_ iter.Seq2[[]int, float64], err error) {
	sizes := slices.Repeat([]int{1}, d)
	switch {
	case s.Random != nil:
		return s.Random(d), nil
	case s.Of != nil:
		sizes, err = s.Of(d)
	}
	return func(yield func([]int, float64) bool) { yield(sizes, 1) }, err
}

// Fits needs a table.
func (s BySizes) Fits(d int, timed bool) error {
	if timed && s.AtHit {
		return errRandomTimes
	}
	if _, err := s.Each(d); err != nil {
		return err
	}
	return fitsTables(d, 1)
}

// NegLog sums over sizes and orders.
func (s BySizes) NegLog(x Text) (Exact, error) {
	d := len(x.Free())
	each, err := s.Each(d)
	if err != nil {
		return Exact{}, err
	}
	t, err := x.Subsets(ByCount(d))
	if err != nil {
		return Exact{}, err
	}
	var logs []float64
	for sizes, p := range each {
		logs = append(logs, math.Log(p)-t.Groups(sizes))
	}
	return Exact{NegLog: -subset.LogSum(logs)}, nil
}

// Collision returns the logarithm of the probability of groups of one.
func (s BySizes) Collision(d int) (float64, error) {
	each, err := s.Each(d)
	if err != nil {
		return 0, err
	}
	var p float64
	for sizes, q := range each {
		if len(sizes) == d {
			p += q
		}
	}
	return math.Log(p), nil
}

// Likelihood names the rows.
func (BySizes) Likelihood() string { return inTables }

// ByList is the law of a sampler with few plans, equally probable, whose order is not uniform.
type ByList struct {
	// Plans returns their number over d free positions, +Inf if they cannot be listed.
	Plans func(d int) float64
	// Groups returns the groups of positions of plan number i over the free positions, ascending.
	Groups func(free []int, i int) ([][]int, error)
}

// MaxListed is the greatest number of plans over which a likelihood sums: that of 7! orders.
const MaxListed = 5040

// Fits limits the number of plans.
func (l ByList) Fits(d int, _ bool) error {
	n := l.Plans(d)
	if n <= MaxListed {
		return nil
	}
	most := d
	for most > 0 && l.Plans(most) > MaxListed {
		most--
	}
	return &TooLargeError{Free: d, Plans: n, Most: most}
}

// NegLog returns −log Σ_i P(x|plan i)/n.
func (l ByList) NegLog(x Text) (Exact, error) {
	free := x.Free()
	paths := make([][][]int, int(l.Plans(len(free))))
	for i := range paths {
		var err error
		if paths[i], err = l.Groups(free, i); err != nil {
			return Exact{}, err
		}
	}
	logs, err := x.Along(paths)
	for i, cost := range logs {
		logs[i] = -cost
	}
	return Exact{NegLog: math.Log(float64(len(paths))) - subset.LogSum(logs)}, err
}

// Collision returns an error.
func (ByList) Collision(int) (float64, error) {
	return 0, errors.New("its order is not uniform, so it has no collision bound")
}

// Likelihood names the rows.
func (l ByList) Likelihood() string {
	if l.Plans(subset.MaxFree) == 1 {
		return "exact at any length, by one call per group, and bounds by plans"
	}
	return fmt.Sprintf("exact if it has at most %d plans, by one call per group of each plan, and bounds by plans", MaxListed)
}
