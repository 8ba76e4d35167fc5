package likelihood

import (
	"context"
	"math"
	"slices"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/layer"
)

// Target is a text to evaluate.
type Target struct {
	// IDs are the tokens of the canvas, all of them clean.
	IDs []int
	// Free are the positions to evaluate, ascending; the others are visible context.
	Free []int
	// Block is the block whose rows answer, for a network with causal rows.
	Block samplers.Span
}

// Whole returns the target of a text without context.
func Whole(ids []int) Target {
	return Target{IDs: ids, Free: InOrder(len(ids))}
}

// Framed is Whole of a text inside the network's frame, which is given.
func Framed(f Facts, ids []int) Target {
	from := len(f.Frame) / 2
	return Target{IDs: f.Framed(ids), Free: InOrder(len(ids) + from)[from:]}
}

// InOrder returns 0..d−1.
func InOrder(d int) []int {
	out := make([]int, d)
	for i := range out {
		out[i] = i
	}
	return out
}

// Canvas returns the text with mask at its free positions.
func (t Target) Canvas(mask int) []int {
	out := slices.Clone(t.IDs)
	for _, l := range t.Free {
		out[l] = mask
	}
	return out
}

// Ask requests log-probabilities from one row of the network.
type Ask struct {
	Target *Target
	// Masked are the positions that are MASK on the canvas. Wanted are the positions to answer: a
	// subset of Masked, and for a block-causal network also positions that their rows do not see.
	Masked, Wanted []int
	// Lambda is the masked fraction for a time-conditioned network; others ignore it.
	Lambda float64
	// LogMu receives log μ of the target's token, one value per element of Wanted.
	LogMu []float64
	// LogMass, if not nil, receives log Σ_a μ(a) of the unnormalised row: only rounding error for
	// logits, whose softmax is taken, and the deviation of a score network, μ = s·(1−α)/α.
	LogMass []float64
	// Whole, if not nil, is called with the index of each element of Wanted and its whole row:
	// probabilities after exclusion, temperature and truncation, one per column, valid during the
	// call. It may be called from several goroutines, once for each index.
	Whole func(j int, p []float64)
}

// Options configure an Evaluator. The zero value evaluates the network's own distribution, with a
// batch size chosen for speed.
type Options struct {
	// Batch is the greatest number of canvases in a call; 0 chooses. A call has fewer if their rows
	// would take more than 1 GB.
	Batch int
	// Draw changes the evaluated distribution: with a temperature or a truncation, every value is
	// that of the changed law.
	Draw draw.Settings
	// AllColumns normalises a row over all columns, MASK and padding included, as LLaDA's
	// evaluation does. The probabilities of tokens then sum to less than 1.
	AllColumns bool
	// Guidance is w in (1+w)·row − w·second, 0 for none: the second canvas hides all but the free
	// positions, as in LLaDA's evaluation.
	Guidance float64
	// Blocks allows a block-causal network, whose likelihood is a sum over blocks. Only
	// [Evaluator.Estimate], [Evaluator.Draws] and [Evaluator.Values] support it.
	Blocks bool
}

// Totals counts the work of an Evaluator.
type Totals struct {
	// Calls of the network, Rows in them, Positions wanted.
	Calls, Rows, Positions int
	// Network is the time inside the model.
	Network time.Duration
}

// Facts describe a network, as those of package model.
type Facts = facts.Facts

// Model is a network with facts: one that package model opens, or a world's table.
type Model interface {
	samplers.Network
	Facts() Facts
}

// prober is a [model.LogProber].
type prober interface {
	LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error
}

// Evaluator computes a model's log-probabilities of given tokens.
type Evaluator struct {
	model    Model
	facts    facts.Facts
	opts     Options
	excluded []int
	category *draw.Categorical
	changed  bool
	prober   prober // nil if rows are reduced here
	totals   Totals

	asked       samplers.Call // reused by all calls, like the following
	ids         []int64       // of a canvas
	targets     []int64
	mus, masses []float64
	order       []int
	// kept holds the keys and values that a text's noisy copies, or the call before them, use; nil
	// for other calls.
	kept  samplers.Kept
	noisy bool
}

// New returns an evaluator of a model.
func New(m Model, o Options) (*Evaluator, error) {
	if o.Batch < 0 {
		return nil, fault.Errorf("likelihood", "batch is %d: must be at least 1, or 0", o.Batch)
	}
	f := m.Facts()
	if f.BlockSize > 0 && !o.Blocks {
		return nil, fault.Errorf("likelihood", "the network is block-causal: its rows see no later block, but this needs a network whose rows see all positions")
	}
	o.Draw = o.Draw.Within(f.Columns - len(f.Excluded()))
	e := &Evaluator{model: m, facts: f, opts: o, excluded: f.Excluded()}
	vocabulary := m.Spec().Vocabulary
	whole := o.AllColumns && len(e.excluded) > 0
	if whole {
		vocabulary = draw.Vocabulary{Columns: f.Columns, Mask: f.Columns}
	}
	var err error
	if e.category, err = draw.NewCategorical(vocabulary, o.Draw); err != nil {
		return nil, err
	}
	e.changed = o.Draw.ChangesLaw()
	if p, ok := m.(prober); ok && !e.changed && o.Guidance == 0 && !whole {
		e.prober = p
	}
	return e, nil
}

// Facts returns the facts of the model.
func (e *Evaluator) Facts() Facts { return e.facts }

// Head returns the head that the model is called with.
func (e *Evaluator) Head() samplers.Head {
	if e.prober != nil {
		return samplers.HeadLogProbability
	}
	return samplers.HeadRows
}

// Totals returns the work done since New.
func (e *Evaluator) Totals() Totals { return e.totals }

// Check returns an error if the model cannot evaluate a target.
func (e *Evaluator) Check(t Target) error {
	if err := e.checkShape(t); err != nil {
		return err
	}
	for l, id := range t.IDs {
		if _, free := slices.BinarySearch(t.Free, l); id < 0 || id >= e.facts.Columns || id == e.facts.MaskID || free && slices.Contains(e.excluded, id) {
			return fault.Errorf("likelihood", "position %d: id %d is not a token of the model: ids are 0..%d without MASK, padding and special tokens", l, id, e.facts.Columns-1)
		}
	}
	return nil
}

// checkShape is Check without the tokens.
func (e *Evaluator) checkShape(t Target) error {
	switch f := e.facts; {
	case len(t.IDs) == 0:
		return fault.Errorf("likelihood", "an empty text")
	case len(t.Free) == 0:
		return fault.Errorf("likelihood", "no free position: every token is context")
	case f.FixedLength && len(t.IDs) != f.Length:
		return fault.Errorf("likelihood", "a text of %d tokens: the model takes canvases of exactly %d", len(t.IDs), f.Length)
	case len(t.IDs) > f.Length:
		return fault.Errorf("likelihood", "a text of %d tokens: the model takes canvases of at most %d", len(t.IDs), f.Length)
	case f.NeedsFirst() && t.Free[0] == 0:
		return fault.Errorf("likelihood", "position 0 is free: this network predicts the first position from the row before it, so it must be context")
	}
	for i, l := range t.Free {
		if l < 0 || l >= len(t.IDs) || i > 0 && l <= t.Free[i-1] {
			return fault.Errorf("likelihood", "free positions must be ascending and in 0..%d", len(t.IDs)-1)
		}
	}
	return nil
}

// batchTokens and batchCells limit a call if Batch is 0: its canvas positions and the row values
// that it returns. Larger calls are not faster on a CPU (measured for the built-in model, canvases
// of 8 to 128 positions).
const (
	batchTokens = 1024
	batchCells  = 8 << 20
	// maxCells bounds the values of the rows of a call of more than one canvas, whatever Batch is:
	// a network holds all of them in memory, 1 GB, even if it does not return them.
	maxCells = 1 << 28
)

// Eval answers all asks, whose targets must have passed [Evaluator.Check]. Asks that want about as
// many positions share a call, whatever their order. Which asks share a call depends only on the
// asks and Options.Batch, so equal lists of asks get the same bits.
func (e *Evaluator) Eval(ctx context.Context, asks []Ask) error {
	if slices.ContainsFunc(asks, func(a Ask) bool { return a.Whole != nil }) {
		// Whole rows are available only if the model returns rows.
		defer func(p prober) { e.prober = p }(e.prober)
		e.prober = nil
	}
	e.order = e.order[:0]
	for i := range asks {
		if len(asks[i].Wanted) > 0 {
			e.order = append(e.order, i)
		}
	}
	slices.SortStableFunc(e.order, func(a, b int) int {
		if c := len(asks[b].Target.IDs) - len(asks[a].Target.IDs); c != 0 {
			return c
		}
		return len(asks[b].Wanted) - len(asks[a].Wanted)
	})
	for rest := e.order; len(rest) > 0; {
		first := asks[rest[0]]
		length, wanted := len(first.Target.IDs), len(first.Wanted)
		n := min(e.Together(length, wanted), len(rest))
		for len(asks[rest[n-1]].Target.IDs) != length {
			n--
		}
		if err := e.call(ctx, asks, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// Together returns the greatest number of canvases in a call, for a length and a number of wanted
// positions.
func (e *Evaluator) Together(length, wanted int) int {
	n, cells := e.opts.Batch, maxCells
	if n == 0 {
		if n = batchTokens / length; e.prober == nil {
			cells = batchCells
		}
	}
	if e.opts.Guidance != 0 {
		n, cells = n/2, cells/2
	}
	return max(1, min(n, cells/(wanted*e.facts.Columns)))
}

// call evaluates the rows asks[i], i in batch.
func (e *Evaluator) call(ctx context.Context, asks []Ask, batch []int) error {
	c := &e.asked
	*c = samplers.Call{IDs: c.IDs[:0], Positions: c.Positions[:0], Counts: c.Counts[:0], Sigma: c.Sigma[:0], Kept: c.Kept[:0], Blocks: c.Blocks[:0], Noisy: e.noisy}
	e.targets = e.targets[:0]
	spec := e.model.Spec()
	for _, i := range batch {
		a := &asks[i]
		e.ids = e.ids[:0]
		for _, id := range a.Target.IDs {
			e.ids = append(e.ids, int64(id))
		}
		for _, l := range a.Masked {
			e.ids[l] = int64(e.facts.MaskID)
		}
		c.Add(&spec, e.ids, samplers.AskRow{Positions: a.Wanted, Block: a.Target.Block, Theta: e.sigmaAt(a.Lambda)})
		for _, l := range a.Wanted {
			e.targets = append(e.targets, int64(a.Target.IDs[l]))
		}
		if e.kept != nil {
			c.Kept = append(c.Kept, e.kept)
		}
	}
	if e.opts.Guidance != 0 {
		e.second(asks, batch)
	}
	e.totals.Positions += len(c.Positions)
	begin := time.Now()
	var rows draw.Row
	var err error
	if e.prober != nil {
		e.mus, e.masses = grown(e.mus, len(c.Positions)), grown(e.masses, len(c.Positions))
		err = e.prober.LogProbs(ctx, *c, e.targets, e.mus, e.masses)
	} else {
		rows, err = samplers.RowsOf(ctx, e.model, *c)
	}
	e.totals.Network += time.Since(begin)
	if err != nil {
		return err
	}
	e.totals.Calls++
	e.totals.Rows += len(c.Counts)
	if e.prober != nil {
		return e.take(asks, batch)
	}
	if half := rows.Len() / 2; e.opts.Guidance != 0 {
		(&layer.Guidance{W: e.opts.Guidance}).Guide(rows.Slice(0, half), rows.Slice(half, 2*half))
		rows = rows.Slice(0, half)
	}
	return e.reduce(asks, batch, rows)
}

// second adds the second canvases to a call, in the order of the first.
func (e *Evaluator) second(asks []Ask, batch []int) {
	c, at := &e.asked, 0
	c.IDs = append(c.IDs, c.IDs...)
	for _, i := range batch {
		ids := c.IDs[len(c.IDs)/2+at:]
		for l := range asks[i].Target.IDs {
			if _, free := slices.BinarySearch(asks[i].Target.Free, l); !free {
				ids[l] = int64(e.facts.MaskID)
			}
		}
		at += len(asks[i].Target.IDs)
	}
	c.Positions, c.Counts, c.Sigma = append(c.Positions, c.Positions...), append(c.Counts, c.Counts...), append(c.Sigma, c.Sigma...)
}

// sigmaAt returns −log α at a masked fraction. If the network has no row at infinity, a fraction that
// rounds to 1 becomes the greatest number below 1.
func (e *Evaluator) sigmaAt(lambda float64) float64 {
	if !e.model.Spec().InfiniteSigma {
		lambda = min(lambda, 1-0x1p-53)
	}
	return -math.Log1p(-lambda)
}
