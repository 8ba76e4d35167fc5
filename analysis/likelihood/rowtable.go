package likelihood

import (
	"context"
	"math"
)

// maxRowBytes limits the memory of the rows and mixtures of one window, and maxRowFree the number
// of free positions: a step of a grid takes 4^d products.
const (
	maxRowBytes = 1 << 30
	maxRowFree  = 14
)

// rowTable is a Table with whole rows, for fills that mix the rows of two calls: a mixture is
// normalised over the vocabulary.
type rowTable struct {
	*Table
	columns int
	// rows[(i·2^(D−1)+without(A,i))·columns:] are the probabilities μ^i(· | x_A).
	rows []float64
	// mixed caches the mixtures of these rows on all pairs of sets, by weight and floor.
	mixed map[[2]float64]*mixes
}

// rowBytes returns the memory of a rowTable over d free positions and its mixtures: 2^d·d/2 rows
// and 3^(d−1)·d numbers.
func rowBytes(d, columns int) float64 {
	return 8 * float64(d) * (math.Ldexp(float64(columns), d-1) + math.Pow(3, float64(d-1)))
}

// checkRows returns an error if a number of tables together is too large.
func checkRows(d, columns, tables int) error {
	bytes := func(d int) float64 { return rowBytes(d, columns) * float64(tables) }
	if d <= maxRowFree && bytes(d) <= maxRowBytes {
		return nil
	}
	most := min(d, maxRowFree)
	for most > 0 && bytes(most) > maxRowBytes {
		most--
	}
	return &TooLargeError{Free: d, Rows: math.Ldexp(1, d), Bytes: bytes(d), Most: most}
}

// without renumbers the elements of a set that does not hold i as if i did not exist.
func without(set, i int) int { return set&(1<<i-1) | set>>(i+1)<<i }

// row returns μ^i(·|x_A), i outside A.
func (t *rowTable) row(a, i int) []float64 {
	at := (i<<(t.D-1) + without(a, i)) * t.columns
	return t.rows[at : at+t.columns : at+t.columns]
}

// wholeRows computes the whole rows of all subsets of a window, each once; a subset that leaves n
// positions masked uses the masked fraction lambda(n). The rows are stored in one of two memories
// and valid until its next use.
func (e *Evaluator) wholeRows(ctx context.Context, t Target, mass bool, memory int, lambda func(masked int) float64) (*rowTable, error) {
	d, v := len(t.Free), e.facts.Columns
	if err := checkRows(d, v, 1); err != nil {
		return nil, err
	}
	table, err := e.newTable(&t, mass)
	if err != nil {
		return nil, err
	}
	e.whole[memory] = grown(e.whole[memory], d<<(d-1)*v)
	out := &rowTable{Table: table, columns: v, rows: e.whole[memory]}
	asks := table.asks(nil, &t, lambda)
	for a := range asks {
		outside := table.outside(a)
		asks[a].Whole = func(j int, p []float64) { copy(out.row(a, outside[j]), p) }
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	table.settle()
	return out, nil
}
