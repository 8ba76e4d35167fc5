package certificate

import (
	"fmt"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
)

// method runs first-hitting and sets samplers beside it. It belongs to one goroutine, and
// keeps what its last sequences said.
type method struct {
	fhs *samplers.Sampler
	ss  []*samplers.Sampler
	// rowsOf turns logits into what tokens are drawn from; p and q are room for rows.
	rowsOf       *samplers.Categorical
	columns       int
	p, q, before []float64
	done          map[uint64]*Run
}

func newMethod(spec samplers.Spec, ss []*samplers.Sampler, draw samplers.Draw) (*method, error) {
	fhs, err := samplers.New(samplers.Options{Draw: draw}, spec)
	if err != nil {
		return nil, err
	}
	rows, err := samplers.NewCategorical(spec.Vocabulary, draw)
	if err != nil {
		return nil, err
	}
	n := spec.Columns
	return &method{fhs: fhs, ss: ss, rowsOf: rows, columns: n, p: make([]float64, n), q: make([]float64, n), before: make([]float64, n), done: make(map[uint64]*Run)}, nil
}

// of is the method of the sequence with an index.
func (m *method) of(index uint64) samplers.Method { return indexed{m, index} }

type indexed struct {
	*method
	index uint64
}

// Start has first-hitting's own decoder fill the canvas.
func (m indexed) Start(c *samplers.Canvas, d *samplers.Draws) (samplers.Decoder, error) {
	inner, err := m.fhs.Start(c, d)
	if err != nil {
		return nil, err
	}
	free := c.Masked(nil)
	var p samplers.Plan
	if err := m.fhs.Plan(&p, d, free); err != nil {
		return nil, err
	}
	r := &run{method: m.method, index: m.index, inner: inner, canvas: c}
	for i, b := range p.Blocks {
		r.order = append(r.order, b.Positions[0])
		r.sources = append(r.sources, []*source{{from: i, to: i + 1, theta: b.Theta, at: -1}})
	}
	timed := c.Spec().TimeConditioned
	for _, s := range m.ss {
		pieces, err := cut(s, d, free, r.order)
		if err != nil {
			return nil, err
		}
		one := side{pieces: pieces}
		for _, x := range pieces {
			one.sources = append(one.sources, r.source(x, timed))
		}
		r.sides = append(r.sides, one)
	}
	return r, nil
}

// run is first-hitting's decoder, which asks for more rows than it fills.
type run struct {
	*method
	index  uint64
	inner  samplers.Decoder
	canvas *samplers.Canvas
	order  []int
	// sources [d] are what is asked with 0, 1, … positions revealed; the first of each is
	// first-hitting's own row.
	sources [][]*source
	sides   []side
	// open are the sources that keep logits.
	open []*source
	// at counts the positions that are revealed; rows are the canvases asked.
	at, rows int
}

// source is a canvas that is asked: with from positions revealed, at a time, about the
// positions order[from:to].
type source struct {
	from, to int
	theta    float64
	// now is the row of the first of them, during its call; kept are those of the others.
	now, kept []float32
	// at is the rank of which gap is known.
	at  int
	gap gap
}

// row is that of a rank in from..to−1.
func (s *source) row(rank, columns int) []float32 {
	if rank == s.from {
		return s.now
	}
	return s.kept[(rank-s.from-1)*columns : (rank-s.from)*columns]
}

// source finds or makes what a piece asks.
func (r *run) source(x piece, timed bool) *source {
	if x.from == len(r.order) {
		return nil // a last block without positions
	}
	for _, s := range r.sources[x.from] {
		if !timed || s.theta == x.theta {
			s.to = max(s.to, x.ahead)
			return s
		}
	}
	s := &source{from: x.from, to: max(x.ahead, x.from+1), theta: x.theta, at: -1}
	r.sources[x.from] = append(r.sources[x.from], s)
	return s
}

func (r *run) Ask(a *samplers.Ask) bool {
	if !r.inner.Ask(a) {
		r.finish()
		return false
	}
	for k, s := range r.sources[r.at] {
		if k > 0 {
			a.Rows = append(a.Rows, samplers.AskRow{Theta: s.theta})
		}
		a.Rows[k].Positions = r.order[s.from:s.to]
	}
	return true
}

func (r *run) Take(rows samplers.Rows, e *samplers.Edit) error {
	if err := r.inner.Take(rows, e); err != nil {
		return err
	}
	position := r.order[r.at]
	for k, s := range r.sources[r.at] {
		s.now = rows.Logits(k, 0)
		for j := 1; j < s.to-s.from; j++ {
			s.kept = append(s.kept, rows.Logits(k, j)...)
		}
		r.open = append(r.open, s)
		r.rows++
	}
	if err := r.compare(r.canvas.ID(position)); err != nil {
		return fmt.Errorf("position %d: %w", position, err)
	}
	r.at++
	r.open = slices.DeleteFunc(r.open, func(s *source) bool {
		s.now = nil
		if s.to > r.at {
			return false
		}
		s.kept = nil
		return true
	})
	return nil
}

// finish keeps what the run says.
func (r *run) finish() {
	out := &Run{Index: r.index, Rows: r.rows}
	for k := range r.sides {
		s := &r.sides[k]
		out.TV = append(out.TV, shortfall(s.log))
		out.Blocks = append(out.Blocks, s.sum)
		out.KL = append(out.KL, estimate.Number(s.kl))
	}
	r.done[r.index] = out
}
