package certificate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// method runs first-hitting and computes the terms of samplers. It belongs to one goroutine.
type method struct {
	fhs *plan.Method
	ss  []*catalog.Sampler
	// averages holds each sampler's average over the cuts of an order, nil if the cuts are those of
	// its plan.
	averages []*average
	// rows converts logits to the distribution that tokens are drawn from, into p.
	rows    *draw.Categorical
	columns int
	p       []float64
	// done holds the finished runs.
	done map[uint64]Run
}

func newMethod(spec samplers.Spec, ss []*catalog.Sampler, how draw.Settings, d int, cfg Config) (*method, error) {
	rows, err := draw.NewCategorical(spec.Vocabulary, how)
	if err != nil {
		return nil, err
	}
	m := &method{fhs: plan.NewFHS(1), ss: ss, rows: rows, columns: spec.Columns, p: make([]float64, spec.Columns), done: make(map[uint64]Run)}
	for _, s := range ss {
		var a *average
		if !spec.TimeConditioned {
			a = newAverage(s, d, cmp.Or(cfg.Longest, 32))
		}
		m.averages = append(m.averages, a)
	}
	return m, nil
}

// indexed is the method for the sequence with an index.
type indexed struct {
	*method
	index uint64
}

// Start fills the canvas as first-hitting does.
func (m indexed) Start(c *samplers.Canvas, d *draw.Numbers) (samplers.Decoder, error) {
	if _, err := m.fhs.Start(c, d); err != nil {
		return nil, err
	}
	free := c.Masked(nil)
	var p plan.Plan
	if err := m.fhs.Plan(&p, d, free); err != nil {
		return nil, err
	}
	r := &run{indexed: m, draws: d, own: make([]float64, 1, len(free)+1)}
	for i, b := range p.Blocks {
		r.order = append(r.order, b.Positions[0])
		r.sources = append(r.sources, []*source{{from: i, to: i + 1, theta: b.Theta}})
	}
	timed := c.Spec().TimeConditioned
	for i, s := range m.ss {
		if a := m.averages[i]; a != nil {
			for from, x := range r.sources {
				x[0].to = max(x[0].to, a.reach(from))
			}
			r.sides = append(r.sides, nil)
			continue
		}
		pieces, err := cut(s, d, free, r.order)
		if err != nil {
			return nil, err
		}
		for j := range pieces {
			pieces[j].source = r.source(&pieces[j], timed)
		}
		r.sides = append(r.sides, &side{pieces: pieces, log: float64(len(free)) * math.Log1p(-s.Left())})
	}
	return r, nil
}

// run is first-hitting's decoder, with requests for more rows than it fills.
type run struct {
	indexed
	draws *draw.Numbers
	order []int
	// sources [d] are the canvases evaluated with 0, 1, … positions revealed; the first of each has
	// first-hitting's own row.
	sources [][]*source
	// open are the sources that still need tokens.
	open []*source
	// own[n] is Σ log p of the first n tokens in first-hitting's own run.
	own []float64
	// sides are nil for samplers with an average.
	sides []*side
	// asked counts canvases, wanted the positions whose rows were requested.
	asked, wanted int
}

// source is a canvas to evaluate: with from positions revealed, at a time, at the positions
// order[from:to].
type source struct {
	from, to int
	theta    float64
	// now is the row of the first of these positions, during its call; kept are the other rows.
	now, kept []float32
	// logs are the partial sums of log p of the run's tokens at these positions.
	logs []float64
}

// row returns the row of a rank in from..to−1.
func (s *source) row(rank, columns int) []float32 {
	if rank == s.from {
		return s.now
	}
	return s.kept[(rank-s.from-1)*columns : (rank-s.from)*columns]
}

// source finds or creates the source of a piece, nil for a last piece that reveals nothing.
func (r *run) source(x *piece, timed bool) *source {
	if x.from == len(r.order) {
		return nil
	}
	for _, s := range r.sources[x.from] {
		if !timed || s.theta == x.theta {
			s.to = max(s.to, x.to)
			return s
		}
	}
	s := &source{from: x.from, to: x.to, theta: x.theta}
	r.sources[x.from] = append(r.sources[x.from], s)
	return s
}

func (r *run) Ask(a *samplers.Ask) bool {
	at := len(r.own) - 1
	if at == len(r.order) {
		r.finish()
		return false
	}
	for _, s := range r.sources[at] {
		a.Rows = append(a.Rows, samplers.AskRow{Theta: s.theta, Positions: r.order[s.from:s.to]})
	}
	return true
}

func (r *run) Take(rows samplers.Rows, e *samplers.Edit) error {
	at := len(r.own) - 1
	l := r.order[at]
	token, logP, err := rows.Token(0, 0, r.draws.Token(l))
	if err != nil {
		return fmt.Errorf("position %d: %w", l, err)
	}
	e.Set(l, token, logP)
	for k, s := range r.sources[at] {
		s.now = rows.Logits(k, 0)
		for j := 1; j < s.to-s.from; j++ {
			s.kept = append(s.kept, rows.Logits(k, j)...)
		}
		r.open = append(r.open, s)
		r.asked++
		r.wanted += s.to - s.from
	}
	if err := r.look(at, token); err != nil {
		return fmt.Errorf("position %d: %w", l, err)
	}
	r.open = slices.DeleteFunc(r.open, func(s *source) bool {
		s.now = nil
		if s.to > at+1 {
			return false
		}
		s.kept = nil
		return true
	})
	return nil
}

// look adds the token of a rank to all open sources and to the sides.
func (r *run) look(rank, token int) error {
	for _, s := range r.open {
		if err := r.rows.Probabilities(r.p, draw.Single(s.row(rank, r.columns))); err != nil {
			return err
		}
		var before float64
		if n := len(s.logs); n > 0 {
			before = s.logs[n-1]
		}
		s.logs = append(s.logs, before+math.Log(r.p[token]))
	}
	r.own = append(r.own, r.own[rank]+r.sources[rank][0].logs[0])
	for _, s := range r.sides {
		if s != nil {
			s.add(r, rank)
		}
	}
	return nil
}

// gain returns by how much the log-probability of the tokens of order[from:to] is greater under one
// call than under first-hitting.
func (r *run) gain(from, to int) float64 {
	if to-from < 2 {
		return 0
	}
	return r.sources[from][0].logs[to-from-1] - (r.own[to] - r.own[from])
}

// finish stores the run's terms.
func (r *run) finish() {
	out := Run{Index: r.index, Asked: r.asked, Rows: r.wanted}
	for i, s := range r.sides {
		var w float64
		if s != nil {
			w = s.log
		} else {
			w = r.averages[i].log(r.gain)
		}
		out.Log = append(out.Log, estimate.Number(w))
	}
	r.done[r.index] = out
}
