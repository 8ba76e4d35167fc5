package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/estimate"
)

// Line is one statement.
type Line struct {
	// Name is short and stable, such as "theorem4"; Statement is the statement in words, with its
	// source in the paper.
	Name string `json:"name"`
	// About is the sampler with its N, or the T or δ, that the line is about, "" if that is only
	// the title of its name.
	About     string `json:"-"`
	Statement string `json:"statement"`
	// Left and Right are the two sides, in nats or in Unit; Gap is Right − Left.
	Left  Value  `json:"left"`
	Right Value  `json:"right"`
	Gap   Value  `json:"gap"`
	Unit  string `json:"unit"`
	Judgement
}

// Value is a number, exact or estimated. Lo and Hi equal Mean if it is exact.
type Value struct {
	estimate.Estimate
	Exact bool
	// Bound is "upper" or "lower" if the number is a bound on the named quantity.
	Bound string
}

// Exact returns a number without error.
func Exact(x float64) Value {
	return Value{Estimate: estimate.Estimate{Mean: x, Lo: x, Hi: x}, Exact: true}
}

// ValueForm is the JSON form of a value.
type ValueForm struct {
	Mean       estimate.Number  `json:"mean"`
	Lo         estimate.Number  `json:"lo"`
	Hi         estimate.Number  `json:"hi"`
	SE         *estimate.Number `json:"se,omitempty"`
	N          int              `json:"n,omitempty"`
	Confidence float64          `json:"confidence,omitempty"`
	Exact      bool             `json:"exact"`
	// Bound is "upper" or "lower" if the number is a bound on the named quantity.
	Bound string `json:"bound,omitempty"`
}

// MarshalJSON writes infinite numbers as "inf" and "-inf", and unknown ones as null.
func (v Value) MarshalJSON() ([]byte, error) {
	n := estimate.Number(math.NaN())
	form := ValueForm{n, n, n, nil, v.N, v.Confidence, v.Exact, v.Bound}
	if !math.IsNaN(v.Mean) {
		form.Mean, form.Lo, form.Hi = estimate.Number(v.Mean), estimate.Number(v.Lo), estimate.Number(v.Hi)
	}
	if se := estimate.Number(v.SE); v.SE != 0 && !math.IsInf(v.SE, 0) && !math.IsNaN(v.SE) {
		form.SE = &se
	}
	return json.Marshal(form)
}

// String returns the number, with the interval of an estimate if it has one.
func (v Value) String() string {
	if math.IsNaN(v.Mean) {
		return "–"
	}
	bound := map[string]string{"upper": "≤ ", "lower": "≥ "}[v.Bound]
	out := bound + infinite(v.Mean)
	switch {
	case v.Exact || math.IsInf(v.Mean, 0):
		return out
	case finite(v.Lo) && finite(v.Hi):
	case v.SE > 0 && finite(v.SE):
		return strings.ReplaceAll(bound+estimate.Digits(v.Mean, v.SE), "-", "−")
	default:
		return out + " (error not known)"
	}
	half := (v.Hi - v.Lo) / 2
	if digits := 1 - int(math.Floor(math.Log10(half))); half > 0 && digits >= 0 && digits <= 5 {
		// Show two digits of the uncertainty.
		return strings.ReplaceAll(fmt.Sprintf("%s%.*f [%.*f, %.*f]", bound, digits, v.Mean, digits, v.Lo, digits, v.Hi), "-", "−")
	}
	return fmt.Sprintf("%s%s [%s, %s]", bound, short(v.Mean, 3), short(v.Lo, 3), short(v.Hi, 3))
}

func infinite(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	}
	return label(x)
}

// mark returns one word for the kind of a line's verdict, for its colour.
func mark(l Line) string {
	switch {
	case !l.OK:
		return "violated"
	case l.Kind == NotJudged:
		return "none"
	case l.Kind == NotResolved:
		return "open"
	}
	return "holds"
}
