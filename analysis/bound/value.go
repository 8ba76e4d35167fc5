package bound

import (
	"encoding/json"
	"math"

	"mdmgen/analysis/estimate"
)

// exactValue is a number without error.
func exactValue(x float64) Value { return Value{Mean: x, Lo: x, Hi: x, Exact: true} }

// MarshalJSON writes infinite numbers as "inf" and "-inf", and null for what is not known.
func (v Value) MarshalJSON() ([]byte, error) {
	n := estimate.Number(math.NaN())
	form := struct {
		Mean       estimate.Number  `json:"mean"`
		Lo         estimate.Number  `json:"lo"`
		Hi         estimate.Number  `json:"hi"`
		SE         *estimate.Number `json:"se,omitempty"`
		N          int              `json:"n,omitempty"`
		Confidence float64          `json:"confidence,omitempty"`
		Exact      bool             `json:"exact"`
		Bound      string           `json:"bound,omitempty"`
	}{n, n, n, nil, v.N, v.Confidence, v.Exact, v.Bound}
	if !math.IsNaN(v.Mean) {
		form.Mean, form.Lo, form.Hi = estimate.Number(v.Mean), estimate.Number(v.Lo), estimate.Number(v.Hi)
	}
	if se := estimate.Number(v.SE); v.SE != 0 && !math.IsInf(v.SE, 0) && !math.IsNaN(v.SE) {
		form.SE = &se
	}
	return json.Marshal(form)
}
