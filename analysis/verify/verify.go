// Package verify recomputes the numbers of a reference file and reports how far
// apart they are: tensors of a network with an open model, exact laws and step counts
// from the file alone. A reference file is one kind of several, recognised by its
// content; each kind turns itself into items, and the report does not know which kind
// they came from.
package verify

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
)

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.verify/1"

// Measure says how a difference is compared with its limit.
type Measure string

const (
	// Absolute compares |got − want| with the limit.
	Absolute Measure = "abs"
	// Relative compares |got − want| / max(1, |want|) with the limit.
	Relative Measure = "rel"
)

// Number is a float64 whose JSON form is null where it is not finite.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Worst is the value that is farthest from its reference.
type Worst struct {
	// Path says where: the field or tensor with its indices.
	Path string `json:"path"`
	Got  Number `json:"got"`
	Want Number `json:"want"`
}

// Item is the outcome for one quantity of a reference file.
type Item struct {
	Name    string  `json:"name"`
	Measure Measure `json:"measure"`
	// MaxAbsDiff is the largest |got − want|, MaxDiff the largest difference in
	// the item's measure; null where one was not finite.
	MaxAbsDiff Number  `json:"max_abs_diff"`
	MaxDiff    Number  `json:"max_diff"`
	Limit      float64 `json:"limit"`
	Worst      Worst   `json:"worst"`
	// Count is the number of values compared.
	Count int  `json:"count"`
	OK    bool `json:"ok"`
}

// Report is the outcome for a whole reference file.
type Report struct {
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	Items  []Item `json:"items"`
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
	abs := math.Abs(got - want)
	if got == want {
		abs = 0
	}
	diff := abs
	if c.item.Measure == Relative {
		diff = abs / max(1, math.Abs(want))
	}
	within := diff <= c.item.Limit // false for NaN
	if !within {
		c.item.OK = false
	}
	if math.IsNaN(diff) {
		abs, diff = math.Inf(1), math.Inf(1)
	}
	c.item.MaxAbsDiff = max(c.item.MaxAbsDiff, Number(abs))
	if !c.any || diff > float64(c.item.MaxDiff) {
		c.any = true
		c.item.MaxDiff = Number(diff)
		c.item.Worst = Worst{Path: path(), Got: Number(got), Want: Number(want)}
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
