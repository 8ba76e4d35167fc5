package oracle

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
)

// Measure says how a difference is compared with its limit.
type Measure string

const (
	// Absolute compares |got − want| with the limit.
	Absolute Measure = "abs"
	// Relative compares |got − want| / max(1, |want|) with the limit.
	Relative Measure = "rel"
)

// Worst is the value that is farthest from its reference.
type Worst struct {
	// Path says where: the field or tensor with its indices.
	Path      string
	Got, Want float64
}

// Item is the outcome for one quantity of a reference file.
type Item struct {
	Name    string
	Measure Measure
	// MaxDiff is the largest difference in the item's measure.
	MaxDiff, Limit float64
	Worst          Worst
	// Count is the number of values compared.
	Count int
	OK    bool
}

// Report is the outcome for a whole reference file.
type Report struct {
	OK    bool
	Items []Item
	// NotOffered is the number of laws in the file that are of samplers that the program
	// does not offer, and which nothing was compared with.
	NotOffered int
}

// comparison gathers an item value by value.
type comparison struct {
	item Item
	any  bool
}

func newComparison(name string, m Measure, limit float64) *comparison {
	return &comparison{item: Item{Name: name, Measure: m, Limit: limit, OK: true}}
}

// add compares one value. Equal infinities agree; any other value that is not
// finite is a breach. path is called for the worst value only.
func (c *comparison) add(got, want float64, path func() string) {
	c.item.Count++
	diff := math.Abs(got - want)
	if got == want {
		diff = 0
	}
	if c.item.Measure == Relative {
		diff /= max(1, math.Abs(want))
	}
	within := diff <= c.item.Limit // false for NaN
	if !within {
		c.item.OK = false
	}
	if math.IsNaN(diff) {
		diff = math.Inf(1)
	}
	if !c.any || diff > c.item.MaxDiff {
		c.any = true
		c.item.MaxDiff = diff
		c.item.Worst = Worst{Path: path(), Got: got, Want: want}
	}
}

// finish returns the item. Nothing compared is nothing verified.
func (c *comparison) finish() (Item, error) {
	if c.item.Count == 0 {
		return c.item, fmt.Errorf("%s: holds no values to compare", c.item.Name)
	}
	return c.item, nil
}

// inOrder goes through a map by its keys, so that of several faults the same is told
// every time.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
