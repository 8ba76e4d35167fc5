// Package reading reads a canvas without writing it: the distributions of the tokens at its masked
// positions, from one row each, and how probable given tokens are in a gap, a run of masked positions.
//
// A candidate of m tokens fills m positions of its gap, one after the other, while all other masked
// positions stay so. Its probability by First-Hitting, whose order is uniform, is
//
//	g(∅) = 1,  g(A) = 1/(m−|A|+1) · Σ_{i∈A} g(A∖i)·μ^i(x_i | x_{A∖i}),  P = g([m]),
//
// from the rows of all 2^m−1 canvases on which part of the candidate stands; from left to right it is a
// product, from m rows. Either way the probabilities of all V^m candidates add up to 1. Logarithms are
// natural. A time-conditioned network is asked at the masked fraction n/(L+1), n of L positions masked.
package reading

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// Law is the order in which the tokens of a candidate are put on the canvas.
type Law string

// The laws; "" is FirstHitting.
const (
	FirstHitting Law = "first-hitting"
	LeftToRight  Law = "left-to-right"
)

// Laws are all laws.
func Laws() []Law { return []Law{FirstHitting, LeftToRight} }

// The limits of a question: the tokens of a candidate by FirstHitting, whose rows double with each,
// and the rows of all candidates together.
const (
	MostTokens = 10
	MostRows   = 4096
)

// Question is what is asked about a canvas.
type Question struct {
	// Canvas holds ids, MASK at the positions that are read. It is not changed.
	Canvas []int
	// Top is how many of the most probable tokens are wanted at each masked position; with 0 these
	// are not asked for.
	Top int
	// Candidates are the ids of candidates for each gap, from left to right; nil asks for none.
	Candidates [][][]int
	// Fit gives each candidate a gap of its own length; else it fills the first positions of the gap
	// as it is, the others stay masked.
	Fit bool
	Law Law
}

// Answer is what was read.
type Answer struct {
	Gaps []Gap `json:"gaps"`
	// Law is that of candidates of several tokens, "" where there are none.
	Law Law `json:"law,omitempty"`
	// Rows is the number of canvases that the network was asked about.
	Rows int `json:"rows"`
}

// Gap is a run of masked positions.
type Gap struct {
	// From is its first position, Length how many it has.
	From   int `json:"from"`
	Length int `json:"length"`
	// Positions are the distributions at them, where the most probable tokens were asked for.
	Positions  []Position  `json:"positions,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Position is the distribution at a masked position: its entropy in nats and its most probable tokens.
type Position struct {
	Position int             `json:"position"`
	Entropy  estimate.Number `json:"entropy"`
	Top      []Token         `json:"top"`
}

// Token is a token with its log-probability in nats.
type Token struct {
	ID   int             `json:"id"`
	Text string          `json:"text,omitempty"`
	LogP estimate.Number `json:"log_probability"`
}

// Candidate is a candidate with the logarithm of its joint probability in nats.
type Candidate struct {
	Text string          `json:"text,omitempty"`
	IDs  []int           `json:"ids"`
	LogP estimate.Number `json:"log_probability"`

	// table has log μ by subset for FirstHitting, chain by position for LeftToRight.
	table *likelihood.Table
	chain []float64
}

// Read answers a question through an engine, whose calls it shares with other jobs. It is an error where
// nothing is masked, a candidate does not fit its gap or takes too much, or ctx ends.
func Read(ctx context.Context, engine *samplers.Engine, spec samplers.Spec, q Question) (*Answer, error) {
	out := &Answer{Gaps: gaps(q.Canvas, spec.Mask)}
	if err := q.check(&spec, out.Gaps); err != nil {
		return nil, err
	}
	p := newPlan(&spec, q)
	if q.Top > 0 {
		p.top(out.Gaps)
	}
	for g := range q.Candidates {
		for _, ids := range q.Candidates[g] {
			if len(ids) > 1 {
				out.Law = q.law()
			}
			p.candidate(&out.Gaps[g], ids)
		}
	}
	if err := p.ask(ctx, engine); err != nil {
		return nil, err
	}
	for _, g := range out.Gaps {
		for i := range g.Candidates {
			g.Candidates[i].settle()
		}
	}
	out.Rows = len(p.rows)
	return out, nil
}

// gaps are the runs of masked positions.
func gaps(canvas []int, mask int) (out []Gap) {
	for l, id := range canvas {
		switch last := len(out) - 1; {
		case id != mask:
		case l > 0 && canvas[l-1] == mask:
			out[last].Length++
		default:
			out = append(out, Gap{From: l, Length: 1})
		}
	}
	return out
}

func (q *Question) law() Law {
	if q.Law == "" {
		return FirstHitting
	}
	return q.Law
}

// check refuses what cannot be answered.
func (q *Question) check(spec *samplers.Spec, gaps []Gap) error {
	switch {
	case len(gaps) == 0:
		return fault.Errorf("reading", "nothing is masked: write {{1}} where a token is to be read")
	case spec.Shift && gaps[0].From == 0:
		return fault.Errorf("reading", "position 0 is masked: this network predicts a position from the one before it, so begin with a token")
	case len(q.Candidates) > len(gaps):
		return fault.Errorf("reading", "candidates for %d gaps: the canvas has %d", len(q.Candidates), len(gaps))
	case !slices.Contains(Laws(), q.law()):
		return fault.Errorf("reading", "law %q: must be %s or %s", q.Law, FirstHitting, LeftToRight)
	}
	rows := 0
	for g, candidates := range q.Candidates {
		for i, ids := range candidates {
			where := func(format string, args ...any) error {
				return fault.Errorf("reading", "gap %d, candidate %d: %s", g+1, i+1, fmt.Sprintf(format, args...))
			}
			m := len(ids)
			switch bad := slices.IndexFunc(ids, func(id int) bool { return !spec.Holds(id) || id == spec.Mask || slices.Contains(spec.Excluded, id) }); {
			case m == 0:
				return where("it has no token")
			case bad >= 0:
				return where("id %d is not a token of the model", ids[bad])
			case !q.Fit && m > gaps[g].Length:
				return where("%d tokens in a gap of %d: write {{%d}}, or fit gaps to their candidates", m, gaps[g].Length, m)
			case q.law() == FirstHitting && m > MostTokens:
				return where("%d tokens by %s would take %d rows: at most %d tokens are worked out; use %s", m, FirstHitting, 1<<min(m, 60), MostTokens, LeftToRight)
			case q.law() == FirstHitting:
				rows += 1<<m - 1
			default:
				rows += m
			}
			if rows > MostRows {
				return where("the candidates take more than %d rows: give fewer or shorter ones, or use %s", MostRows, LeftToRight)
			}
		}
	}
	return nil
}

// plan are the canvases that are asked about, each once.
type plan struct {
	spec *samplers.Spec
	q    Question
	rows []*row
	// at is the row of a canvas.
	at map[string]*row
}

// row is a canvas with what is wanted of it.
type row struct {
	ids []int64
	// positions are wanted, ascending where top is above 0.
	positions []int
	wanted    []wanted
	// top is how many of the most probable tokens of all positions are wanted, to goes where they go.
	top int
	to  []*Position
}

// wanted is a log-probability: of a token at positions[j], to be put at to.
type wanted struct {
	j, token int
	to       *float64
}

func newPlan(spec *samplers.Spec, q Question) *plan {
	return &plan{spec: spec, q: q, at: make(map[string]*row)}
}

// row is the row of a canvas.
func (p *plan) row(canvas []int) *row {
	var key []byte
	for _, id := range canvas {
		key = binary.AppendUvarint(key, uint64(id))
	}
	r := p.at[string(key)]
	if r == nil {
		r = new(row)
		for _, id := range canvas {
			r.ids = append(r.ids, int64(id))
		}
		p.at[string(key)] = r
		p.rows = append(p.rows, r)
	}
	return r
}

// want adds the log-probability of a token at a position.
func (r *row) want(position, token int, to *float64) {
	j := slices.Index(r.positions, position)
	if j < 0 {
		j = len(r.positions)
		r.positions = append(r.positions, position)
	}
	r.wanted = append(r.wanted, wanted{j, token, to})
}

// top adds the most probable tokens at all masked positions.
func (p *plan) top(gaps []Gap) {
	r := p.row(p.q.Canvas)
	r.top = p.q.Top
	for g := range gaps {
		gap := &gaps[g]
		gap.Positions = make([]Position, gap.Length)
		for i := range gap.Positions {
			at := &gap.Positions[i]
			at.Position = gap.From + i
			r.positions, r.to = append(r.positions, at.Position), append(r.to, at)
		}
	}
}

// candidate adds the rows of a candidate of a gap.
func (p *plan) candidate(gap *Gap, ids []int) {
	m := len(ids)
	c := Candidate{IDs: ids}
	canvas := slices.Clone(p.q.Canvas)
	if p.q.Fit {
		fitted := slices.Repeat([]int{p.spec.Mask}, m)
		canvas = slices.Concat(canvas[:gap.From], fitted, canvas[gap.From+gap.Length:])
	}
	// row is that of the canvas on which the tokens of a set stand.
	row := func(set func(i int) bool) *row {
		for i, id := range ids {
			if canvas[gap.From+i] = p.spec.Mask; set(i) {
				canvas[gap.From+i] = id
			}
		}
		return p.row(canvas)
	}
	if p.q.law() == LeftToRight {
		c.chain = make([]float64, m)
		for n, id := range ids {
			row(func(i int) bool { return i < n }).want(gap.From+n, id, &c.chain[n])
		}
	} else {
		c.table = &likelihood.Table{D: m, LogMu: make([]float64, m<<m)}
		for set := range 1<<m - 1 {
			r := row(func(i int) bool { return set>>i&1 == 1 })
			for rest := 1<<m - 1 - set; rest != 0; rest &= rest - 1 {
				i := bits.TrailingZeros(uint(rest))
				r.want(gap.From+i, ids[i], &c.table.LogMu[set*m+i])
			}
		}
	}
	gap.Candidates = append(gap.Candidates, c)
}

// settle works out the joint probability.
func (c *Candidate) settle() {
	if c.table != nil {
		c.LogP = estimate.Number(-c.table.FHS())
	}
	for _, x := range c.chain {
		c.LogP += estimate.Number(x)
	}
	c.table, c.chain = nil, nil
}
