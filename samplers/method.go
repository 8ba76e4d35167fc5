package samplers

import (
	"slices"

	"mdmgen/samplers/draw"
)

// A Method is a way to fill a canvas. It does not change and may be shared by sequences and
// goroutines; what a sequence needs is in its [Decoder]. Package catalog makes those that the
// program offers by name; others need no more than these two interfaces, and may be [By],
// [OwnSettings] and [Canvases] too.
type Method interface {
	// Start begins a sequence. The canvas is the sequence's own, as it will be at every
	// call, and changes by [Edit] only; draws are its random numbers. An error is why
	// this canvas cannot be filled.
	Start(c *Canvas, d *draw.Numbers) (Decoder, error)
}

// A Decoder fills one canvas: it asks for rows of the network and edits the canvas by
// them, by turns. It belongs to one goroutine. It may be a [Reporter].
type Decoder interface {
	// Ask adds to an empty a what the next call must return, or returns false: the
	// canvas is finished.
	Ask(a *Ask) bool
	// Take is handed the rows that were asked for and edits the canvas. Rows are valid
	// during the call only. An error ends the sequence, and no other.
	Take(r Rows, e *Edit) error
}

// Ask is what a decoder wants of one call.
type Ask struct {
	// Rows are canvases with positions, one or more: guidance asks two, look-ahead
	// several. They are answered together.
	Rows []AskRow
	// Head is what is made of each position, [HeadRows] where it is ""; with [HeadBest] each
	// of Rows has Uniforms, and Top is how many of the most probable tokens are wanted. A
	// decoder that only draws from its rows asks for HeadBest: a network may do that where
	// the row is.
	Head Head
	Top  int
	// RowsToo is whether rows are read beside what HeadBest gives.
	RowsToo bool
	// Step is the step of the method's grid, for observers.
	Step int
	// Finish is whether this call fills what the method's steps left; it is counted apart.
	Finish bool
}

// AskRow is one canvas of a call.
type AskRow struct {
	// Canvas holds ids; nil is the sequence's own canvas. It must have the same length.
	Canvas []int64
	// Positions are those whose tokens are asked about, at least one. In a network that
	// predicts position l from row l−1 they are still the tokens' own; position 0, which no
	// row predicts there, is answered by row 0.
	Positions []int
	// Theta is the −log α that a time-conditioned network is asked at.
	Theta float64
	// Uniforms, one in (0,1) for each of Positions, are what [HeadBest] draws with.
	Uniforms []float64
	// Keep, above 0, is the number of a set of keys and values that the sequence keeps ([Keeper]),
	// which the call renews, or which stays as it is where the row is a Guess; 0 keeps none.
	Keep  int
	Guess bool
	// Compute are the input rows that are computed anew, ascending, beside the others as they are
	// kept; nil computes all.
	Compute []int
	// Beside is whether the row is asked to judge others, which totals do not count.
	Beside bool
}

// IDs is the canvas that is asked about, which is c where the row has none of its own.
func (r AskRow) IDs(c *Canvas) []int64 {
	if r.Canvas != nil {
		return r.Canvas
	}
	return c.ids
}

// Rows are the answer to an [Ask]. Row (i, j) belongs to the j-th position of its i-th
// canvas. Those of [HeadBest] have nothing but Best, the others all else.
type Rows struct {
	head    Head
	columns int
	data    []draw.Row
	best    [][]draw.Result
	draw    *draw.Categorical
}

// NewRows returns the answer to an ask outside an engine: data, or best, one a canvas, by head.
func NewRows(head Head, columns int, data []draw.Row, best [][]draw.Result, law *draw.Categorical) Rows {
	return Rows{head, columns, data, best, law}
}

// Head is the head of the ask.
func (r Rows) Head() Head { return r.head }

// Categorical draws from the rows.
func (r Rows) Categorical() *draw.Categorical { return r.draw }

// Best returns what [HeadBest] gave of a row: a token drawn with the uniform of its
// position, after exclusion, temperature and truncation. Errors are those of
// [draw.Categorical.Token]. Top belongs to the receiver.
func (r Rows) Best(i, j int) (draw.Best, error) { return r.best[i][j].Best, r.best[i][j].Err }

// Row returns a row as the network gave it, one value a column; Logits is it in float32.
func (r Rows) Row(i, j int) draw.Row     { return r.data[i].Slice(j*r.columns, (j+1)*r.columns) }
func (r Rows) Logits(i, j int) []float32 { return r.Row(i, j).Float32() }

// Columns is the length of a row.
func (r Rows) Columns() int { return r.columns }

// Token draws from a row with one uniform u in (0,1), after exclusion, temperature and
// truncation; log p is its logarithm under what it was drawn from, in nats. Errors are
// those of [draw.Categorical.Token].
func (r Rows) Token(i, j int, u float64) (token int, logP float64, err error) {
	return r.draw.TokenLog(r.Row(i, j), u)
}

// Probabilities writes to dst, one a column, what Token draws from.
func (r Rows) Probabilities(dst []float64, i, j int) error {
	return r.draw.Probabilities(dst, r.Row(i, j))
}

// LogSum returns log Σ e^x over the columns of a row that may get probability, in float64,
// whatever the temperature and whatever is suppressed.
func (r Rows) LogSum(i, j int) (float64, error) { return r.draw.LogSum(r.Row(i, j)) }

// Step is what one call did to one sequence.
type Step struct {
	Index uint64
	// Step, Finish and Theta are those of the [Ask], the last that of its first canvas.
	Step   int
	Finish bool
	Theta  float64
	// Positions got Tokens, drawn with the log-probabilities LogP in nats, in the decoder's
	// order. Hits are the masked fractions at which they were revealed, empty for methods
	// that simulate no time.
	Positions, Tokens []int
	LogP, Hits        []float64
	// Top are the most probable tokens at each of Positions by the network's own row, after temperature and
	// truncation, the most probable first, and Entropy is the mean entropy, in nats, of the rows that were
	// asked. Both are only there where [Config.Top] wants them.
	Top     [][]draw.Scored
	Entropy float64
	// Masked are positions that were masked again. Filled is by how many fewer positions of the
	// canvas are masked than before the call, Grown masks that were appended not counted.
	Masked        []int
	Filled, Grown int
	// Rows is the number of canvases that were asked, Computed that of their positions that were
	// computed.
	Rows, Computed int
	// Result is set in the last step of a sequence.
	Result *Result
}

// empty leaves nothing of a step but its memory.
func (s *Step) empty() {
	*s = Step{Positions: s.Positions[:0], Tokens: s.Tokens[:0], LogP: s.LogP[:0], Hits: s.Hits[:0], Masked: s.Masked[:0]}
}

// clone copies what is used again for the next call.
func (s Step) clone() Step {
	if s.Result != nil {
		r := *s.Result
		s.Result = &r
	}
	s.Positions, s.Tokens, s.Masked = slices.Clone(s.Positions), slices.Clone(s.Tokens), slices.Clone(s.Masked)
	s.LogP, s.Hits = slices.Clone(s.LogP), slices.Clone(s.Hits)
	return s
}

// Result is a finished sequence.
type Result struct {
	Index uint64
	// IDs is the canvas, filled; MASK where a position was left masked. It belongs to
	// the receiver.
	IDs []int
	// Calls counts the calls that the sequence took part in but for FinishCalls, those
	// that filled what its steps left; Rows are the canvases that it asked in all of them.
	Calls, FinishCalls, Rows int
	// RuleCalls counts the calls that the rule of a decoder makes, where that looks at rows:
	// Calls and those that can commit nothing.
	RuleCalls int
	// LogP is the sum of the log-probabilities that its tokens were drawn with, in nats.
	LogP float64
	// Left counts positions that are still masked.
	Left int
	// Events is the number of events of a method that simulates them, reveals included.
	Events int
	// Audit is what a decoder found that compares rows, nil for others.
	Audit *Audit
	// LogZ is the estimate of a decoder that weighs particles, nil for others.
	LogZ *float64
}
