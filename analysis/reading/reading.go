// Package reading evaluates a canvas without filling it: the distributions of the tokens at its masked
// positions, from one row each, and the probability of given tokens in a gap, a run of masked positions.
//
// A candidate of m tokens fills a gap of m positions, one after another, while all other masked
// positions stay masked. Its probability under First-Hitting, whose order is uniform, is
//
//	g(∅) = 1,  g(A) = 1/(m−|A|+1) · Σ_{i∈A} g(A∖i)·μ^i(x_i | x_{A∖i}),  P = g([m]),
//
// from the rows of the 2^m−1 canvases that contain a part of the candidate; from left to right it is a
// product from m rows. In both cases the probabilities of all V^m candidates sum to 1. Logarithms are
// natural. A time-conditioned network is evaluated at the masked fraction n/(L+1), n of L positions masked.
package reading

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/subset"
)

// Law names the sampler that reveals the tokens of a candidate.
type Law string

// The laws; "" is FirstHitting.
const (
	FirstHitting Law = "first-hitting" // in uniform order, averaged
	LeftToRight  Law = "left-to-right" // in one order
)

// The limits of a question.
const (
	MaxTokens = 10   // tokens of a candidate
	MaxRows   = 4096 // rows of all candidates in total
)

// Question is a question about a canvas.
type Question struct {
	// Canvas holds ids, with MASK at the positions to read. It is not changed.
	Canvas []int
	// Top is the number of most probable tokens to return at each masked position, 0 for none.
	Top int
	// Candidates are evaluated in every gap, or in gap number Gap, counted from 1. The gap takes
	// the length of the candidate.
	Candidates [][]int
	Gap        int
	Law        Law
}

// Answer holds the results of a read.
type Answer struct {
	Gaps []Gap `json:"gaps"`
	// Blanks is the number of gaps of a text that took the blank before them.
	Blanks int `json:"blanks,omitempty"`
	// Law is the law of candidates of several tokens, "" if there are none.
	Law Law `json:"law,omitempty"`
	// Given is the number of tokens on the canvas, Rows the number of canvases evaluated.
	Given int `json:"given"`
	Rows  int `json:"rows"`
}

// Gap is a run of Length masked positions starting at From.
type Gap struct {
	From       int         `json:"from"`
	Length     int         `json:"length"`
	Positions  []Position  `json:"positions,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Position holds the entropy of a distribution in nats and its most probable tokens.
type Position struct {
	Position int     `json:"position"`
	Entropy  float64 `json:"entropy"`
	Top      []Token `json:"top"`
}

// Token is a token with its log-probability in nats.
type Token struct {
	ID   int     `json:"id"`
	Text string  `json:"text,omitempty"`
	LogP float64 `json:"log_probability"`
}

// Candidate is a candidate with its joint log-probability in nats.
type Candidate struct {
	Text string          `json:"text,omitempty"`
	IDs  []int           `json:"ids"`
	LogP estimate.Number `json:"log_probability"`

	table *subset.Table // log μ by the set of revealed tokens
}

// Read answers a question. It returns an error if nothing is masked, a candidate is not of the
// model's tokens or takes too many rows, or ctx ends.
func Read(ctx context.Context, e *likelihood.Evaluator, q Question) (*Answer, error) {
	f := e.Facts()
	out := &Answer{Gaps: gaps(q.Canvas, f.MaskID), Given: len(q.Canvas)}
	if err := q.check(f, out.Gaps); err != nil {
		return nil, fault.Errorf("reading", "%w", err)
	}
	p := &plan{Question: q, spec: f.Spec(), rows: make(map[string]*row)}
	for g := range out.Gaps {
		gap := &out.Gaps[g]
		out.Given -= gap.Length
		if q.Top > 0 {
			p.top(gap)
		}
		if q.Gap == 0 || q.Gap == g+1 {
			for _, ids := range q.Candidates {
				if gap.Candidates = append(gap.Candidates, p.candidate(gap, ids)); len(ids) > 1 {
					out.Law = q.Law
				}
			}
		}
	}
	if err := p.ask(ctx, e); err != nil {
		return nil, err
	}
	for _, g := range out.Gaps {
		for i := range g.Candidates {
			g.Candidates[i].settle(q.Law)
		}
	}
	out.Rows = len(p.rows)
	return out, nil
}

// gaps returns the runs of masked positions.
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

// check returns an error if a question cannot be answered, and sets the default law.
func (q *Question) check(f facts.Facts, gaps []Gap) error {
	if q.Law == "" {
		q.Law = FirstHitting
	}
	switch {
	case len(gaps) == 0:
		return fmt.Errorf("nothing is masked: write {{1}} at the position to read")
	case f.Shift && gaps[0].From == 0:
		return fmt.Errorf("position 0 is masked, and this network predicts a position from the one before it: begin with a token")
	case q.Gap < 0 || q.Gap > len(gaps):
		return fmt.Errorf("gap %d: must be in 1..%d, or 0 for all", q.Gap, len(gaps))
	case q.Law != FirstHitting && q.Law != LeftToRight:
		return fmt.Errorf("law %q: must be %s or %s", q.Law, FirstHitting, LeftToRight)
	}
	read := gaps // with candidates
	if q.Gap > 0 {
		read = gaps[q.Gap-1 : q.Gap]
	}
	shortest := slices.MinFunc(read, func(a, b Gap) int { return a.Length - b.Length }).Length
	rows := 0
	for i, ids := range q.Candidates {
		bad := slices.IndexFunc(ids, func(id int) bool { return id < 0 || id >= f.Columns || slices.Contains(f.Excluded(), id) })
		switch m := len(ids); {
		case m < 1 || m > MaxTokens:
			return fmt.Errorf("candidate %d has %d tokens: must be 1..%d", i+1, m, MaxTokens)
		case bad >= 0:
			return fmt.Errorf("candidate %d: id %d is not a token of the model", i+1, ids[bad])
		case f.FixedLength && slices.ContainsFunc(read, func(g Gap) bool { return g.Length != m }):
			return fmt.Errorf("candidate %d has %d tokens, and a gap has another number: this network takes canvases of one length", i+1, m)
		case len(q.Canvas)-shortest+m > f.Length:
			return fmt.Errorf("candidate %d makes a canvas of %d positions: the model takes at most %d", i+1, len(q.Canvas)-shortest+m, f.Length)
		case q.Law == FirstHitting:
			rows += 1<<m - 1
		default:
			rows += m
		}
	}
	if rows *= len(read); rows > MaxRows {
		return fmt.Errorf("the candidates take %d rows: at most %d are allowed; give fewer or shorter ones, or the law %s", rows, MaxRows, LeftToRight)
	}
	return nil
}

// plan holds the canvases to evaluate, each once.
type plan struct {
	Question
	spec samplers.Spec
	rows map[string]*row
}

// row is a canvas with functions to call with the probabilities at its positions.
type row struct {
	canvas []int
	wants  map[int][]func(p []float64)
}

// want registers a function for the probabilities at a position of a canvas.
func (p *plan) want(canvas []int, position int, do func(p []float64)) {
	var key []byte
	for _, id := range canvas {
		key = binary.AppendUvarint(key, uint64(id))
	}
	r := p.rows[string(key)]
	if r == nil {
		r = &row{slices.Clone(canvas), make(map[int][]func([]float64))}
		p.rows[string(key)] = r
	}
	r.wants[position] = append(r.wants[position], do)
}

// top requests the most probable tokens at the positions of a gap.
func (p *plan) top(gap *Gap) {
	gap.Positions = make([]Position, gap.Length)
	for i := range gap.Positions {
		at := &gap.Positions[i]
		at.Position = gap.From + i
		p.want(p.Canvas, at.Position, func(row []float64) {
			var top []draw.Scored
			for id, x := range row {
				if x > 0 {
					logP := math.Log(x)
					at.Entropy -= x * logP
					top = draw.Among(top, draw.Scored{Token: id, LogP: logP}, p.Top)
				}
			}
			for _, t := range top {
				at.Top = append(at.Top, Token{ID: t.Token, LogP: t.LogP})
			}
		})
	}
}

// candidate requests the rows of a candidate in a gap.
func (p *plan) candidate(gap *Gap, ids []int) Candidate {
	m := len(ids)
	c := Candidate{IDs: ids, table: &subset.Table{D: m, LogMu: make([]float64, m<<m)}}
	canvas := slices.Concat(p.Canvas[:gap.From], ids, p.Canvas[gap.From+gap.Length:])
	for set := range 1<<m - 1 {
		if p.Law == LeftToRight && set&(set+1) != 0 {
			continue // The revealed tokens are not a prefix.
		}
		for i, id := range ids {
			if canvas[gap.From+i] = id; set>>i&1 == 0 {
				canvas[gap.From+i] = p.spec.Mask
			}
		}
		for i, id := range ids {
			if set>>i&1 == 0 {
				p.want(canvas, gap.From+i, func(row []float64) { c.table.LogMu[set*m+i] = math.Log(row[id]) })
			}
		}
	}
	return c
}

// settle computes the joint probability.
func (c *Candidate) settle(law Law) {
	if law == LeftToRight {
		c.LogP = estimate.Number(-c.table.Chain(likelihood.InOrder(c.table.D)))
	} else {
		c.LogP = estimate.Number(-c.table.FHS())
	}
}

// ask evaluates all rows.
func (p *plan) ask(ctx context.Context, e *likelihood.Evaluator) error {
	var asks []likelihood.Ask
	for _, key := range slices.Sorted(maps.Keys(p.rows)) { // A fixed order: which rows share a call changes their last bits.
		r := p.rows[key]
		positions := slices.Sorted(maps.Keys(r.wants))
		masked := len(p.spec.Masked(r.canvas))
		for _, l := range positions {
			r.canvas[l] = 0 // A target must have tokens at masked positions.
		}
		asks = append(asks, likelihood.Ask{
			Target: &likelihood.Target{IDs: r.canvas}, Masked: positions, Wanted: positions, LogMu: make([]float64, len(positions)),
			Lambda: float64(masked) / float64(len(r.canvas)+1),
			Whole: func(j int, row []float64) {
				for _, do := range r.wants[positions[j]] {
					do(row)
				}
			},
		})
	}
	return e.Eval(ctx, asks)
}
