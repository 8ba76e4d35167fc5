// Package verify compares the rows of a network with tensors that another
// implementation of it gave, and reports how far apart they are.
package verify

import (
	"encoding/json"
	"fmt"
	"math"
)

// DefaultLimit is the usual greatest difference: two correct float32 executions of
// a small network differ by about 1e-5, a wrong norm or activation by 1e-3 or more.
const DefaultLimit = 1e-4

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.verify/1"

// measure is how a report's JSON form calls its differences: |got − want|.
const measure = "abs"

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
	// Path says where: the tensor with its indices.
	Path string `json:"path"`
	Got  Number `json:"got"`
	Want Number `json:"want"`
}

// Item is the outcome for one tensor of a reference file.
type Item struct {
	Name string `json:"name"`
	// Measure is always "abs".
	Measure string `json:"measure"`
	// MaxAbsDiff is the largest |got − want|, and MaxDiff the same; null where one
	// was not finite.
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

func newComparison(name string, limit float64) *comparison {
	return &comparison{item: Item{Name: name, Measure: measure, Limit: limit, OK: true}}
}

// add compares one value. Equal infinities agree; any other value that is not
// finite is a breach. path is called for the worst value only.
func (c *comparison) add(got, want float64, path func() string) {
	c.item.Count++
	diff := math.Abs(got - want)
	if got == want {
		diff = 0
	}
	if !(diff <= c.item.Limit) { // false for NaN
		c.item.OK = false
	}
	if math.IsNaN(diff) {
		diff = math.Inf(1)
	}
	if !c.any || diff > float64(c.item.MaxDiff) {
		c.any = true
		c.item.MaxAbsDiff, c.item.MaxDiff = Number(diff), Number(diff)
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
