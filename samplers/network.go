package samplers

import (
	"context"
	"math"

	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Network is what a sampler needs of a model: the rows at wanted positions of some
// canvases.
type Network interface {
	// Spec describes the network. It does not change.
	Spec() Spec
	// Logits is one call. It returns the row of each of the call's positions, in their
	// order, [len(Positions)·columns] values that the caller must not keep beyond the next
	// call, as the network must not keep what it is handed. It is not safe for concurrent
	// use. After an
	// error that is no [TooLarge] the rows are asked for one by one.
	Logits(ctx context.Context, c Call) ([]float32, error)
}

// Spec is what samplers must know of a network.
type Spec struct {
	draw.Vocabulary
	// Noise is the schedule that the network was trained with; "" is exp.
	Noise string
	// TimeConditioned is whether the network wants σ = −log α, InfiniteSigma whether it has
	// rows at σ = +Inf, on the canvas where everything is masked at T = ∞.
	TimeConditioned, InfiniteSigma bool
	// LogScores is whether its rows are logarithms of scores, whose mass need not be 1.
	// LogMass is then the logarithm of the mass c = Σ_a s(a)/r of a row, given log Σ e^x of
	// its tokens and the −log α that it was asked at.
	LogScores bool
	LogMass   func(norm, theta float64) float64
	// BlockSize is the length of blocks, from position 0 on, whose rows see no later block; 0 where
	// every row sees all.
	BlockSize int
	// RowsStay is whether the network draws on a device that rows should not leave: tokens are
	// drawn there ([draw.ByInverse]).
	RowsStay bool
}

// Precise is a [Network] that has its rows in float64, or hands on what another has.
type Precise interface {
	// Rows is Logits, as precise as the network has it.
	Rows(ctx context.Context, c Call) (draw.Row, error)
}

// RowsOf makes a call of a network, in float64 where it is [Precise].
func RowsOf(ctx context.Context, net Network, c Call) (draw.Row, error) {
	if p, ok := net.(Precise); ok {
		return p.Rows(ctx, c)
	}
	out, err := net.Logits(ctx, c)
	return draw.Single(out), err
}

// DefaultT is T where the noise has no end: only e^(−T) = 0.7 % of a position's reveal times lie
// beyond it.
const DefaultT = 5.0

// MostMasked is the greatest masked fraction at which a network is asked: below 1 where it has
// no row at 1, that of the end of its noise.
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

// Drawer is a network that draws tokens where its rows are, so that no row leaves it.
type Drawer interface {
	Network
	// Best is one call with the head [HeadBest]: dst, one for each of the call's positions,
	// receives what [draw.Categorical.Best] gives of their rows, at a temperature and without
	// truncation: the same token, unless the uniform is within rounding of a boundary, and
	// numbers up to some 1e-6. LogP is NaN where a row has no softmax.
	Best(ctx context.Context, c Call, d Drawing, dst []draw.Best) error
}

// Drawing configures a [Drawer].
type Drawing struct {
	// Uniforms in (0,1) and Temperatures are those of the call's positions.
	Uniforms, Temperatures []float64
	// Top is how many of the most probable tokens are wanted; 0 wants none, and no entropy.
	Top int
}

// Head is what a network makes of a wanted position.
type Head string

// The heads.
const (
	// HeadRows gives the row of logits.
	HeadRows Head = "rows"
	// HeadBest gives a token drawn with a given uniform, its log-probability, and of the
	// most probable tokens as many as are asked for, with the entropy; see [draw.Best].
	HeadBest Head = "best"
	// HeadLogProbability gives the log-probability of one given token.
	HeadLogProbability Head = "log-probability"
)

// Call is what a network is asked at once: one or more canvases of one length L, each with
// as many wanted positions as it likes.
type Call struct {
	// IDs [len(Counts)·L] are the canvases, one after another.
	IDs []int64
	// Positions are the wanted positions, those of the first canvas first; Counts is how
	// many each canvas has, at least one.
	Positions []int64
	Counts    []int
	// Sigma, one a canvas, is the −log α that it is asked at; nil unless the network is
	// time-conditioned.
	Sigma []float64
	// Kept, one a canvas or nil, are the keys and values that it keeps: see [Keeper].
	Kept []Kept
	// Compute [len(Counts)·Q] are the input rows of each canvas that are computed anew, in
	// increasing order and as many for each; nil computes all of them.
	Compute []int64
	// Noisy is whether the canvases are copies of those whose keys and values Kept has, with masks
	// in any blocks, of a block-causal network: each row sees its own block as it is here, and those
	// before as they are kept. All rows are computed, and nothing is kept.
	Noisy bool
}

// Keeper is a [Network] that can keep the keys and values of a canvas from one call to the next.
// A call with Kept computes the rows of Compute: their queries attend to the fresh keys and values
// of these rows and to the kept ones of all others, and the fresh ones are kept in their place. A
// call that computes all rows fills what is kept, and gives the bits of a call without. Positions
// are among the rows of Compute.
type Keeper interface {
	Network
	// Keep returns memory for canvases of a length, which no call has filled; nil where KeptBytes
	// is 0.
	Keep(length int) Kept
	// KeptBytes is the size of that memory; 0 where the network can keep nothing, as one whose
	// file an earlier version of this program wrote.
	KeptBytes(length int) int64
}

// Kept are keys and values of one canvas. They belong to the [Keeper] that made them, and one call
// at a time uses them; without a reference they are freed.
type Kept interface {
	// Clone copies them, so that a guess or an audit leaves them as they are.
	Clone() Kept
}

// Masked are the masked positions of a canvas, ascending.
func (c *Spec) Masked(canvas []int) (out []int) {
	for l, id := range canvas {
		if id == c.Mask {
			out = append(out, l)
		}
	}
	return out
}

// InputRow is the input whose row predicts a position.
func (c *Spec) InputRow(position int) int {
	if c.Shift {
		return max(position-1, 0)
	}
	return position
}

// Add adds what is asked about a canvas, which holds ids unless the row has its own.
func (c *Call) Add(spec *Spec, ids []int64, r AskRow) {
	if r.Canvas != nil {
		ids = r.Canvas
	}
	c.IDs, c.Counts = append(c.IDs, ids...), append(c.Counts, len(r.Positions))
	for _, l := range r.Positions {
		c.Positions = append(c.Positions, int64(spec.InputRow(l)))
	}
	for _, l := range r.Compute {
		c.Compute = append(c.Compute, int64(l))
	}
	if spec.TimeConditioned {
		c.Sigma = append(c.Sigma, r.Theta)
	}
}

// Length is the length of a canvas.
func (c Call) Length() int { return len(c.IDs) / len(c.Counts) }
