package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
)

// AgainstSchema names the layout of a [Difference]'s JSON form.
const AgainstSchema = "mdmgen.verify-against/1"

// AgainstConfig configures the comparison of two networks.
type AgainstConfig struct {
	// Draws is the number of canvases per window; 0 means 16.
	Draws int
	// Batch is the greatest number of canvases in a call; 0 chooses.
	Batch      int
	Seed       uint64
	Confidence float64
	// Documents has a number for each window, the same for windows that are one unit of an error;
	// nil if each window is a unit.
	Documents []int
	// Limit is the greatest mean KL that passes, nil for no limit.
	Limit *float64
	// Done, if not nil, is called after each window.
	Done func()
}

// Difference is the cost of using a network in place of another, the reference, on the same
// canvases. μ is the distribution of the clean token at a masked position, normalised over all
// columns but the excluded ones.
type Difference struct {
	Schema  string `json:"schema"`
	OK      bool   `json:"ok"`
	Windows int    `json:"windows"`
	// Tokens counts the free positions of the windows, Draws the canvases of each.
	Tokens int `json:"tokens"`
	Draws  int `json:"draws"`
	// Limit is the limit of All.KL.
	Limit *float64 `json:"limit,omitempty"`
	// Bands divide the rows by the masked fraction of a window's free positions; those without rows
	// are omitted. All covers every row.
	Bands []Band `json:"bands"`
	All   Band   `json:"all"`
	// NELBO, in nats per token, is estimated on the same windows with the same masks, so the
	// interval of the change is narrower than those of its sides. Intervals are over windows, or
	// over documents if those are given.
	NELBO Paired `json:"nelbo"`
}

// Paired holds a number of two models and its change from one to the other.
type Paired struct {
	Reference estimate.Estimate `json:"reference"`
	Model     estimate.Estimate `json:"model"`
	// Change is Model − Reference: positive if the text became less probable.
	Change estimate.Estimate `json:"change"`
}

// Band summarizes the rows in a range of masked fractions.
type Band struct {
	// From and To bound the masked fraction: From < k/d ≤ To.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Positions counts the masked positions whose rows were compared.
	Positions int `json:"positions"`
	// KL estimates the mean of KL(μ_reference‖μ_model) in nats per token, Greatest is the greatest
	// of them: +Inf if the model excludes a token that the reference allows.
	KL       estimate.Estimate `json:"kl"`
	Greatest estimate.Number   `json:"greatest_kl"`
	// Agreement estimates how often both have the same most probable token.
	Agreement estimate.Estimate `json:"agreement"`
}

// bands is the number of ranges of the masked fraction.
const bands = 5

// Against compares a network with a reference on windows of text. Both must use the same ids for
// tokens and accept the windows. It compares the rows at all masked positions of each canvas, with
// at most two calls per canvas and memory for the rows of both.
func Against(ctx context.Context, m, reference model.Model, windows []likelihood.Target, cfg AgainstConfig) (*Difference, error) {
	if err := Comparable(m.Facts(), reference.Facts()); err != nil {
		return nil, err
	}
	if cfg.Draws == 0 {
		cfg.Draws = 16
	}
	c := comparison{cfg: cfg, sums: make([]sums, bands+1)}
	for i, side := range []model.Model{reference, m} {
		var err error
		if c.sides[i], err = likelihood.New(side, likelihood.Options{Batch: cfg.Batch, Blocks: true}); err != nil {
			return nil, err
		}
	}
	out := &Difference{Schema: AgainstSchema, OK: true, Windows: len(windows), Draws: cfg.Draws, Limit: cfg.Limit}
	var tokens []float64
	var nelbo [3][]float64
	for i := range windows {
		for _, e := range c.sides {
			if err := e.Check(windows[i]); err != nil {
				return nil, fmt.Errorf("window %d: %w", i, err)
			}
		}
		n, err := c.window(ctx, &windows[i], uint64(i))
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, float64(len(windows[i].Free)))
		out.Tokens += len(windows[i].Free)
		for side, nats := range [3]float64{n[0], n[1], n[1] - n[0]} {
			nelbo[side] = append(nelbo[side], nats)
		}
		if cfg.Done != nil {
			cfg.Done()
		}
	}
	perToken := func(nats []float64) estimate.Estimate {
		return estimate.Ratio(nats, tokens, cfg.Documents, cfg.Confidence)
	}
	out.NELBO.Reference, out.NELBO.Model, out.NELBO.Change = perToken(nelbo[0]), perToken(nelbo[1]), perToken(nelbo[2])
	for b := range c.sums {
		band := c.sums[b].band(cfg.Documents, cfg.Confidence)
		if b == bands {
			band.To, out.All = 1, band
		} else if band.Positions > 0 {
			band.From, band.To = float64(b)/bands, float64(b+1)/bands
			out.Bands = append(out.Bands, band)
		}
	}
	if cfg.Limit != nil {
		out.OK = out.All.KL.Mean <= *cfg.Limit // false for NaN
	}
	return out, nil
}

// Comparable returns an error if the rows of two networks cannot be compared.
func Comparable(a, b model.Facts) error {
	switch {
	case a.Columns != b.Columns:
		return fmt.Errorf("rows of %d and of %d columns: the models must have one vocabulary", a.Columns, b.Columns)
	case a.MaskID != b.MaskID:
		return fmt.Errorf("mask ids %d and %d: the models must have one vocabulary", a.MaskID, b.MaskID)
	case !slices.Equal(a.Excluded(), b.Excluded()):
		return fmt.Errorf("other columns are padding: the models must have one vocabulary")
	case a.BlockSize != b.BlockSize || a.Causal != b.Causal:
		return fmt.Errorf("the rows of the models see other positions: both must fill the same blocks, or none")
	case a.Length != b.Length || a.FixedLength != b.FixedLength:
		return fmt.Errorf("canvases of %d and of %d positions: the models must take the same", a.Length, b.Length)
	}
	return nil
}

// comparison compares both sides, the reference first.
type comparison struct {
	cfg   AgainstConfig
	sides [2]*likelihood.Evaluator
	// sums holds the sums of the bands, and of all rows last.
	sums []sums
	rows []float64
}

// maxCells limits the probabilities of the reference kept at a time, except for those of one
// canvas: 256 MB.
const maxCells = 32 << 20

// window compares the rows of a window's canvases and returns both NELBOs in nats.
func (c *comparison) window(ctx context.Context, t *likelihood.Target, index uint64) (nelbo [2]float64, err error) {
	for s := range c.sums {
		at := &c.sums[s]
		at.kl, at.agree, at.rows = append(at.kl, 0), append(at.agree, 0), append(at.rows, 0)
	}
	draws := c.sides[0].Draws(t, c.cfg.Draws, c.cfg.Seed, index)
	asks := draws.Asks
	columns := c.sides[0].Facts().Columns
	for from := 0; from < len(asks); {
		to, cells := from, 0
		for to < len(asks) && (to == from || cells+len(asks[to].Masked)*columns <= maxCells) {
			cells += len(asks[to].Masked) * columns
			to++
		}
		n, err := c.canvases(ctx, draws, from, to, cells)
		if err != nil {
			return nelbo, err
		}
		for side := range nelbo {
			nelbo[side] += n[side] / float64(len(asks))
		}
		from = to
	}
	return nelbo, nil
}

// canvases compares the rows of canvases from..to−1, which have cells values on each side, and returns
// their contributions to both NELBOs.
func (c *comparison) canvases(ctx context.Context, draws *likelihood.Draws, from, to, cells int) (nelbo [2]float64, err error) {
	asks := draws.Asks[from:to]
	c.rows = slices.Grow(c.rows[:0], cells)[:cells]
	columns := c.sides[0].Facts().Columns
	results := make([][]comparedRow, len(asks))
	for side, e := range c.sides {
		at := 0
		for i := range asks {
			rows := c.rows[at:]
			at += len(asks[i].Masked) * columns
			of := func(j int) []float64 { return rows[j*columns:][:columns] }
			if side == 0 {
				asks[i].Whole = func(j int, p []float64) { copy(of(j), p) }
				continue
			}
			results[i] = make([]comparedRow, len(asks[i].Masked))
			asks[i].Whole = func(j int, p []float64) { results[i][j] = compare(of(j), p) }
		}
		if err := draws.Eval(ctx, e, asks); err != nil {
			return nelbo, err
		}
		for i := from; i < to; i++ {
			nelbo[side] += draws.Nats(i)
		}
	}
	for i, a := range asks {
		fraction := float64(len(a.Masked)) / float64(len(a.Target.Free))
		b := max(int(math.Ceil(bands*fraction))-1, 0)
		for _, x := range results[i] {
			c.sums[b].add(x)
			c.sums[bands].add(x)
		}
	}
	return nelbo, nil
}
