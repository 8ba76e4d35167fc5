package flags

import "github.com/xrash/smetrics"

// near is the least likeness of a suggestion, by Jaro and Winkler, 1 being the same word.
const near = 0.84

// Nearest is the name that is most like what was typed, "" where none is near.
func Nearest(typed string, names []string) string {
	best, likeness := "", near
	for _, name := range names {
		if x := smetrics.JaroWinkler(typed, name, 0.7, 4); x >= likeness {
			best, likeness = name, x
		}
	}
	return best
}
