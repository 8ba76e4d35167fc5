package layer

import (
	"math"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

// Rules determine which tokens may not be drawn at a position, given the visible ones. The rest of
// the row is normalised again.
type Rules struct {
	// words lists sequences of tokens that must not occur.
	words [][]int
	// end must not be drawn at the first least free positions.
	least, end int
}

// NewRules bans words, given as ids separated by blanks with commas between words, and the token
// stop at the first least free positions. It returns nil if there is neither.
func NewRules(words string, least int, stop *int, columns int) (*Rules, error) {
	if words == "" && least == 0 {
		return nil, nil
	}
	r := &Rules{least: least}
	switch {
	case stop != nil:
		r.end = *stop
	case least > 0:
		return nil, fault.Errorf("samplers", "min-length %d: give stop too, the id of the token that must not come too early", least)
	}
	for _, text := range strings.Split(words, ",") {
		if text = strings.Join(strings.Fields(text), ","); words == "" {
			break
		} else if text == "" {
			return nil, fault.Errorf("samplers", "bad-words-ids %.40q: a word without tokens: separate the ids of a word by blanks, and words by commas", words)
		}
		word, err := draw.IDs("bad-words-ids", text, columns)
		if err != nil {
			return nil, err
		}
		r.words = append(r.words, word)
	}
	return r, nil
}

// early returns the position before which the end must not be drawn, on a canvas of length
// positions, which may grow.
func (r *Rules) early(free []int, length int) int {
	switch {
	case r == nil || r.least == 0:
		return 0
	case r.least <= len(free):
		return free[r.least-1] + 1
	}
	return length + r.least - len(free)
}

// forbid removes from a row the tokens that may not be drawn at a position of a canvas.
func (r *Rules) forbid(row draw.Row, ids []int64, position, early int) {
	never := math.Inf(-1)
	if position < early {
		row.Set(r.end, never)
	}
	for _, word := range r.words {
		for j, token := range word {
			if occurs(ids, word, position-j, position) {
				row.Set(token, never)
			}
		}
	}
}

// completes reports whether a token at a position completes a word.
func (r *Rules) completes(ids []int64, position, token int) bool {
	for _, word := range r.words {
		for j := range word {
			if word[j] == token && occurs(ids, word, position-j, position) {
				return true
			}
		}
	}
	return false
}

// occurs reports whether a word is on the canvas at position from, ignoring the position but.
func occurs(ids []int64, word []int, from, but int) bool {
	if from < 0 || from+len(word) > len(ids) {
		return false
	}
	for i, token := range word {
		if from+i != but && int(ids[from+i]) != token {
			return false
		}
	}
	return true
}
