package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

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
