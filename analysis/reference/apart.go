package reference

import (
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
)

const (
	// leak is how many tokens in a row a text shares with another by copying alone: none of
	// 3,000 runs of 24 tokens of a book of fairy tales is in 23 others, 1 of as many of 16
	// tokens, 14 of 10.
	leak = 24
	// phrase is from how many tokens on a window that occurs elsewhere is no accident where
	// most windows do.
	phrase = 8
)

// Apart counts the windows that occur in the training text, and refuses a text that was not
// held out: of which 24 tokens in a row are in the training text, the windows of a document
// being taken as one after the other, or more than half of the windows of 8 tokens and more.
// Shorter windows are in other texts by chance, as stock phrases. document has a number for
// each window.
func (g *NGram) Apart(windows []likelihood.Target, document []int) (shared int, err error) {
	var texts, runs [][]int
	long := 0
	for i, w := range windows {
		if texts = append(texts, w.IDs); len(w.IDs) >= phrase {
			long++
		}
		if n := len(runs); i > 0 && document[i] == document[i-1] {
			runs[n-1] = append(runs[n-1], w.IDs...)
		} else {
			runs = append(runs, append([]int(nil), w.IDs...))
		}
	}
	var pieces [][]int
	for _, run := range runs {
		for from := 0; from+leak <= len(run); from += leak {
			pieces = append(pieces, run[from:from+leak])
		}
	}
	for _, w := range windows {
		if len(w.IDs) >= leak {
			pieces = append(pieces, w.IDs[:leak])
		}
	}
	held := g.Holds(texts)
	longHeld := 0
	for _, i := range held {
		if len(windows[i].IDs) >= phrase {
			longHeld++
		}
	}
	if n := len(g.Holds(pieces)); n > 0 || 2*longHeld > long {
		return len(held), fault.Errorf("reference", "%d of %d windows, and %d of %d runs of %d tokens, occur in the training text: a bound needs a text that was kept apart from it", len(held), len(windows), n, len(pieces), leak)
	}
	return len(held), nil
}
