package bound

import (
	"encoding/json"
	"math"
)

// exactValue is a number without error.
func exactValue(x float64) Value { return Value{Mean: x, Lo: x, Hi: x, Exact: true} }

// MarshalJSON writes infinite and undefined numbers as null.
func (v Value) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mean       *float64 `json:"mean"`
		Lo         *float64 `json:"lo"`
		Hi         *float64 `json:"hi"`
		SE         *float64 `json:"se,omitempty"`
		N          int      `json:"n,omitempty"`
		Confidence float64  `json:"confidence,omitempty"`
		Exact      bool     `json:"exact"`
		Bound      string   `json:"bound,omitempty"`
	}{number(v.Mean), number(v.Lo), number(v.Hi), errorOf(v), v.N, v.Confidence, v.Exact, v.Bound})
}

// errorOf is a value's standard error, nil where it is exact or not known.
func errorOf(v Value) *float64 {
	if v.SE == 0 {
		return nil
	}
	return number(v.SE)
}

func number(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
