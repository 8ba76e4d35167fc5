package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mdmgen/internal/fault"
)

// Sizes is how positions are cut into groups, of which each is revealed by one call. It may be
// shared by goroutines.
type Sizes struct {
	// list is the list of sizes; where it is nil, positions are cut into steps groups by a
	// curve, or as the loss profile has it.
	list    []int
	curve   GridKind
	steps   int
	profile []float64
	// known holds the sizes by number of positions, [int][]int.
	known *sync.Map
}

// ListSizes are given sizes, each at least 1.
func ListSizes(list []int) Sizes { return Sizes{list: list} }

// ParseSizes reads the sizes of groups: "equal", "cos2", "cosine" or "profile", whose curve it
// returns, or a list, "4,2,1"; "" is equal.
func ParseSizes(text string) (curve GridKind, list []int, err error) {
	switch text {
	case "", "equal":
		return GridLambda, nil, nil
	case string(GridCos2), string(GridCosine), string(GridProfile):
		return GridKind(text), nil, nil
	}
	if list, err = parseInts(text, 1); err != nil {
		err = fault.Errorf("schedule", "sizes %q: must be equal, cos2, cosine, profile or a list of sizes: %w", text, err)
	}
	return "", list, err
}

// NewSizes are those of n groups, or of a group a position where there are fewer, along a curve
// ([GridLambda], [GridCos2] or [GridCosine]), or those of least cost ([GridProfile]) for a loss
// profile in nats, stretched to other numbers of positions: see [BestSizes]. It is an error when
// nothing can be chosen by the profile.
func NewSizes(curve GridKind, n int, profile []float64) (Sizes, error) {
	s := Sizes{curve: curve, steps: n, profile: slices.Clone(profile), known: new(sync.Map)}
	if curve == GridProfile {
		return s, checkProfile(profile)
	}
	return s, nil
}

// Of returns the sizes of the groups of d positions. They must not be changed. It is an error when
// a list does not sum to d. The zero Sizes has none: make them by [NewSizes] or [ListSizes].
func (s Sizes) Of(d int) ([]int, error) {
	switch {
	case d == 0:
		return nil, nil
	case s.list != nil:
		sum := 0
		for _, n := range s.list {
			sum += n
		}
		if sum != d {
			return nil, fmt.Errorf("sizes sum to %d: a canvas with %d free positions needs just as many", sum, d)
		}
		return s.list, nil
	}
	if known, ok := s.known.Load(d); ok {
		return known.([]int), nil
	}
	var sizes []int
	if s.curve == GridProfile {
		sizes, _ = BestSizes(stretch(s.profile, d), s.steps)
	} else {
		sizes = CurveSizes(s.curve, d, s.steps)
	}
	s.known.Store(d, sizes)
	return sizes, nil
}

// stretch takes a loss profile to another number of free positions: the loss is a
// function of the visible fraction j/(d−1), linear between the counts that are known.
func stretch(c []float64, d int) []float64 {
	if d == len(c) {
		return c
	}
	out := make([]float64, d)
	for j := range out {
		if d == 1 || len(c) == 1 {
			out[j] = c[0]
			continue
		}
		at, inside := math.Modf(float64(j) * float64(len(c)-1) / float64(d-1))
		i := min(int(at), len(c)-2)
		inside += at - float64(i)
		out[j] = c[i] + inside*(c[i+1]-c[i])
	}
	return out
}

// CurveSizes returns the sizes of n groups of d positions along a curve: [GridLambda]
// (equal), [GridCos2] or [GridCosine]. There are min(n, d) of them. A group ends at the number
// d(1−λ) of positions that are due, rounded, but has at least one and leaves enough for the
// groups to come. Equal sizes round the number due down: early groups, where little is known,
// are never the larger ones.
func CurveSizes(kind GridKind, d, n int) []int {
	sizes := make([]int, min(n, d))
	at := 0
	for i := range sizes {
		due := (i + 1) * d / len(sizes)
		if kind != GridLambda {
			due = int(math.Round(float64(d) * (1 - curve(kind, i+1, len(sizes)))))
		}
		end := min(max(due, at+1), d-(len(sizes)-1-i))
		sizes[i], at = end-at, end
	}
	return sizes
}

// Order names an order in which positions are revealed, one a call.
type Order string

// The orders.
const (
	LeftToRight Order = "left-to-right"
	RightToLeft Order = "right-to-left"
	// RandomOrder is uniform over all orders: that of FHS with the same seed.
	RandomOrder Order = "random"
	// ListedOrder is given position by position.
	ListedOrder Order = "list"
)

// ParseOrder reads "left-to-right", "right-to-left" or "random", or a list of positions,
// "3,0,1", each at most once; "" is left-to-right.
func ParseOrder(text string) (order Order, list []int, err error) {
	switch order = Order(text); order {
	case "":
		return LeftToRight, nil, nil
	case LeftToRight, RightToLeft, RandomOrder:
		return order, nil, nil
	}
	if list, err = parseInts(text, 0); err != nil {
		return "", nil, fault.Errorf("schedule", "order %q: must be left-to-right, right-to-left, random or a list of positions: %w", text, err)
	}
	sorted := slices.Sorted(slices.Values(list))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return "", nil, fault.Errorf("schedule", "order: position %d appears twice", sorted[i])
		}
	}
	return ListedOrder, list, nil
}

// parseInts reads "3,1,2", each at least least.
func parseInts(text string, least int) ([]int, error) {
	var out []int
	for _, item := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < least || n > math.MaxInt32 {
			return nil, fmt.Errorf("%.40q is not a whole number of at least %d", item, least)
		}
		out = append(out, n)
	}
	return out, nil
}
