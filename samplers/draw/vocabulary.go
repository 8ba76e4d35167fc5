package draw

import "slices"

// Vocabulary says what the columns of a network's rows are.
type Vocabulary struct {
	// Columns is the length of a row.
	Columns int
	// Mask is the id of MASK on a canvas. It may be Columns, where the network has no
	// column for it.
	Mask int
	// Excluded are columns that never get probability besides MASK: padding rows.
	Excluded []int
	// Shift says that the row of position i predicts the token at i+1.
	Shift bool
}

// Tokens is how many tokens the network can give, MASK and padding left out; 0 for a
// vocabulary that is not known.
func (v Vocabulary) Tokens() int {
	out := slices.DeleteFunc(append([]int{v.Mask}, v.Excluded...), func(x int) bool { return x < 0 || x >= v.Columns })
	slices.Sort(out)
	return v.Columns - len(slices.Compact(out))
}

// Holds says whether an id may stand on a canvas.
func (v *Vocabulary) Holds(id int) bool { return id == v.Mask || id >= 0 && id < v.Columns }
