// Package profile holds the loss profile of a masked diffusion model: a network's loss at a masked
// position when j of d free positions are visible,
//
//	c_j = E[−log μ^l(x_l | x_A)],  |A| = j,  nats,
//
// for A uniform among the sets of j positions, l uniform outside, and x a window of text. The
// c_j are the per-count terms of the NELBO, which is Σ_j c_j, so every estimate of the NELBO
// yields them. [schedule.BestSizes] describes how schedules use them.
//
// The terms of every window are kept: alternating halves of the windows show the size of the noise,
// see [Set.NonIncreasing].
//
// All functions are pure; values do not change once made and may be shared.
package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mdmgen/internal/fault"
)

// MaxPositions is the greatest number of free positions of a profile: computing its best sizes
// takes memory proportional to the square of it.
const MaxPositions = 1 << 14

// MinWindows is the least number of windows of a profile: two in each half.
const MinWindows = 4

// Terms holds the per-count terms of one window, for the counts with a draw: Visible[i] positions
// were visible, and Sums[i] in nats is the sum over Draws[i] draws of the mean of −log μ over
// masked positions. Visible is ascending.
type Terms struct {
	Visible []int     `json:"visible"`
	Draws   []int     `json:"draws"`
	Sums    []float64 `json:"sums"`
}

// NewTerms returns terms from dense lists, indexed by the number of visible positions.
func NewTerms(draws []int, sums []float64) Terms {
	var t Terms
	for j, n := range draws {
		if n > 0 {
			t.Visible, t.Draws, t.Sums = append(t.Visible, j), append(t.Draws, n), append(t.Sums, sums[j])
		}
	}
	return t
}

// Plus returns the sum with the terms of another window of the same length.
func (t Terms) Plus(other Terms) Terms {
	last := max(t.Visible[len(t.Visible)-1], other.Visible[len(other.Visible)-1])
	draws, sums := make([]int, last+1), make([]float64, last+1)
	for _, one := range []Terms{t, other} {
		for i, j := range one.Visible {
			draws[j] += one.Draws[i]
			sums[j] += one.Sums[i]
		}
	}
	return NewTerms(draws, sums)
}

// Finite reports whether no term is infinite or NaN, which a token of probability 0 causes.
func (t Terms) Finite() bool {
	return !slices.ContainsFunc(t.Sums, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
}

// check returns an error if windows of d positions cannot have these terms.
func (t Terms) check(d int) error {
	if len(t.Visible) != len(t.Draws) || len(t.Visible) != len(t.Sums) {
		return fmt.Errorf("%d counts, %d draws and %d sums: must be the same number of each", len(t.Visible), len(t.Draws), len(t.Sums))
	}
	last := -1
	for i, j := range t.Visible {
		n, sum := t.Draws[i], t.Sums[i]
		switch {
		case j <= last || j >= d:
			return fmt.Errorf("%d visible after %d: must rise and stay below %d", j, last, d)
		case n < 1 || n > 1<<30 || !(sum <= 1e15) || sum < -1e-6*float64(n): // −log of a probability that was rounded up
			return fmt.Errorf("the sum %v of %d draws with %d visible: must be finite and at least 0", sum, n, j)
		}
		last = j
	}
	return nil
}

// Window holds one window of the text, or all windows of one document if documents are the
// independent units.
type Window struct {
	// Window is the index of the first of them among the text's windows.
	Window int
	Terms
}

// Profile is a measured loss profile.
type Profile struct {
	// D is the number of free positions of every window.
	D int
	// Exact marks exact terms, whose draws are not a sample.
	Exact bool
	// Windows are in the order of the text. Their sums are rounded to the digits of a file.
	Windows []Window
}

// New returns a profile of windows with d free positions each, in the order of the text; they
// belong alternately to the two halves. It returns an error if there are fewer than [MinWindows]
// windows or more than [MaxPositions] positions.
func New(d int, exact bool, windows []Window) (*Profile, error) {
	p := &Profile{D: d, Exact: exact}
	for _, w := range windows {
		sums := make([]float64, len(w.Sums))
		for k, v := range w.Sums {
			sums[k] = digits(v)
		}
		p.Windows = append(p.Windows, Window{w.Window, Terms{w.Visible, w.Draws, sums}})
	}
	if err := p.check(); err != nil {
		return nil, fault.Errorf("profile", "%w", err)
	}
	return p, nil
}

// digits rounds to nine digits, more than a sum of float32 rows has.
func digits(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 8, 64), 64)
	if err != nil {
		return x
	}
	return v
}

// check returns an error if the profile is invalid.
func (p *Profile) check() error {
	if p.D < 1 || p.D > MaxPositions {
		return fmt.Errorf("%d free positions: must be in 1..%d", p.D, MaxPositions)
	}
	if len(p.Windows) < MinWindows {
		return fmt.Errorf("%d windows: must be at least %d", len(p.Windows), MinWindows)
	}
	last := -1
	for _, w := range p.Windows {
		if w.Window <= last {
			return fmt.Errorf("window %d after %d: must rise", w.Window, last)
		}
		if last = w.Window; w.check(p.D) != nil {
			return fmt.Errorf("window %d: %w", w.Window, w.check(p.D))
		}
	}
	for half, s := range p.All().halves() {
		if s.known == 0 {
			return fmt.Errorf("half %d: no count was drawn in two windows: score with more draws", half)
		}
	}
	return nil
}

// All returns the profile over all windows.
func (p *Profile) All() *Set { return newSet(p.D, p.Windows) }

// NonIncreasing returns the profile for schedules: the non-increasing profile of all windows, see
// [Set.NonIncreasing].
func (p *Profile) NonIncreasing() []float64 { return p.All().NonIncreasing() }
