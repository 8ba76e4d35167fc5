package likelihood

import (
	"context"
	"math"
	"slices"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Target is a text whose likelihood is wanted.
type Target struct {
	// IDs are the tokens of the canvas, all of them clean.
	IDs []int
	// Free are the positions whose probability is asked for, ascending; the others
	// are visible context.
	Free []int
}

// Whole is the target of a text without context.
func Whole(ids []int) Target {
	return Target{ids, InOrder(len(ids))}
}

// InOrder is 0..d−1.
func InOrder(d int) []int {
	out := make([]int, d)
	for i := range out {
		out[i] = i
	}
	return out
}

// Canvas is the text with mask at its free positions.
func (t Target) Canvas(mask int) []int {
	out := slices.Clone(t.IDs)
	for _, l := range t.Free {
		out[l] = mask
	}
	return out
}

// Ask is one row of the network with what is wanted of it.
type Ask struct {
	Target *Target
	// Masked are the positions that are MASK on the canvas, Wanted those whose rows are asked for:
	// of Masked, and of a block-causal network also others that their rows do not see.
	Masked, Wanted []int
	// Lambda is the masked fraction at which a time-conditioned network is asked; any
	// value for others.
	Lambda float64
	// LogMu receives log μ of the target's token, one for each of Wanted.
	LogMu []float64
	// LogMass, where it is not nil, receives log Σ_a μ(a) of the row as the network
	// gives it: rounding for logits, whose softmax is taken, and the deviation of a
	// score network, μ = s·(1−α)/α.
	LogMass []float64
	// Weight is 0 for a plain fill. With another, LogMu is the logarithm of the token's
	// probability under [draw.Mix] of this row and the one that the ask before, in the same
	// list and of the same Target, has at the same position, with Floor. It need not want that
	// position.
	Weight, Floor float64

	// Whole, where it is not nil, is handed the whole row of each of Wanted by its index:
	// probabilities after exclusion, temperature and truncation, one a column, valid
	// during the call. It may be called on several goroutines, once for each index.
	Whole func(j int, p []float64)
}

// Options select how rows are asked for. The zero value asks for the network's own
// distribution, with a batch that is chosen for speed.
type Options struct {
	// Batch is the greatest number of canvases of a call; 0 chooses. A call has fewer where
	// their rows would take more than 1 GB.
	Batch int
	// Draw is what tokens would be drawn from: a temperature or a truncation makes
	// every value that of the changed law.
	Draw draw.Settings
	// AllColumns normalises a row over all of its columns, MASK and padding included, as LLaDA's
	// evaluation does: tokens get less than a distribution of them has.
	AllColumns bool
	// Blocks allows a block-causal network, whose likelihood is a sum over blocks: [Evaluator.Estimate]
	// and [Evaluator.Values] work it out, and nothing else does.
	Blocks bool
}

// Totals count what an Evaluator has done.
type Totals struct {
	// Calls of the network, Rows in them, Positions whose rows were wanted.
	Calls, Rows, Positions int
	// Network is the time inside the model.
	Network time.Duration
}

// Evaluator asks a model for log-probabilities of given tokens.
type Evaluator struct {
	model    model.Model
	facts    facts.Facts
	opts     Options
	excluded []int
	// dropped are the columns that get no probability.
	dropped  []int
	category *draw.Categorical
	changed  bool
	table    table
	prober   model.LogProber // nil where rows are reduced here
	totals   Totals

	asked              samplers.Call // has the memory of calls
	targets            []int64
	sigma, mus, masses []float64
	order              []int
	canvas             []int
	row                []float64
	// whole is memory of whole rows, which the next window uses again.
	whole [2][]float64
	// kept is what the text of noisy copies, or of the call before them, keeps; nil for other calls.
	kept  samplers.Kept
	noisy bool
}

// New prepares a model for being asked.
func New(m model.Model, o Options) (*Evaluator, error) {
	if o.Batch < 0 {
		return nil, fault.Errorf("likelihood", "batch is %d: must be at least 1, or 0", o.Batch)
	}
	f := m.Facts()
	if f.BlockSize > 0 && !o.Blocks {
		return nil, fault.Errorf("likelihood", "the network is block-causal: its rows see no later block, and this is about networks whose rows see all")
	}
	o.Draw = o.Draw.Within(f.Columns - len(f.Excluded()))
	e := &Evaluator{model: m, facts: f, opts: o, excluded: f.Excluded(), row: make([]float64, f.Columns)}
	vocabulary := m.Spec().Vocabulary
	whole := o.AllColumns && len(e.excluded) > 0
	if e.dropped = e.excluded; whole {
		e.dropped, vocabulary = nil, draw.Vocabulary{Columns: f.Columns, Mask: f.Columns}
	}
	var err error
	if e.category, err = draw.NewCategorical(vocabulary, o.Draw); err != nil {
		return nil, err
	}
	e.changed = o.Draw.ChangesLaw()
	if w, ok := m.(table); ok && !e.changed && fits(w, f) {
		e.table = w
	}
	if p, ok := m.(model.LogProber); ok && !e.changed && !whole {
		e.prober = p
	}
	return e, nil
}

// Facts describes the model.
func (e *Evaluator) Facts() facts.Facts { return e.facts }

// Head is what the model is asked for; "" for a table. A fill that looks back needs whole
// rows, whatever the head.
func (e *Evaluator) Head() samplers.Head {
	switch {
	case e.table != nil:
		return ""
	case e.prober != nil:
		return samplers.HeadLogProbability
	}
	return samplers.HeadRows
}

// Totals returns what was done since New.
func (e *Evaluator) Totals() Totals { return e.totals }

// Check reports why the model cannot be asked about a target.
func (e *Evaluator) Check(t Target) error {
	switch f := e.facts; {
	case len(t.IDs) == 0:
		return fault.Errorf("likelihood", "an empty text")
	case len(t.Free) == 0:
		return fault.Errorf("likelihood", "no free position: all is context")
	case f.FixedLength && len(t.IDs) != f.Length:
		return fault.Errorf("likelihood", "a text of %d tokens: the model takes canvases of exactly %d", len(t.IDs), f.Length)
	case len(t.IDs) > f.Length:
		return fault.Errorf("likelihood", "a text of %d tokens: the model takes canvases of at most %d", len(t.IDs), f.Length)
	case f.Shift && t.Free[0] == 0:
		return fault.Errorf("likelihood", "position 0 is free: this network predicts position l from row l−1, so it must be context")
	}
	for l, id := range t.IDs {
		if id < 0 || id >= e.facts.Columns || slices.Contains(e.excluded, id) {
			return fault.Errorf("likelihood", "position %d: id %d is not a token of the model: ids are 0..%d without MASK and padding", l, id, e.facts.Columns-1)
		}
	}
	for i, l := range t.Free {
		if l < 0 || l >= len(t.IDs) || i > 0 && l <= t.Free[i-1] {
			return fault.Errorf("likelihood", "free positions must be ascending and in 0..%d", len(t.IDs)-1)
		}
	}
	return nil
}

// batchTokens and batchCells are how large a call is where Batch is 0: canvas
// positions, and values of a row that come back. Larger calls are not faster on a
// CPU (measured for the built-in model, canvases of 8 to 128 positions).
const (
	batchTokens = 1024
	batchCells  = 8 << 20
	// mostCells bounds the values of the rows of a call whatever Batch is, but for one canvas:
	// a network has all of them in memory, 1 GB, also where they do not come back.
	mostCells = 1 << 28
)

// Eval fills the answers of all asks, whose targets must have passed
// [Evaluator.Check]. Rows that want about as many positions share a call, whatever
// the order of the asks. Which asks share a call depends on nothing but the asks and
// Options.Batch, so that equal lists of asks have equal bits as answers.
func (e *Evaluator) Eval(ctx context.Context, asks []Ask) error {
	if slices.ContainsFunc(asks, func(a Ask) bool { return a.Weight != 0 }) {
		return e.evalHistory(ctx, asks)
	}
	return e.eval(ctx, asks)
}

// eval is Eval of plain fills.
func (e *Evaluator) eval(ctx context.Context, asks []Ask) error {
	if e.table != nil {
		return e.evalTable(ctx, asks)
	}
	if slices.ContainsFunc(asks, func(a Ask) bool { return a.Whole != nil }) {
		// A list that wants whole rows is answered from rows alone.
		defer func(p model.LogProber) { e.prober = p }(e.prober)
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

// Together is how many canvases of a length make a call, at most, where that many
// positions are wanted.
func (e *Evaluator) Together(length, wanted int) int {
	n, cells := e.opts.Batch, mostCells
	if n == 0 {
		if n = batchTokens / length; e.prober == nil {
			cells = batchCells
		}
	}
	return max(1, min(n, cells/(wanted*e.facts.Columns)))
}

// call asks for the rows asks[i], i in batch.
func (e *Evaluator) call(ctx context.Context, asks []Ask, batch []int) error {
	c := &e.asked
	c.IDs, c.Positions, c.Counts, c.Kept, c.Noisy = c.IDs[:0], c.Positions[:0], c.Counts[:0], c.Kept[:0], e.noisy
	e.targets, e.sigma = e.targets[:0], e.sigma[:0]
	shift := int64(0)
	if e.facts.Shift {
		shift = 1
	}
	for _, i := range batch {
		a := &asks[i]
		at := len(c.IDs)
		for _, id := range a.Target.IDs {
			c.IDs = append(c.IDs, int64(id))
		}
		for _, l := range a.Masked {
			c.IDs[at+l] = int64(e.facts.MaskID)
		}
		c.Counts = append(c.Counts, len(a.Wanted))
		for _, l := range a.Wanted {
			c.Positions = append(c.Positions, int64(l)-shift)
			e.targets = append(e.targets, int64(a.Target.IDs[l]))
		}
		e.sigma = append(e.sigma, sigma(a.Lambda))
		if e.kept != nil {
			c.Kept = append(c.Kept, e.kept)
		}
		e.totals.Positions += len(a.Wanted)
	}
	if e.facts.TimeConditioned {
		c.Sigma = e.sigma
	}
	begin := time.Now()
	var rows []float32
	var err error
	if e.prober != nil {
		e.mus, e.masses = grown(e.mus, len(c.Positions)), grown(e.masses, len(c.Positions))
		err = e.prober.LogProbs(ctx, *c, e.targets, e.mus, e.masses)
	} else {
		rows, err = e.model.Logits(ctx, *c)
	}
	e.totals.Network += time.Since(begin)
	if err != nil {
		return err
	}
	e.totals.Calls++
	e.totals.Rows += len(batch)
	if e.prober != nil {
		return e.take(asks, batch)
	}
	return e.reduce(asks, batch, rows)
}

// sigma is −log α at a masked fraction. A network has no row at infinity; what a
// fraction that rounds to 1 gets is the greatest below it.
func sigma(lambda float64) float64 { return -math.Log1p(-min(lambda, 1-0x1p-53)) }
