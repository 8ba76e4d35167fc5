package verify

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
)

// constant is a network whose rows are all the same.
type constant struct {
	facts model.Facts
	row   []float32
}

func (c *constant) Facts() model.Facts  { return c.facts }
func (c *constant) Spec() samplers.Spec { return c.facts.Spec() }
func (c *constant) Close() error        { return nil }
func (c *constant) Logits(_ context.Context, call samplers.Call) ([]float32, error) {
	return slices.Repeat(c.row, len(call.Positions)), nil
}

// network returns a network with the probabilities p for three tokens, a padding column with the
// greatest logits, and MASK as the last column.
func network(p ...float64) *constant {
	f := model.Facts{Family: "test", Columns: 5, MaskID: 4, Padding: []int{3}, Length: 12, Output: "logits", Noise: "loglinear"}
	var row []float32
	for _, x := range p {
		row = append(row, float32(math.Log(x)))
	}
	return &constant{f, append(row, 9, 9)}
}

// windows returns texts of the three tokens.
func windows(n, length int) []likelihood.Target {
	var out []likelihood.Target
	for i := range n {
		ids := make([]int, length)
		for l := range ids {
			ids[l] = (i*i + l*7) % 3
		}
		out = append(out, likelihood.Whole(ids))
	}
	return out
}

// TestAgainst compares with the closed-form difference of two product distributions: every row has
// the same KL, and a text's NELBO is Σ −log p.
func TestAgainst(t *testing.T) {
	p, q := []float64{0.5, 0.25, 0.25}, []float64{0.3, 0.5, 0.2}
	var kl float64
	for i := range p {
		kl += p[i] * math.Log(p[i]/q[i])
	}
	ws := windows(9, 12)
	var change, tokens float64
	for _, w := range ws {
		for _, id := range w.IDs {
			change += math.Log(p[id] / q[id])
			tokens++
		}
	}
	limit := kl
	out, err := Against(t.Context(), network(q...), network(p...), ws, AgainstConfig{Seed: 3, Limit: &limit})
	reftest.OK(t, err)
	const rounding = 1e-7 // of float32 logits
	for _, b := range append(out.Bands, out.All) {
		if math.Abs(b.KL.Mean-kl) > rounding || math.Abs(float64(b.Greatest)-kl) > rounding || b.Agreement.Mean != 0 {
			t.Errorf("masked %v..%v: KL %v, greatest %v, agreement %v; want %v and 0", b.From, b.To, b.KL.Mean, b.Greatest, b.Agreement.Mean, kl)
		}
	}
	if len(out.Bands) != bands {
		t.Errorf("%d bands, want %d", len(out.Bands), bands)
	}
	// Each draw of a window has its own weights, whose mean is right to some digits here.
	if got := out.NELBO.Change; !(got.Lo <= change/tokens && change/tokens <= got.Hi) || got.SE > 0.1 {
		t.Errorf("the NELBO changes by %v, want %v", got, change/tokens)
	}
	if limit = out.All.KL.Mean * 0.999; out.OK != (out.All.KL.Mean <= kl) {
		t.Errorf("OK is %v of a mean KL of %v and a limit of %v", out.OK, out.All.KL.Mean, kl)
	}
	if out, err = Against(t.Context(), network(q...), network(p...), ws, AgainstConfig{Seed: 3, Limit: &limit}); err != nil || out.OK {
		t.Errorf("a mean KL of %v passes the limit %v (%v)", kl, limit, err)
	}
}

// TestAgainstItself checks that a model does not differ from itself in any bit.
func TestAgainstItself(t *testing.T) {
	w := reftest.Must(model.Open(t.Context(), reftest.Law(t, "timed3"), model.Options{}))(t)
	ids := likelihood.Whole(make([]int, w.Facts().Length))
	for i := range ids.IDs {
		ids.IDs[i] = (w.Facts().MaskID + 1) % w.Facts().Columns
	}
	out := reftest.Must(Against(t.Context(), w, w, []likelihood.Target{ids, ids}, AgainstConfig{}))(t)
	if out.All.KL.Mean != 0 || out.All.Greatest != 0 || out.All.Agreement.Mean != 1 || out.NELBO.Change.Mean != 0 {
		t.Errorf("a model and itself are apart: %+v", out)
	}
}

// TestIncomparable checks that models with different vocabularies or canvases are an error of one
// line.
func TestIncomparable(t *testing.T) {
	for name, change := range map[string]func(f *model.Facts){
		"columns": func(f *model.Facts) { f.Columns++ },
		"mask":    func(f *model.Facts) { f.MaskID, f.Padding = 3, []int{4} },
		"padding": func(f *model.Facts) { f.Padding = nil },
		"length":  func(f *model.Facts) { f.Length-- },
		"fixed":   func(f *model.Facts) { f.FixedLength = true },
	} {
		other := network(0.5, 0.25, 0.25)
		change(&other.facts)
		reftest.FailsInLine(t, reftest.Err(Against(t.Context(), other, network(0.5, 0.25, 0.25), windows(1, 4), AgainstConfig{})), "", name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := network(0.5, 0.25, 0.25)
	if _, err := Against(ctx, &failing{n}, n, windows(1, 4), AgainstConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled comparison: %v", err)
	}
}

// TestShiftedAgainst checks that a shifted network, on either side, is never called for a row of
// position 0, which would be that of position −1.
func TestShiftedAgainst(t *testing.T) {
	plain, shifted := network(0.5, 0.25, 0.25), network(0.3, 0.5, 0.2)
	shifted.facts.Shift = true
	given := windows(1, 4)
	given[0].Free = given[0].Free[1:]
	for _, pair := range [][2]*constant{{plain, shifted}, {shifted, plain}} {
		reftest.Fails(t, reftest.Err(Against(t.Context(), pair[0], pair[1], windows(1, 4), AgainstConfig{})), "position 0 is free", "a free position 0")
		out, err := Against(t.Context(), pair[0], pair[1], given, AgainstConfig{})
		if err != nil || out.All.Positions == 0 {
			t.Errorf("a given position 0: %+v, %v", out, err)
		}
	}
}

// failing returns its context's error.
type failing struct{ model.Model }

func (f *failing) Logits(ctx context.Context, _ samplers.Call) ([]float32, error) {
	return nil, ctx.Err()
}

// TestDocumentsAreUnits checks that, if the five windows of a document are equal, errors are those
// of documents, twice those of windows.
func TestDocumentsAreUnits(t *testing.T) {
	var five []likelihood.Target
	var documents []int
	for i, w := range windows(12, 4) {
		for range 5 {
			five, documents = append(five, w), append(documents, i)
		}
	}
	compared := func(documents []int) *Difference {
		t.Helper()
		return reftest.Must(Against(t.Context(), network(0.3, 0.5, 0.2), network(0.5, 0.25, 0.25), five, AgainstConfig{Draws: 64, Documents: documents}))(t)
	}
	by, each := compared(documents), compared(nil)
	if change := by.NELBO.Change; change.Units != 12 || by.All.KL.Units != 12 || change.Mean != each.NELBO.Change.Mean || change.SE < 2*each.NELBO.Change.SE {
		t.Errorf("change %v of %d units, KL of %d; with each window a unit %v", change, change.Units, by.All.KL.Units, each.NELBO.Change)
	}
}
