package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// Sizes divides positions into groups, each revealed by one call. It may be shared by goroutines.
type Sizes struct {
	// list is the list of sizes. If it is nil, positions are divided into steps groups along a
	// curve.
	list  []int
	curve GridKind
	steps int
}

// ListSizes returns the given sizes, each at least 1.
func ListSizes(list []int) Sizes { return Sizes{list: list} }

// ParseSizes parses the sizes of groups: "equal", "cos2" or "cosine", for which it returns the
// curve, or a list such as "4,2,1". "" is equal.
func ParseSizes(text string) (curve GridKind, list []int, err error) {
	switch text {
	case "", "equal":
		return GridLambda, nil, nil
	case string(GridCos2), string(GridCosine):
		return GridKind(text), nil, nil
	}
	if list = parseInts(text, 1); list == nil {
		err = fault.Errorf("schedule", "sizes %.40q: must be equal, cos2, cosine or a list of whole numbers of at least 1", text)
	}
	return "", list, err
}

// NewSizes returns the sizes of n groups, or of d groups of one for fewer than n positions, along a
// curve: [GridLambda], [GridCos2] or [GridCosine].
func NewSizes(curve GridKind, n int) Sizes { return Sizes{curve: curve, steps: n} }

// Of returns the sizes of the groups of d positions, which must not be changed. It returns an error
// if a list does not sum to d.
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
			return nil, fmt.Errorf("sizes sum to %d: must sum to the canvas's %d free positions", sum, d)
		}
		return s.list, nil
	}
	return CurveSizes(s.curve, d, s.steps), nil
}

// CurveSizes returns the sizes of min(n, d) groups of d positions along a curve: [GridLambda]
// (equal), [GridCos2] or [GridCosine]. A group ends at the rounded number d(1−λ) of positions that
// are due, but has at least one and leaves enough for the later groups. Equal sizes round the
// number due down, so that early groups, which see few positions, are never larger than later ones.
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

// Order names an order in which positions are revealed, one per call.
type Order string

// The orders.
const (
	LeftToRight Order = "left-to-right" // by ascending position
	RightToLeft Order = "right-to-left" // by descending position
	// RandomOrder is uniform over all orders: the order of FHS with the same seed.
	RandomOrder Order = "random"
	// ListedOrder is a list of positions.
	ListedOrder Order = "list"
)

// ParseOrder parses "left-to-right", "right-to-left" or "random", or a list of distinct positions
// such as "3,0,1". "" is left-to-right.
func ParseOrder(text string) (order Order, list []int, err error) {
	switch order = Order(text); order {
	case "":
		return LeftToRight, nil, nil
	case LeftToRight, RightToLeft, RandomOrder:
		return order, nil, nil
	}
	if list = parseInts(text, 0); list == nil {
		return "", nil, fault.Errorf("schedule", "order %.40q: must be left-to-right, right-to-left, random or a list of positions, whole numbers of at least 0", text)
	}
	sorted := slices.Sorted(slices.Values(list))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return "", nil, fault.Errorf("schedule", "order: position %d appears twice", sorted[i])
		}
	}
	return ListedOrder, list, nil
}

// parseInts parses a list such as "3,1,2" of numbers of at least least. It returns nil for other texts.
func parseInts(text string, least int) (out []int) {
	for _, item := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < least || n > math.MaxInt32 {
			return nil
		}
		out = append(out, n)
	}
	return out
}
