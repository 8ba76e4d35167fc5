package flags

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// near is the least likeness of a suggestion, by Jaro and Winkler, 1 being the same word.
const near = 0.84

// elsewhere has names of other programs, with _ as -, and ours of the same thing.
var elsewhere = map[string]string{
	"prompt": "prefix", "promt": "prefix", "gen-length": "length", "max-length": "length", "max-new-tokens": "length", "max-tokens": "length", "n-predict": "length",
	"num-steps": "steps", "diffusion-steps": "steps", "num-inference-steps": "steps",
	"num-samples": "n", "cfg": "guidance", "cfg-scale": "guidance", "checkpoint": "model", "ckpt": "model", "checkpoint-path": "model",
}

// Nearest is the name that means what another program calls so, else the one that is most like
// what was typed, "" where none is near.
func Nearest(typed string, names []string) string {
	if name := elsewhere[strings.ReplaceAll(typed, "_", "-")]; slices.Contains(names, name) {
		return name
	}
	best, likeness := "", near
	for _, name := range names {
		if x := smetrics.JaroWinkler(strings.ToLower(typed), strings.ToLower(name), 0.7, 4); x >= likeness {
			best, likeness = name, x
		}
	}
	return best
}
