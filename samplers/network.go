package samplers

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Network is the interface of a model to samplers. It returns the rows at requested positions of
// canvases.
type Network interface {
	// Spec returns the network's description, which does not change.
	Spec() Spec
	// Logits makes one call. It returns the row of each of the call's positions in their order, a
	// slice of [len(Positions)·columns] values that is valid until the next call. The network must
	// not keep its arguments. Logits is not safe for concurrent use. After an error that is not a
	// [TooLarge] the engine asks for the rows one by one.
	Logits(ctx context.Context, c Call) ([]float32, error)
}

// Spec describes a network to samplers.
type Spec struct {
	draw.Vocabulary
	// Noise is the schedule that the network was trained with; "" means exp.
	Noise string
	// TimeConditioned reports whether the network takes σ = −log α. InfiniteSigma reports whether
	// it has rows at σ = +Inf, for the fully masked canvas at T = ∞.
	TimeConditioned, InfiniteSigma bool
	// BlockSize is the length of the blocks, from position 0 on, whose rows do not depend on later
	// blocks; 0 if every row depends on all positions. If the network is Causal it is only the length
	// that it was trained with.
	BlockSize int
	// Causal reports whether the network has two laws: rows of a block, which may begin at any
	// position and have any length, and causal rows of what is before it. See [Span].
	Causal bool
	// RowsStay reports whether the network draws on a device that rows should not leave: tokens are
	// drawn there ([draw.ByInverse]).
	RowsStay bool
}

// Grid returns the length of the blocks, from position 0 on, of a block-causal network; 0 for others.
func (c *Spec) Grid() int {
	if c.Causal {
		return 0
	}
	return c.BlockSize
}

// Span is the block From..To, To excluded, that a call of a [Spec.Causal] network fills. The input row
// of a position before it is causal: it depends on positions up to its own. The rows of the block
// depend on all positions before To, and no row depends on later ones.
//
// If the block is empty, the call queries causal rows: the token at position l, at most To, is
// predicted by input row l−1, so none predicts that at position 0. Otherwise it queries positions in
// the block, each predicted by its own row. {L, L} reads a text of L tokens causally, and {P, P} draws
// the first token after P. The zero Span stands for all of a canvas.
type Span struct{ From, To int }

// fault returns the first problem with a request about a block on a canvas, "" if there is none.
func (s Span) fault(length int, positions []int) string {
	first, last := s.From, s.To-1
	if s.From == s.To {
		first, last = 1, min(s.To, length-1)
	}
	if s.From < 0 || s.From > s.To || s.To < 1 || s.To > length {
		return fmt.Sprintf("the decoder asks about the block %d..%d of a canvas of %d", s.From, s.To, length)
	}
	for _, l := range positions {
		if l < first || l > last {
			return fmt.Sprintf("the decoder asks about position %d beside the block %d..%d: must be in %d..%d", l, s.From, s.To, first, last)
		}
	}
	return ""
}

// Precise is a [Network] that computes its rows in float64, or wraps one that does.
type Precise interface {
	// Rows is like Logits, in the network's own precision.
	Rows(ctx context.Context, c Call) (draw.Row, error)
}

// RowsOf makes a network call, in float64 if the network is [Precise].
func RowsOf(ctx context.Context, net Network, c Call) (draw.Row, error) {
	if p, ok := net.(Precise); ok {
		return p.Rows(ctx, c)
	}
	out, err := net.Logits(ctx, c)
	return draw.Single(out), err
}

// DefaultT is T for noise without an end: only e^(−T) = 0.7 % of a position's reveal times lie
// beyond it.
const DefaultT = 5.0

// MostMasked returns the greatest masked fraction at which the network can be queried: 1 if it has
// a row there, otherwise the fraction at the end of its noise.
func (c *Spec) MostMasked() float64 {
	if !c.TimeConditioned || c.InfiniteSigma {
		return 1
	}
	noise, _ := schedule.ParseNoise(c.Noise) // which New has checked
	_, end := noise.Range()
	if math.IsInf(end, 1) {
		end = DefaultT
	}
	return schedule.LambdaOf(end)
}

// Drawer is a network that can draw tokens itself, so that no row leaves it.
type Drawer interface {
	Network
	// Best makes one call with the head [HeadBest]. dst, with one element for each of the call's
	// positions, receives what [draw.Categorical.Best] returns for their rows, at a temperature and
	// without truncation: the same token, unless the uniform is within rounding of a boundary, and
	// numbers that differ by up to about 1e-6. LogP is NaN if a row has no softmax.
	Best(ctx context.Context, c Call, d Drawing, dst []draw.Best) error
}

// Drawing configures a [Drawer].
type Drawing struct {
	// Uniforms in (0,1) and Temperatures hold one value for each of the call's positions.
	Uniforms, Temperatures []float64
	// Top is the number of most probable tokens to return; 0 returns none, and no entropy.
	Top int
}

// Head is the kind of answer at a position.
type Head string

// The heads.
const (
	// HeadRows is the row of logits.
	HeadRows Head = "rows"
	// HeadBest is a token drawn with a given uniform, its log-probability, and the requested number
	// of most probable tokens with the entropy; see [draw.Best].
	HeadBest Head = "best"
	// HeadLogProbability is the log-probability of one given token.
	HeadLogProbability Head = "log-probability"
)

// Call is the input of one network call: one or more canvases of one length L, each with any number
// of positions to answer.
type Call struct {
	// IDs [len(Counts)·L] holds the canvases, one after another.
	IDs []int64
	// Positions lists the requested positions, those of the first canvas first. Counts holds their
	// number for each canvas, at least one.
	Positions []int64
	Counts    []int
	// Sigma holds the −log α of each canvas; it is nil unless the network is time-conditioned.
	Sigma []float64
	// Kept holds the keys and values of each canvas, or is nil: see [Keeper].
	Kept []Kept
	// Compute [len(Counts)·Q] lists the input rows to be computed for each canvas, in increasing
	// order and equally many for each; nil computes all of them.
	Compute []int64
	// Noisy marks canvases that are copies, with masks in any blocks, of those whose keys and
	// values are in Kept, for a block-causal network. Each row attends to its own block of the
	// copy, and to the kept blocks before it. All rows are computed, and nothing is kept. With
	// Blocks each of them is the first of a canvas's blocks, which all have its length; the kept
	// rows are causal.
	Noisy bool
	// Blocks holds the block of each canvas if the network is [Spec.Causal]; nil is all of each.
	Blocks []Span
}

// Keeper is a [Network] that can keep the keys and values of a canvas from one call to the next. A
// call with Kept computes the rows of Compute. Their queries attend to the fresh keys and values of
// these rows and to the kept ones of all others, and the fresh ones replace the kept ones. A call
// that computes all rows fills Kept and returns the same bits as a call without. The call's
// positions are among the rows of Compute.
//
// The kept rows of a [Spec.Causal] network from before a call's block must be causal ones: those of a
// finished block are computed once more. Those behind the block, there and in a block-causal network, need
// not be filled.
type Keeper interface {
	Network
	// Keep returns memory for canvases of a length, not yet filled by a call. It is nil if
	// KeptBytes returns 0.
	Keep(length int) Kept
	// KeptBytes returns the size of that memory, or 0 if the network cannot keep anything, such as
	// one whose file was written by an earlier version of this program.
	KeptBytes(length int) int64
}

// Kept holds keys and values of one canvas. They belong to the [Keeper] that made them, and are
// used by one call at a time. They are freed when they are no longer referenced.
type Kept interface {
	// Clone returns a copy, so that a guess or an audit does not change the original.
	Clone() Kept
	// Cut returns a copy of the rows of positions from..to, to excluded. Paste copies rows that were cut
	// from another canvas, with the same tokens up to these, to the same positions.
	Cut(from, to int) Kept
	Paste(from int, rows Kept)
}

// Masked returns the masked positions of a canvas in ascending order.
func (c *Spec) Masked(canvas []int) (out []int) {
	for l, id := range canvas {
		if id == c.Mask {
			out = append(out, l)
		}
	}
	return out
}

// InputRow returns the input row that predicts a position in a call about a block, which only matters
// to a [Spec.Causal] network.
func (c *Spec) InputRow(position int, block Span) int {
	if c.Shift || c.Causal && block.From == block.To && block.To > 0 {
		return max(position-1, 0)
	}
	return position
}

// Add adds a request about a canvas, which holds ids unless r has its own canvas.
func (c *Call) Add(spec *Spec, ids []int64, r AskRow) {
	if r.Canvas != nil {
		ids = r.Canvas
	}
	c.IDs, c.Counts = append(c.IDs, ids...), append(c.Counts, len(r.Positions))
	for _, l := range r.Positions {
		c.Positions = append(c.Positions, int64(spec.InputRow(l, r.Block)))
	}
	for _, l := range r.Compute {
		c.Compute = append(c.Compute, int64(l))
	}
	if spec.TimeConditioned {
		c.Sigma = append(c.Sigma, r.Theta)
	}
	if spec.Causal {
		c.Blocks = append(c.Blocks, cmp.Or(r.Block, Span{To: len(ids)}))
	}
}

// Length returns the length of a canvas.
func (c Call) Length() int { return len(c.IDs) / len(c.Counts) }
