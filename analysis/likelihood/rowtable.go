package likelihood

import (
	"context"
	"math"
	"sync"
)

// MaxRowBytes is the greatest memory of the rows and mixed rows of one window, and
// maxRowFree the greatest number of free positions: a step of a grid takes 4^d products.
const (
	MaxRowBytes = 1 << 30
	maxRowFree  = 14
)

// RowTable is a Table with the whole rows, which a fill that mixes the rows of two
// calls needs: its mixture is normalised over the vocabulary. It may be shared.
type RowTable struct {
	*Table
	fixed
	// rows[(i·2^(D−1)+without(A,i))·words:] are those of μ^i(· | x_A).
	rows []uint64

	// kept holds mixtures of pairs of these rows, which laws of one weight and floor share.
	mutex sync.Mutex
	kept  map[mixture]*mixes
}

// mixture names mixtures; first says that they are those whose set before is empty.
type mixture struct {
	w, floor float64
	first    bool
}

// mixes returns the mixtures of a weight and floor, worked out once.
func (t *RowTable) mixes(tilt []float64, of mixture) *mixes {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	all := of
	all.first = false
	for _, key := range []mixture{all, of} {
		if m := t.kept[key]; m != nil {
			return m
		}
	}
	m := newMixes(t, t, tilt, of.w, of.floor, of.first)
	if t.kept == nil {
		t.kept = make(map[mixture]*mixes)
	}
	t.kept[of] = m
	return m
}

// RowBytes is the memory of a RowTable over d free positions with the mixed rows that
// the recursions keep: 2^d·d/2 rows of 8 bytes a column, 4 for more than 256 columns, and
// 3^(d−1)·d numbers.
func RowBytes(d, columns int) float64 {
	return 8 * float64(d) * (math.Ldexp(float64(newFixed(columns).words()), d-1) + math.Pow(3, float64(d-1)))
}

// checkRows refuses what is too large, for a number of tables at a time.
func checkRows(d, columns, tables int) error {
	bytes := func(d int) float64 { return RowBytes(d, columns) * float64(tables) }
	if d <= maxRowFree && bytes(d) <= MaxRowBytes {
		return nil
	}
	most := min(d, maxRowFree)
	for most > 0 && bytes(most) > MaxRowBytes {
		most--
	}
	return &TooLargeError{Free: d, Rows: math.Ldexp(1, d), Bytes: bytes(d), Most: most}
}

// without drops the element i from the universe of a set that does not hold it.
func without(set, i int) int { return set&(1<<i-1) | set>>(i+1)<<i }

// row is that of μ^i(·|x_A), i outside A.
func (t *RowTable) row(a, i int) []uint64 {
	n := t.words()
	at := (i<<(t.D-1) + without(a, i)) * n
	return t.rows[at : at+n : at+n]
}

// RowTable asks for the whole rows of all subsets of a window, each once. The network
// must not be time-conditioned. What takes more than [MaxRowBytes], or more than 14
// free positions, is refused with a [TooLargeError].
func (e *Evaluator) RowTable(ctx context.Context, t Target, mass bool) (*RowTable, error) {
	if err := e.timeFree(); err != nil {
		return nil, err
	}
	return e.rowTableAt(ctx, t, mass, nil, func(int) float64 { return 1 })
}

// rowTableAt asks for a subset that leaves n masked at the masked fraction lambda(n),
// into the memory of a table that is no longer used, or nil.
func (e *Evaluator) rowTableAt(ctx context.Context, t Target, mass bool, into *RowTable, lambda func(masked int) float64) (*RowTable, error) {
	d, v := len(t.Free), e.facts.Columns
	if err := checkRows(d, v, 1); err != nil {
		return nil, err
	}
	table, err := e.newTable(&t, mass)
	if err != nil {
		return nil, err
	}
	out := &RowTable{Table: table, fixed: newFixed(v)}
	if size := d << (d - 1) * out.words(); into != nil && cap(into.rows) >= size {
		out.rows = into.rows[:size]
	} else {
		out.rows = make([]uint64, size)
	}
	asks := table.asks(nil, &t, lambda)
	for a := range asks {
		// Wanted are the positions outside the set a, in order.
		outside := make([]int, 0, d)
		for i := range d {
			if a>>i&1 == 0 {
				outside = append(outside, i)
			}
		}
		asks[a].whole = func(j int, p []float64) {
			out.put(out.row(a, outside[j]), p)
		}
	}
	if err := e.Eval(ctx, asks); err != nil {
		return nil, err
	}
	table.settle()
	return out, nil
}
