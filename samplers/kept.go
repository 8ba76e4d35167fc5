package samplers

import (
	"errors"
	"fmt"
	"slices"
)

// checkKept returns an error for a row whose keys and values are not available.
func (e *engine) checkKept(t *task, r AskRow) error {
	n := t.canvas.Len()
	switch {
	case r.Keep == 0 && r.Compute == nil:
		return nil
	case e.keeper == nil || e.keeper.KeptBytes(n) == 0:
		return errors.New("this network cannot cache keys and values: leave cache out")
	case e.begins(r): // Nothing kept is seen.
	case r.Compute != nil && (t.keptLength != n || r.Keep < 1 || r.Keep > len(t.kept) || t.kept[r.Keep-1] == nil):
		return errors.New("the decoder computes part of the rows before all were computed")
	}
	for _, l := range r.Positions {
		if _, ok := slices.BinarySearch(r.Compute, e.spec.InputRow(l, r.Block)); !ok && r.Compute != nil {
			return fmt.Errorf("the decoder asks about position %d but does not compute its row", l)
		}
	}
	return nil
}

// begins reports whether a row computes all rows from the first on up to the end of a block, behind which
// no row of the network's sees.
func (e *engine) begins(r AskRow) bool {
	n := len(r.Compute)
	if n == 0 || r.Compute[n-1] != n-1 {
		return false
	}
	return e.spec.Causal && r.Block.To <= n || e.spec.Grid() > 0 && n%e.spec.Grid() == 0
}

// reserve reports whether there is memory for the keys and values of a place. It counts it at the
// first call in which a task keeps any, for all canvases that the task may ask about in one call. A
// task that has memory gets what it needs, and so does a task if no other has any.
func (e *engine) reserve(p place) bool {
	t, n := p.task, p.canvas.Len()
	if p.ask.Rows[p.row].Keep == 0 || t.keptLength == n {
		return true
	}
	sets := 1
	if m, ok := t.job.Method.(Canvases); ok {
		sets = m.Canvases()
	}
	need := int64(sets) * e.keeper.KeptBytes(n)
	if e.keep > 0 && t.keptBytes == 0 && e.totals.Kept > 0 && e.totals.Kept+need > e.keep {
		return false
	}
	if t.keptLength > 0 {
		e.free(t)
	}
	t.keptLength, t.keptBytes = n, need
	e.totals.Kept += need
	e.totals.MostKept = max(e.totals.MostKept, e.totals.Kept)
	return true
}

// guess clones, before the call changes them, the keys and values that guesses begin with.
func (t *task) guess() {
	t.guesses = t.guesses[:0]
	for _, r := range t.ask.Rows {
		t.guesses = append(t.guesses, nil)
		if r.Guess {
			t.guesses[len(t.guesses)-1] = t.kept[r.Keep-1].Clone()
		}
	}
}

// keptFor returns the keys and values of a place.
func (e *engine) keptFor(p place) Kept {
	r, t := &p.ask.Rows[p.row], p.task
	if r.Guess {
		return t.guesses[p.row]
	}
	for len(t.kept) < r.Keep {
		t.kept = append(t.kept, nil)
	}
	set := &t.kept[r.Keep-1]
	if *set == nil {
		*set = e.keeper.Keep(p.canvas.Len())
	}
	if r.Keep == 1 {
		e.fill(t, *set)
	}
	return *set
}

// free releases a task's keys and values.
func (e *engine) free(t *task) {
	t.forget()
	e.totals.Kept -= t.keptBytes
	clear(t.kept)
	clear(t.guesses)
	t.kept, t.keptLength, t.keptBytes = t.kept[:0], 0, 0
}

// freeAll releases the keys and values of unfinished tasks.
func (e *engine) freeAll() {
	for _, t := range e.queue {
		e.free(t)
	}
}

// computed returns the number of positions that are computed for a row.
func (t *task) computed(r *AskRow) int {
	if r.Compute != nil {
		return len(r.Compute)
	}
	return t.canvas.Len()
}
