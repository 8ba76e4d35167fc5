// Package suggest finds the name that a person may have meant.
package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// near is the minimum Jaro–Winkler similarity of a suggestion; 1 means equal.
const near = 0.84

// A Word is what a name in other programs means here: a name of ours and, for a value x there, the
// value here, in which %s stands for x.
type Word struct{ Name, Value string }

// elsewhere maps the names in other programs, with - for _. Those without a Value are only suggested.
var elsewhere = map[string]Word{
	"prompt": {"prefix", "%s"}, "p": {"prefix", "%s"}, "promt": {"prefix", ""},
	"gen-length": {"length", "+%s"}, "max-new-tokens": {"length", "+%s"}, "max-tokens": {"length", "+%s"}, "n-predict": {"length", "+%s"}, "max-gen-toks": {"length", "+%s"},
	"max-length": {"length", ""}, "length": {"max_tokens", ""},
	"num-steps": {"steps", "%s"}, "diffusion-steps": {"steps", "%s"}, "num-inference-steps": {"steps", "%s"}, "block-size": {"block-length", "%s"},
	"num-samples": {"n", "%s"}, "num-return-sequences": {"n", "%s"}, "batch-size": {"batch", "%s"}, "temp": {"temperature", "%s"}, "s": {"seed", "%s"},
	"cfg-scale": {"guidance", "%s"}, "cfg": {"guidance", ""},
	"checkpoint": {"model", "%s"}, "ckpt": {"model", "%s"}, "checkpoint-path": {"model", "%s"}, "model-path": {"model", "%s"}, "pretrained": {"model", "%s"}, "model-name-or-path": {"model", "%s"}, "m": {"model", "%s"},
	"t": {"threads", "%s"}, "port": {"listen", "127.0.0.1:%s"},
}

// Elsewhere returns the word for what other programs call typed, if it means one thing here.
func Elsewhere(typed string) (w Word, ok bool) {
	w = elsewhere[strings.ReplaceAll(typed, "_", "-")]
	return w, w.Value != ""
}

// Nearest returns the name for what other programs call typed, else the name most similar to typed,
// "" if none is near.
func Nearest(typed string, names []string) string {
	if w := elsewhere[strings.ReplaceAll(typed, "_", "-")]; slices.Contains(names, w.Name) {
		return w.Name
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

// Key returns the error for an unknown key of an object, with the most similar one of the keys and others, or
// with the keys; more ends their list. The message has _ for -.
func Key(typed string, keys []string, more string, others ...string) error {
	near := strings.ReplaceAll(Ending(typed, append(others, keys...)), "-", "_")
	return fmt.Errorf("unknown key %.40q%s", typed, cmp.Or(near, "; keys are "+strings.Join(keys, ", ")+more))
}
