// Package verify compares the rows of a network with tensors from another implementation, or with
// the rows of another network, and reports the differences.
package verify

import (
	"fmt"
	"math"

	"mdmgen/analysis/estimate"
	"mdmgen/model/checkpoint"
)

// DefaultLimit is the usual limit of a difference: two correct float32 executions of a small
// network differ by about 1e-5, a wrong norm or activation causes 1e-3 or more.
const DefaultLimit = 1e-4

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.verify/1"

// Measure selects how a difference is compared with its limit.
type Measure string

const (
	// Absolute compares |got − want| with the limit.
	Absolute Measure = "abs"
	// Relative compares |got − want| / max(1, |want|) with the limit.
	Relative Measure = "rel"
)

// Worst is the value farthest from its reference.
type Worst struct {
	// Path is its place: the tensor with its indices.
	Path string          `json:"path"`
	Got  estimate.Number `json:"got"`
	Want estimate.Number `json:"want"`
}

// Item is the result for one quantity of a reference file, such as a tensor.
type Item struct {
	Name    string  `json:"name"`
	Measure Measure `json:"measure"`
	// MaxAbsDiff is the largest |got − want|, MaxDiff the largest difference in the item's measure;
	// infinite if a value was not finite.
	MaxAbsDiff estimate.Number `json:"max_abs_diff"`
	MaxDiff    estimate.Number `json:"max_diff"`
	Limit      float64         `json:"limit"`
	Worst      Worst           `json:"worst"`
	// Count is the number of values compared.
	Count int  `json:"count"`
	OK    bool `json:"ok"`
	// Widened counts values that pass only by the spacing of stored numbers, which MaxDiff and
	// Worst exclude. It is nil if there are none.
	Widened *Widened `json:"widened,omitempty"`
}

// Widened describes values that differ from their reference by more than the limit, but by no more
// than the limit plus one spacing of the reference's stored type, where that spacing exceeds the
// limit: around −1e6 those of float32 are 0.0625 apart.
type Widened struct {
	Count int              `json:"count"`
	Dtype checkpoint.Dtype `json:"dtype"`
	// Spacing is the largest spacing at one of the values.
	Spacing float64 `json:"spacing"`
}

// Report is the result for a whole reference file.
type Report struct {
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	Items  []Item `json:"items"`
}

// Comparison collects the values of an item.
type Comparison struct {
	item Item
	any  bool
	// dtype is the stored type of the reference; "" if its spacing is ignored.
	dtype checkpoint.Dtype
}

// NewComparison starts an item.
func NewComparison(name string, m Measure, limit float64) *Comparison {
	return &Comparison{item: Item{Name: name, Measure: m, Limit: limit, OK: true}}
}

// Add compares one value. Equal infinities agree; any other nonfinite value is a failure. path is
// called only for values that become the worst.
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
		if s := spacing(c.dtype, want); s > c.item.Limit && apart <= c.item.Limit+s {
			c.widen(apart, s)
			return
		}
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

// widen counts a value that passes by the spacing of its stored type.
func (c *Comparison) widen(apart, spacing float64) {
	w := c.item.Widened
	if w == nil {
		w = &Widened{Dtype: c.dtype}
		c.item.Widened = w
	}
	w.Count++
	w.Spacing = max(w.Spacing, spacing)
	c.item.MaxAbsDiff = max(c.item.MaxAbsDiff, estimate.Number(apart))
}

// spacing returns the distance from x to the next number away from 0 in a type, 0 if x is 0 or not
// finite, or the type has no known spacing.
func spacing(d checkpoint.Dtype, x float64) float64 {
	digits, ok := map[checkpoint.Dtype]int{checkpoint.F32: 23, checkpoint.F16: 10, checkpoint.BF16: 7}[d]
	if !ok || x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-1-digits)
}

// Finish returns the item. It returns an error if no value was compared.
func (c *Comparison) Finish() (Item, error) {
	if c.item.Count == 0 {
		return c.item, fmt.Errorf("%s: holds no values to compare", c.item.Name)
	}
	return c.item, nil
}
