// Package verify compares the rows of a network with tensors that another
// implementation of it gave, and reports how far apart they are.
package verify

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
)

// DefaultLimit is the usual greatest difference: two correct float32 executions of
// a small network differ by about 1e-5, a wrong norm or activation by 1e-3 or more.
const DefaultLimit = 1e-4

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

// Worst is the value that is farthest from its reference.
type Worst struct {
	// Path says where: the tensor with its indices.
	Path string          `json:"path"`
	Got  estimate.Number `json:"got"`
	Want estimate.Number `json:"want"`
}

// Item is the outcome for one quantity of a reference file, such as a tensor.
type Item struct {
	Name    string  `json:"name"`
	Measure Measure `json:"measure"`
	// MaxAbsDiff is the largest |got − want|, MaxDiff the largest difference in the item's
	// measure; infinite where a value was not finite.
	MaxAbsDiff estimate.Number `json:"max_abs_diff"`
	MaxDiff    estimate.Number `json:"max_diff"`
	Limit      float64         `json:"limit"`
	Worst      Worst           `json:"worst"`
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

// Comparison gathers an item value by value.
type Comparison struct {
	item Item
	any  bool
}

// NewComparison begins an item.
func NewComparison(name string, m Measure, limit float64) *Comparison {
	return &Comparison{item: Item{Name: name, Measure: m, Limit: limit, OK: true}}
}

// Add compares one value. Equal infinities agree; any other value that is not
// finite is a breach. path is called for the worst value only.
func (c *Comparison) Add(got, want float64, path func() string) {
	c.item.Count++
	apart := math.Abs(got - want)
	if got == want {
		apart = 0
	}
	diff := apart
	if c.item.Measure == Relative {
		diff /= max(1, math.Abs(want))
	}
	if !(diff <= c.item.Limit) { // false for NaN
		c.item.OK = false
	}
	if math.IsNaN(diff) {
		apart, diff = math.Inf(1), math.Inf(1)
	}
	c.item.MaxAbsDiff = max(c.item.MaxAbsDiff, estimate.Number(apart))
	if !c.any || diff > float64(c.item.MaxDiff) {
		c.any = true
		c.item.MaxDiff = estimate.Number(diff)
		c.item.Worst = Worst{Path: path(), Got: estimate.Number(got), Want: estimate.Number(want)}
	}
}

// Finish returns the item. Nothing compared is nothing verified.
func (c *Comparison) Finish() (Item, error) {
	if c.item.Count == 0 {
		return c.item, fmt.Errorf("%s: holds no values to compare", c.item.Name)
	}
	return c.item, nil
}
