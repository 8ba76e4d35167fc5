package samplers

import (
	"slices"

	"mdmgen/samplers/draw"
)

// A Method is a way to fill a canvas. It does not change and may be shared by sequences and
// goroutines; the state of a sequence is in its [Decoder]. Package catalog makes the program's
// samplers by name; others need only these two interfaces, and may also implement [By],
// [OwnSettings] and [Canvases].
type Method interface {
	// Start begins a sequence. The canvas is the sequence's own. It always holds the current tokens
	// and changes only by [Edit]; d holds the sequence's random numbers. Start returns an error if
	// this canvas cannot be filled.
	Start(c *Canvas, d *draw.Numbers) (Decoder, error)
}

// A Decoder fills one canvas: it alternately asks for rows of the network and edits the canvas
// using them. It belongs to one goroutine. It may implement [Reporter].
type Decoder interface {
	// Ask adds the requests for the next call to an empty a, or returns false if the canvas is finished.
	Ask(a *Ask) bool
	// Take receives the requested rows and edits the canvas. The rows are valid only during the
	// call of Take. An error ends this sequence and no other.
	Take(r Rows, e *Edit) error
}

// Ask is a decoder's request for one call.
type Ask struct {
	// Rows lists the canvases and their positions, at least one: guidance asks for two, look-ahead
	// for several. They are answered together.
	Rows []AskRow
	// Head selects the answer at each position; "" is [HeadRows]. With [HeadBest] every entry of Rows
	// has Uniforms, and Top is the number of most probable tokens to return. A decoder that only
	// draws from its rows should ask for HeadBest, since a network may draw without copying the row.
	Head Head
	Top  int
	// WithRows also requests the rows when Head is HeadBest.
	WithRows bool
	// Step is the step of the method's grid, for observers.
	Step int
	// Finish marks a call that fills what the method's steps left; it is counted apart.
	Finish bool
}

// AskRow is one canvas of a call.
type AskRow struct {
	// Canvas holds ids; nil is the sequence's own canvas. It must have the same length.
	Canvas []int64
	// Positions lists the positions whose tokens are queried, at least one. For a network that
	// predicts position l from row l−1 they are still the positions of the tokens; position 0,
	// which no row of such a network predicts, is answered by row 0.
	Positions []int
	// Block is the block that the call fills if the network is [Spec.Causal]; zero is the canvas's own.
	Block Span
	// Theta is the −log α passed to a time-conditioned network.
	Theta float64
	// Uniforms holds the number in (0,1) with which [HeadBest] draws at each of Positions.
	Uniforms []float64
	// Keep, if above 0, is the number of the sequence's set of kept keys and values ([Keeper]) for
	// this call. The call updates the set, unless Guess is true. 0 keeps none.
	Keep  int
	Guess bool
	// Compute lists the input rows to be computed, in ascending order; the others are used as kept.
	// nil computes all rows.
	Compute []int
	// Beside marks a row that only serves to audit others and is not counted in totals.
	Beside bool
}

// IDs is the canvas that is asked about, which is c where the row has none of its own.
func (r AskRow) IDs(c *Canvas) []int64 {
	if r.Canvas != nil {
		return r.Canvas
	}
	return c.ids
}

// Seen is IDs as the row of a position stands for it: a causal row sees no draft at its position or
// behind, where c decides.
func (r AskRow) Seen(c *Canvas, position int) []int64 {
	if ids := r.IDs(c); !c.spec.Causal || r.Block.From < r.Block.To || r.Canvas == nil {
		return ids
	}
	return append(slices.Clone(r.Canvas[:position]), c.ids[position:]...)
}

// Rows is the answer to an [Ask]. Row (i, j) belongs to the j-th position of the i-th canvas. An
// answer of [HeadBest] supports only Best, unless the ask has WithRows; other answers support all
// methods but Best.
type Rows struct {
	columns int
	data    []draw.Row
	best    [][]draw.Result
	draw    *draw.Categorical
}

// NewRows returns an answer for use outside an engine. It holds data or best, one for each canvas,
// depending on the head.
func NewRows(columns int, data []draw.Row, best [][]draw.Result, from *draw.Categorical) Rows {
	return Rows{columns, data, best, from}
}

// Categorical returns the distribution by which tokens are drawn from the rows.
func (r Rows) Categorical() *draw.Categorical { return r.draw }

// Best returns the answer of [HeadBest] for a row: a token drawn with the uniform of its position,
// after exclusion, temperature and truncation. Its errors are those of [draw.Categorical.Token].
// The caller owns the result's Top.
func (r Rows) Best(i, j int) (draw.Best, error) { return r.best[i][j].Best, r.best[i][j].Err }

// Row returns a row as the network computed it, with one value per column.
func (r Rows) Row(i, j int) draw.Row { return r.data[i].Slice(j*r.columns, (j+1)*r.columns) }

// Logits returns the same in float32.
func (r Rows) Logits(i, j int) []float32 { return r.Row(i, j).Float32() }

// Columns returns the length of a row.
func (r Rows) Columns() int { return r.columns }

// Token draws from a row with one uniform u in (0,1), after exclusion, temperature and truncation.
// logP is the log-probability of the token under the distribution it was drawn from, in nats.
// Errors are those of [draw.Categorical.Token].
func (r Rows) Token(i, j int, u float64) (token int, logP float64, err error) {
	return r.draw.TokenLog(r.Row(i, j), u)
}

// Probabilities writes to dst, per column, the distribution that Token draws from.
func (r Rows) Probabilities(dst []float64, i, j int) error {
	return r.draw.Probabilities(dst, r.Row(i, j))
}

// Step is what one call did to one sequence.
type Step struct {
	Index uint64
	// Step, Finish and Theta are copied from the [Ask]; Theta is that of its first canvas.
	Step   int
	Finish bool
	Theta  float64
	// Positions received Tokens, drawn with log-probabilities LogP in nats, in the decoder's order.
	// Hits holds the masked fractions at which they were revealed; it is empty for methods that do
	// not simulate time.
	Positions, Tokens []int
	LogP, Hits        []float64
	// Top holds the most probable tokens at each of Positions by the network's own row, after
	// temperature and truncation, the most probable first. Entropy is the mean entropy of the
	// requested rows, in nats. Both are set only if [Config.Top] is above 0.
	Top     [][]draw.Scored
	Entropy float64
	// Masked lists positions that were masked again. Filled is the decrease in masked positions,
	// not counting appended masks. Grown is the number of appended masks.
	Masked        []int
	Filled, Grown int
	// Rows is the number of canvases queried, Computed the number of their positions that were
	// computed, and Cached that of those taken from a [Store].
	Rows, Computed, Cached int
	// Result is set in the last step of a sequence.
	Result *Result
}

// empty resets a step but keeps its memory.
func (s *Step) empty() {
	*s = Step{Positions: s.Positions[:0], Tokens: s.Tokens[:0], LogP: s.LogP[:0], Hits: s.Hits[:0], Masked: s.Masked[:0]}
}

// clone copies the memory that the next call reuses.
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
	// IDs is the filled canvas, with MASK at positions that were left masked. It belongs to the receiver.
	IDs []int
	// Calls counts the calls that the sequence took part in, except FinishCalls, which filled what
	// its steps left. Rows counts the canvases queried in all of them.
	Calls, FinishCalls, Rows int
	// RuleCalls counts the calls that the decoder's rule makes, if it depends on rows: Calls and
	// those that cannot commit anything.
	RuleCalls int
	// LogP is the sum of the log-probabilities with which its tokens were drawn, in nats.
	LogP float64
	// Left is the number of positions that are still masked.
	Left int
	// Audit is the report of a decoder that compares rows, nil for others.
	Audit *Audit
}
