package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
)

var _ samplers.Keeper = (*network)(nil)

// keptShape is the shape of the keys and values that a network keeps for a position: blocks, heads
// of a block, and numbers of a head.
type keptShape struct{ blocks, heads, size int }

// maxHeads bounds the keys of a position in a block, since a file's shapes may hold any number.
const maxHeads = 1 << 20

// keptShapeOf reads the shape from a graph. Graphs of earlier versions keep nothing.
func keptShapeOf(d ort.Description) (k keptShape) {
	for ; ; k.blocks++ {
		in, _ := graph.KeptTensors(k.blocks)
		io, ok := d.Input(in[0])
		if !ok || len(io.Shape) != 4 || min(io.Shape[1], io.Shape[3]) < 1 || max(io.Shape[1], io.Shape[3]) > maxHeads || io.Shape[1]*io.Shape[3] > maxHeads {
			return k
		}
		k.heads, k.size = int(io.Shape[1]), int(io.Shape[3])
	}
}

// numbers returns how many numbers are kept for that many positions.
func (k keptShape) numbers(positions int) int { return 2 * k.blocks * k.heads * positions * k.size }

// kept holds the keys and values of a canvas.
type kept struct {
	of     *network
	length int
	filled bool
	data   []float32 // [blocks, 2, heads, length, size]: keys, then values, of each block
}

func (k *kept) Clone() samplers.Kept {
	c := *k
	c.data = slices.Clone(k.data)
	return &c
}

func (k *kept) Cut(from, to int) samplers.Kept {
	part := &kept{of: k.of, length: to - from, data: make([]float32, k.of.keeps.numbers(to-from))}
	part.copy(0, k, from, to-from)
	return part
}

func (k *kept) Paste(from int, rows samplers.Kept) {
	part := rows.(*kept)
	if part.of != k.of {
		panic("model: rows of another network")
	}
	k.copy(from, part, 0, part.length)
}

// copy copies the rows of n positions.
func (k *kept) copy(to int, rows *kept, from, n int) {
	size := k.of.keeps.size
	for head := range len(k.data) / (k.length * size) {
		copy(k.data[(head*k.length+to)*size:], rows.data[(head*rows.length+from)*size:(head*rows.length+from+n)*size])
	}
}

// KeptBytes returns 0 if the graph keeps nothing, because an earlier version of this program wrote
// it, and no graph that does lies next to it.
func (n *network) KeptBytes(length int) int64 { return 4 * int64(n.keeps.numbers(length)) }

// Keep returns nil if KeptBytes is 0.
func (n *network) Keep(length int) samplers.Kept {
	if n.keeps.blocks == 0 {
		return nil
	}
	return &kept{of: n, length: length, data: make([]float32, n.keeps.numbers(length))}
}

// maxJoint is the most bytes of keys and values that are joined for a call of several canvases.
// With more, a call is made in parts, each of up to jointRows rows, or of one canvas, which reads its own in
// place. In a network of 169 million parameters calls of 32 rows each take a quarter less time together than
// one after another; those of many rows cost the same, and more memory.
const (
	maxJoint  = 256 << 20
	jointRows = 512
)

// parts makes a call as one, or as one per canvas if they must be apart, or as several if their keys and
// values exceed n.joint. It passes each part to ask, with the range of its positions.
func (n *network) parts(ctx context.Context, c samplers.Call, ask func(part samplers.Call, from, to int) error) error {
	if n.past != nil && len(c.Kept) > 0 {
		if err := n.keepFrom(ctx); err != nil {
			return err
		}
	}
	if len(c.Counts) < 2 || n.session.Description().Apart == "" && int64(len(c.Kept))*n.KeptBytes(c.Length()) <= n.joint {
		return ask(c, 0, len(c.Positions))
	}
	length, rows, from, size := c.Length(), len(c.Compute)/len(c.Counts), 0, 1
	if n.session.Description().Apart == "" {
		size = max(1, min(int(n.joint/n.KeptBytes(length)), jointRows/cmp.Or(rows, length)))
	}
	for i := 0; i < len(c.Counts); i += size {
		to := min(i+size, len(c.Counts))
		wanted := 0
		for _, k := range c.Counts[i:to] {
			wanted += k
		}
		one := samplers.Call{
			IDs: c.IDs[i*length : to*length], Positions: c.Positions[from : from+wanted], Counts: c.Counts[i:to],
			Compute: c.Compute[i*rows : to*rows], Noisy: c.Noisy,
			Kept: some(c.Kept, i, to), Blocks: some(c.Blocks, i, to), Sigma: some(c.Sigma, i, to),
		}
		if err := ask(one, from, from+wanted); err != nil {
			return err
		}
		from += wanted
	}
	return nil
}

// some returns the elements of a range of canvases, nil if there are none at all.
func some[T any](all []T, from, to int) []T {
	if len(all) == 0 {
		return nil
	}
	return all[from:to]
}

// keepFrom switches to the graph that keeps keys and values.
func (n *network) keepFrom(ctx context.Context) error {
	s, err := n.past(ctx)
	if err != nil {
		return err
	}
	plain := n.session
	n.session, n.past = s, nil
	return plain.Close()
}

// recall holds the kept keys and values that a call reads and writes.
type recall struct {
	kept                   []*kept
	canvases, length, rows int
	noisy                  []int64   // 1 for noisy copies, else 0
	from, to               []int64   // the blocks
	past                   int       // the length, 0 if all rows are computed
	asked                  []int64   // [canvases, rows]: the positions that are computed
	ids                    []int64   // and their ids, if not all are
	stale                  []float32 // [canvases, past]: −∞ if a position is computed
	// before and fresh are the keys and values that go in and come out, [blocks, 2, canvases,
	// heads, past or rows, size]. Those of a single canvas stay where it keeps them if possible;
	// all others are in memory of the network's own.
	before, fresh       []float32
	ownBefore, ownFresh []float32
	parts               []int64 // past and rows
}

// recall records what a call computes and keeps, and returns the ids of the computed positions.
func (n *network) recall(c samplers.Call) []int64 {
	r := &n.recalled
	r.kept, r.asked = r.kept[:0], r.asked[:0]
	r.canvases, r.length = len(c.Counts), c.Length()
	for _, one := range c.Kept {
		k := one.(*kept)
		if k.of != n || k.length != r.length {
			panic(fmt.Sprintf("model: a canvas of %d positions and kept ones of %d, or of another network", r.length, k.length))
		}
		r.kept = append(r.kept, k)
	}
	r.from, r.to = r.from[:0], r.to[:0]
	for i := range c.Counts {
		s := samplers.Span{To: r.length}
		if len(c.Blocks) > 0 {
			s = c.Blocks[i]
		}
		r.from, r.to = append(r.from, int64(s.From)), append(r.to, int64(s.To))
	}
	all := len(c.Compute) == 0 || len(c.Compute) == len(c.IDs)
	// Behind its block a call may leave rows as they are, where they are hidden.
	unfilled := slices.ContainsFunc(r.kept, func(k *kept) bool { return !k.filled && (c.Noisy || n.facts.BlockSize == 0 && !n.facts.Causal) })
	if (c.Noisy || !all) && (len(r.kept) != r.canvases || len(c.Compute)%r.canvases != 0 || unfilled) {
		panic(fmt.Sprintf("model: %d rows of %d canvases to compute, and %d are cached: a call of all rows must come first", len(c.Compute), r.canvases, len(r.kept)))
	}
	r.noisy = append(r.noisy[:0], 0)
	if all {
		r.rows, r.past = r.length, 0
		for i := range c.IDs {
			r.asked = append(r.asked, int64(i%r.length))
		}
		if c.Noisy {
			r.noisy[0], r.past, r.stale = 1, r.length, grow(r.stale, len(c.IDs))
			before := float32(0)
			if n.facts.BlockSize >= r.length && !n.facts.Causal { // The graph of a single block hides none of its positions.
				before = float32(math.Inf(-1))
			}
			for i := range r.stale {
				r.stale[i] = before
			}
		}
		return c.IDs
	}
	r.asked, r.rows, r.past = append(r.asked, c.Compute...), len(c.Compute)/r.canvases, r.length
	r.ids, r.stale = r.ids[:0], grow(r.stale, len(c.IDs))
	clear(r.stale)
	for i, l := range r.asked {
		at := i/r.rows*r.length + int(l)
		r.ids = append(r.ids, c.IDs[at])
		r.stale[at] = float32(math.Inf(-1))
	}
	return r.ids
}

// row returns the index of a position among the computed ones of its canvas.
func (r *recall) row(canvas int, position int64) int64 {
	if r.rows == r.length {
		return position
	}
	i, ok := slices.BinarySearch(r.asked[canvas*r.rows:(canvas+1)*r.rows], position)
	if !ok {
		panic(fmt.Sprintf("model: position %d is requested, but its row is not computed", position))
	}
	return int64(i)
}

// keys adds the tensors of keys and values to a call.
func (n *network) keys() {
	r, k := &n.recalled, n.keeps
	if k.blocks == 0 || n.past != nil {
		return
	}
	canvases, heads, size := int64(r.canvases), int64(k.heads), int64(k.size)
	none := []int64{1, heads, 0, size}
	keep, before, fresh := ort.Tensor{Name: "keep", Shape: none[2:3]}, none, none
	r.before, r.fresh = nil, nil
	if len(r.kept) > 0 {
		keep = ort.Tensor{Name: "keep", Shape: []int64{1}, Int64: noTop}
		fresh = []int64{canvases, heads, int64(r.rows), size}
		if first := r.kept[0]; r.inPlace() {
			r.fresh, first.filled = first.data, false
		} else {
			r.ownFresh = grow(r.ownFresh, k.numbers(len(r.asked)))
			r.fresh = r.ownFresh
		}
	}
	if r.past > 0 {
		before = []int64{canvases, heads, int64(r.past), size}
		if r.before = r.kept[0].data; r.canvases > 1 {
			r.ownBefore = grow(r.ownBefore, k.numbers(r.canvases*r.length))
			r.before = r.ownBefore
			n.eachHead(r.before, r.length, func(_ int, own, joint []float32) { copy(joint, own) })
		}
	}
	r.parts = append(r.parts[:0], int64(r.past), int64(r.rows))
	n.in = append(n.in, keep, ort.Tensor{Name: "parts", Shape: []int64{2}, Int64: r.parts},
		ort.Tensor{Name: "position_ids", Shape: []int64{canvases, int64(r.rows)}, Int64: r.asked},
		ort.Tensor{Name: "stale", Shape: []int64{canvases, 1, 1, int64(r.past)}, Float32: r.stale[:r.canvases*r.past]})
	if n.facts.BlockSize > 0 {
		n.in = append(n.in, ort.Tensor{Name: "noisy", Shape: []int64{1}, Int64: r.noisy})
	}
	if n.facts.Causal {
		n.in = append(n.in, ort.Tensor{Name: "block_from", Shape: []int64{canvases}, Int64: r.from}, ort.Tensor{Name: "block_to", Shape: []int64{canvases}, Int64: r.to})
	}
	tensor := func(name string, shape []int64, data []float32, i int) ort.Tensor {
		size := len(data) / (2 * k.blocks)
		return ort.Tensor{Name: name, Shape: shape, Float32: data[i*size : (i+1)*size]}
	}
	for i, names := range n.keptNames {
		n.in = append(n.in, tensor(names[0], before, r.before, i))
		n.res = append(n.res, tensor(names[1], fresh, r.fresh, i))
	}
}

// inPlace reports whether the call computes all keys and values of a single canvas.
func (r *recall) inPlace() bool { return r.past == 0 && len(r.kept) == 1 }

// store copies the computed keys and values to their canvases, except those of noisy copies.
func (n *network) store() {
	r, size := &n.recalled, n.keeps.size
	if r.noisy[0] == 1 {
		return
	}
	if !r.inPlace() {
		n.eachHead(r.fresh, r.rows, func(canvas int, own, joint []float32) {
			for i, l := range r.asked[canvas*r.rows : (canvas+1)*r.rows] {
				copy(own[int(l)*size:(int(l)+1)*size], joint[i*size:])
			}
		})
	}
	for _, k := range r.kept {
		k.filled = true
	}
}

// eachHead yields, for each head of each canvas, the canvas's own keys or values and those of the
// same head in all, a tensor with the given number of rows for each canvas.
func (n *network) eachHead(all []float32, rows int, yield func(canvas int, own, joint []float32)) {
	r, k := &n.recalled, n.keeps
	for i := range 2 * k.blocks {
		for c, one := range r.kept {
			for h := range k.heads {
				own, joint := (i*k.heads+h)*r.length*k.size, ((i*r.canvases+c)*k.heads+h)*rows*k.size
				yield(c, one.data[own:own+r.length*k.size], all[joint:joint+rows*k.size])
			}
		}
	}
}
