// Package suggest finds the name that a person may have meant.
package suggest

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// near is the minimum Jaro–Winkler similarity of a suggestion; 1 means equal.
const near = 0.84

// elsewhere maps the names in other programs, with - for _, to ours.
var elsewhere = map[string]string{
	"prompt": "prefix", "promt": "prefix", "gen-length": "length", "max-length": "length", "max-new-tokens": "length", "max-tokens": "length", "n-predict": "length",
	"num-steps": "steps", "diffusion-steps": "steps", "num-inference-steps": "steps",
	"length": "max_tokens", "num-samples": "n", "cfg": "guidance", "cfg-scale": "guidance", "checkpoint": "model", "ckpt": "model", "checkpoint-path": "model",
}

// Nearest returns the name for what other programs call typed, else the name most similar to typed,
// "" if none is near.
func Nearest(typed string, names []string) string {
	if name := elsewhere[strings.ReplaceAll(typed, "_", "-")]; slices.Contains(names, name) {
		return name
	}
	best, likeness := "", near
	for _, name := range names {
		a, b := strings.ToLower(typed), strings.ToLower(name)
		x := smetrics.JaroWinkler(a, b, 0.7, 4)
		if strings.HasPrefix(b, a[:min(1, len(a))]) && slices.Equal(letters(a), letters(b)) { // fsh for fhs, too short for the measure
			x = 1
		}
		if x >= likeness {
			best, likeness = name, x
		}
	}
	return best
}

// letters returns the sorted letters of a word.
func letters(word string) []rune { return slices.Sorted(slices.Values([]rune(word))) }

// Ending returns a suggestion of the word most similar to a text, as the end of a message, or "".
func Ending(text string, words []string) string {
	if near := Nearest(text, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
