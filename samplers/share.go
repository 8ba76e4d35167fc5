package samplers

import "slices"

// causalNode is the length of a store's nodes for a network with causal rows, which has no blocks.
const causalNode = 16

// shared is what a task knows of its first set of kept keys and values, if there is a store.
type shared struct {
	// ids are those of the last call. The rows of the first solid of them are finished: they are valid as
	// long as the ids are the same.
	ids   []int64
	solid int
	// last is the node, at a depth, that ends with the last of them that the store has. The rows of the
	// first copied nodes on its way are in the set. found counts the positions that a call takes from the
	// store.
	last                 *node
	depth, copied, found int
	// waited is one more than solid when the task waited for another, 0 if it never did.
	waited int
}

// attach makes the engine share rows in a store, if those of its network can be.
func (e *engine) attach(s *Store) {
	if s == nil || e.keeper == nil || e.spec.TimeConditioned || e.spec.Grid() == 0 && !e.spec.Causal {
		return
	}
	if s.unit, s.length = e.spec.Grid(), e.spec.Grid(); e.spec.Causal {
		s.unit, s.length = 1, causalNode
	}
	e.store, s.each = s, e.keeper.KeptBytes(s.length)+nodeBytes
}

// first returns the row of a task's ask that computes rows of its first set, nil if there is none or
// nothing is shared.
func (e *engine) first(t *task) *AskRow {
	if r := &t.ask.Rows[0]; e.store != nil && r.Keep == 1 && !r.Guess {
		return r
	}
	return nil
}

// share takes the rows that the store has from those that a place computes. It reports whether the place
// should wait for a place of the call, which computes rows that it needs.
func (e *engine) share(p place) (wait bool) {
	t, r := p.task, e.first(p.task)
	if r == nil || p.row > 0 || t.keptLength > 0 && t.keptLength != t.canvas.Len() {
		return false
	}
	ids := r.IDs(&t.canvas)
	t.cut(e, ids, r)
	most := e.before(t, r)
	for t.solid == t.depth*e.store.length && t.solid < most {
		n := e.store.find(t.last, t.job.Apart, ids[t.solid:t.solid+e.store.length])
		if n == nil {
			break
		}
		t.move(n, t.depth+1)
		t.solid, t.found = t.solid+e.store.length, t.found+e.store.length
	}
	from := min(t.solid, most)
	if r.Compute == nil && from > 0 {
		for l := range ids {
			r.Compute = append(r.Compute, l)
		}
	}
	i, _ := slices.BinarySearch(r.Compute, from)
	r.Compute = r.Compute[i:]
	return e.waits(t, r, most)
}

// final returns the number of the first n positions whose rows a call may finish: those of its block are not
// the causal ones.
func (e *engine) final(r *AskRow, n int) int {
	if e.spec.Causal {
		return min(n, r.Block.From)
	}
	return n
}

// before returns the end of the nodes that a store may have for a request: they have no mask, and none of
// the rows that it asks for.
func (e *engine) before(t *task, r *AskRow) int {
	n := e.final(r, t.canvas.Len())
	for _, l := range r.Positions {
		n = min(n, e.spec.InputRow(l, r.Block))
	}
	if i := slices.Index(r.IDs(&t.canvas)[:n], int64(e.spec.Mask)); i >= 0 {
		n = i
	}
	return n - n%e.store.length
}

// waits reports whether a task should wait once, since a place of the call computes at least a quarter of
// the rows that it would.
func (e *engine) waits(t *task, r *AskRow, most int) bool {
	if t.waited > t.solid {
		return false
	}
	for _, q := range e.call {
		other := e.first(q.task)
		if other == nil || q.last != t.last || q.solid != t.solid || q.job.Apart != t.job.Apart {
			continue
		}
		n := t.solid
		for end := min(most, e.before(q.task, other)); n < end && t.ids[n] == q.ids[n]; n++ {
		}
		n -= n % e.store.length
		if 4*(n-t.solid) >= t.computed(r) && e.keeper.KeptBytes(n) < e.store.most {
			t.waited = t.solid + 1
			return true
		}
	}
	return false
}

// cut forgets finished rows whose ids are not those of a call, or which it computes as rows of its block.
func (t *task) cut(e *engine, ids []int64, r *AskRow) {
	if t.last == nil {
		t.move(&e.store.root, 0)
	}
	t.solid = e.final(r, t.solid)
	for l := range t.solid {
		if ids[l] != t.ids[l] {
			t.solid = l - l%e.store.unit
			break
		}
	}
	for t.depth*e.store.length > t.solid {
		t.move(t.last.above, t.depth-1)
	}
	t.copied = min(t.copied, t.depth)
	t.ids = append(t.ids[:0], ids...)
}

// move makes another node the last.
func (t *task) move(n *node, depth int) {
	if n.users++; t.last != nil {
		t.last.users--
	}
	t.last, t.depth = n, depth
}

// forget leaves the store.
func (t *task) forget() {
	if t.last != nil {
		t.last.users--
	}
	t.shared = shared{ids: t.ids[:0]}
}

// fill copies rows of the store to a task's first set, before a call.
func (e *engine) fill(t *task, to Kept) {
	for n, i := t.last, t.depth-1; i >= t.copied; i-- {
		to.Paste(i*e.store.length, n.rows)
		n = n.above
	}
	t.copied = t.depth
}

// save gives the store the rows that a call has finished.
func (e *engine) save(t *task) {
	r := e.first(t)
	if r == nil || t.keptLength != len(t.ids) {
		return
	}
	most, n := e.final(r, len(t.ids)), t.solid
	for i, _ := slices.BinarySearch(r.Compute, n); n < most && int(t.ids[n]) != e.spec.Mask && (r.Compute == nil || i < len(r.Compute) && r.Compute[i] == n); i++ {
		n++
	}
	t.solid = max(t.solid, n-n%e.store.unit)
	for from, to := t.depth*e.store.length, (t.depth+1)*e.store.length; to <= t.solid; from, to = to, to+e.store.length {
		n := e.store.add(t.last, t.job.Apart, t.ids[from:to], func() Kept { return t.kept[0].Cut(from, to) })
		if n == nil {
			return
		}
		t.move(n, t.depth+1)
		t.copied = t.depth
	}
}
