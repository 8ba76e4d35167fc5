package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// Settings configure how a token is drawn from a row. The zero value draws from the network's
// distribution; any other value changes the law. Temperature is applied first, then top-k, then
// top-p to the tokens that top-k kept.
type Settings struct {
	// Temperature divides the logits; nil is 1. 0 selects the greatest logit, and the lowest id
	// among equals.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopK keeps the K most probable tokens; 0 keeps all.
	TopK int `json:"top_k,omitempty"`
	// TopP keeps the smallest set of most probable tokens whose probability reaches it, including
	// the token that crosses it; 0 and 1 keep all.
	TopP float64 `json:"top_p,omitempty"`
	// SuppressTokens is a list of ids that are never drawn. The rest of each row is normalised, so
	// the law becomes that of another network.
	SuppressTokens string `json:"suppress_tokens,omitempty"`
}

// Within returns d for a network with the given number of drawable tokens, or 0 if it is unknown: a
// top-k that keeps all of them becomes 0.
func (d Settings) Within(tokens int) Settings {
	if tokens > 0 && d.TopK >= tokens {
		d.TopK = 0
	}
	return d
}

// ChangesLaw reports whether tokens are drawn from another distribution than the network's own.
func (d Settings) ChangesLaw() bool {
	return d.AtTemperature() != 1 || d.Truncates() || d.SuppressTokens != ""
}

// Truncates reports whether tokens are excluded by their probabilities.
func (d Settings) Truncates() bool { return d.TopK > 0 || d.TopP > 0 && d.TopP < 1 }

// Same reports whether d and o draw in the same way: temperature 1, for example, is the same as nil.
func (d Settings) Same(o Settings) bool {
	return d.AtTemperature() == o.AtTemperature() && cmp.Or(d.TopP, 1) == cmp.Or(o.TopP, 1) && d.TopK == o.TopK && d.SuppressTokens == o.SuppressTokens
}

// AtTemperature returns the temperature in effect.
func (d Settings) AtTemperature() float64 {
	if d.Temperature != nil {
		return *d.Temperature
	}
	return 1
}

// Validate returns all errors, joined.
func (d Settings) Validate() error {
	var errs []error
	if t := d.Temperature; t != nil && (!(*t >= 0) || math.IsInf(*t, 1)) {
		errs = append(errs, fault.Errorf("draw", "temperature is %v: must be finite and at least 0", *t))
	}
	if d.TopK < 0 {
		errs = append(errs, fault.Errorf("draw", "top-k is %d: must be at least 1, or 0 for all", d.TopK))
	}
	if !(d.TopP >= 0 && d.TopP <= 1) {
		errs = append(errs, fault.Errorf("draw", "top-p is %v: must be in 0..1", d.TopP))
	}
	if _, err := d.suppressed(0); err != nil {
		errs = append(errs, err)
	}
	return fault.Join("draw", errs...)
}

// suppressed returns the ids of SuppressTokens; columns is 0 if unknown.
func (d Settings) suppressed(columns int) ([]int, error) {
	return IDs("suppress-tokens", d.SuppressTokens, columns)
}

// IDs parses a list of ids such as "3,1,2", for a vocabulary with the given number of columns, or 0
// if it is unknown. "" is the empty list. name is the option's name, for errors.
func IDs(name, text string, columns int) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var ids []int
	for _, item := range strings.Split(text, ",") {
		id, err := strconv.Atoi(strings.TrimSpace(item))
		switch {
		case err != nil || id < 0 || id > math.MaxInt32:
			return nil, fault.Errorf("draw", "%s: must be a list of ids: %.40q is not a whole number of at least 0", name, item)
		case columns > 0 && id >= columns:
			return nil, fault.Errorf("draw", "%s: id %d: must be in 0..%d", name, id, columns-1)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Vocabulary describes the columns of a network's rows.
type Vocabulary struct {
	// Columns is the length of a row.
	Columns int
	// Mask is the id of MASK on a canvas. It may equal Columns, if the network has no column for it.
	Mask int
	// Excluded lists the columns, besides MASK, that never have probability: padding rows.
	Excluded []int
	// Shift reports whether the row of position i predicts the token at i+1.
	Shift bool
}

// Tokens returns the number of tokens that can be drawn, without MASK and padding; it is 0 for an
// unknown vocabulary.
func (v Vocabulary) Tokens() int {
	out := slices.DeleteFunc(append([]int{v.Mask}, v.Excluded...), func(x int) bool { return x < 0 || x >= v.Columns })
	slices.Sort(out)
	return v.Columns - len(slices.Compact(out))
}

// Holds reports whether an id may occur on a canvas.
func (v *Vocabulary) Holds(id int) bool { return id == v.Mask || id >= 0 && id < v.Columns }
