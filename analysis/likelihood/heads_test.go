package likelihood

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mdmgen/builtin"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/samplers/draw"
)

// rowsAlone is a model without heads.
type rowsAlone struct{ model.Model }

// heads opens a model twice, to be called for rows and for log-probabilities. It skips the test
// without ONNX Runtime.
func heads(t testing.TB, ref string, opts model.Options) (rows, head *Evaluator) {
	t.Helper()
	opts.Runtime = orttest.OneThread
	opts.Builtins = []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}
	m, err := model.Open(context.Background(), ref, opts)
	orttest.Opened(t, m, err)
	rows = reftest.Must(New(rowsAlone{m}, Options{}))(t)
	head = reftest.Must(New(m, Options{}))(t)
	if rows.prober != nil || head.prober == nil {
		t.Fatalf("%s: asked for rows, the prober is %v; else %v", ref, rows.prober, head.prober)
	}
	return rows, head
}

// TestHeads compares the runtime's reduction with the float64 reduction of the same rows, on every
// family, with rows that want different numbers of positions, in one chunk and in several, and with
// padding columns.
func TestHeads(t *testing.T) {
	reftest.Long(t)
	reference := func(name string) string { return reftest.Data(t, "reference", "checkpoints", name) }
	for _, c := range []struct {
		ref, padding string
	}{{ref: "fairytale"}, {ref: "fairytale", padding: "[3,2047]"}, {ref: reference("mdlm")}, {ref: reference("radd")}, {ref: reference("mdlm-timecond")}, {ref: reference("sedd")}, {ref: reference("sedd-noscale"), padding: "[0,7]"}} {
		var opts model.Options
		if c.padding != "" {
			opts.Override = map[string]string{"padding": c.padding}
		}
		rows, head := heads(t, c.ref, opts)
		f := rows.Facts()
		r := rand.New(rand.NewPCG(1, 2))
		targets := make([]Target, 3)
		var a, b []Ask
		for i := range targets {
			ids := make([]int, f.Length)
			for l := range ids {
				ids[l] = 10 + r.IntN(90)
			}
			targets[i] = Whole(ids)
		}
		for range 24 {
			target := &targets[r.IntN(len(targets))]
			masked := r.Perm(f.Length)[:1+r.IntN(f.Length)]
			wanted := masked[:1+r.IntN(len(masked))]
			ask := func() Ask {
				return Ask{Target: target, Masked: masked, Wanted: wanted, Lambda: 0.01 + 0.98*float64(len(masked))/float64(f.Length), LogMu: make([]float64, len(wanted)), LogMass: make([]float64, len(wanted))}
			}
			a, b = append(a, ask()), append(b, ask())
		}
		reftest.OK(t, errors.Join(rows.Eval(t.Context(), a), head.Eval(t.Context(), b)))
		var mu, mass float64
		for i := range a {
			for j := range a[i].LogMu {
				mu = max(mu, math.Abs(a[i].LogMu[j]-b[i].LogMu[j]))
				mass = max(mass, math.Abs(a[i].LogMass[j]-b[i].LogMass[j]))
				if a[i].LogMass[j] == 0 && a[i].LogMu[j] == 0 {
					t.Fatalf("%s: nothing was written", c.ref)
				}
			}
		}
		t.Logf("%s: log μ differs by %.2g, log mass by %.2g", f.Name, mu, mass)
		if massLimit := map[facts.Output]float64{facts.Logits: 1e-13, facts.LogScore: 1e-6}[f.Output]; !(mu <= 1e-6 && mass <= massLimit) {
			t.Errorf("%s: log μ differs by %.3g, log mass by %.3g", f.Name, mu, mass)
		}
	}
}

// TestHeadsAgain checks that the same asks get the same bits.
func TestHeadsAgain(t *testing.T) {
	reftest.Long(t)
	_, e := heads(t, "fairytale", model.Options{})
	target := Whole([]int{5, 17, 9, 99, 3, 42})
	want := reftest.Must(e.Table(t.Context(), target, true))(t)
	for range 5 {
		reftest.OK(t, e.Eval(t.Context(), inOrder(&target, []int{0, 1, 2, 3, 4, 5}))) // calls of other shapes
		got := reftest.Must(e.Table(t.Context(), target, true))(t)
		for i := range want.LogMu {
			if got.LogMu[i] != want.LogMu[i] || got.LogMass[i] != want.LogMass[i] {
				t.Fatalf("entry %d is %v, was %v", i, got.LogMu[i], want.LogMu[i])
			}
		}
	}
}

// TestHeadsOfChangedLaw uses a model with log-probabilities for values that only rows can give.
func TestHeadsOfChangedLaw(t *testing.T) {
	reftest.Long(t)
	rows, head := heads(t, "fairytale", model.Options{})
	target := Whole([]int{5, 17, 9, 99})
	temperature := 0.7
	var got [2]*Table
	for i, e := range []*Evaluator{rows, head} {
		changed := reftest.Must(New(e.model, Options{Draw: draw.Settings{Temperature: &temperature}}))(t)
		got[i] = reftest.Must(changed.Table(t.Context(), target, false))(t)
	}
	for i := range got[0].LogMu {
		if got[0].LogMu[i] != got[1].LogMu[i] {
			t.Fatalf("entry %d: %v from rows, %v", i, got[0].LogMu[i], got[1].LogMu[i])
		}
	}
}

// TestHeadsWholeRows checks that whole rows are available on a model with log-probabilities, to the
// same bits, also truncated, that they sum to 1, and that they hold the answer.
func TestHeadsWholeRows(t *testing.T) {
	reftest.Long(t)
	rows, head := heads(t, "fairytale", model.Options{})
	target := Whole([]int{5, 17, 9, 99})
	for _, settings := range []draw.Settings{{}, {Temperature: new(0.5)}, {TopK: 60}, {SuppressTokens: "1,2"}} {
		var whole [2][][]float64
		for i, e := range []*Evaluator{rows, head} {
			e = reftest.Must(New(e.model, Options{Draw: settings}))(t)
			asks := []Ask{{Target: &target, Masked: []int{0, 1, 3}, Wanted: []int{3, 0}, LogMu: make([]float64, 2)}, {Target: &target, Masked: []int{2}, Wanted: []int{2}, LogMu: make([]float64, 1)}}
			before := e.prober
			for k := range asks {
				from := len(whole[i])
				whole[i] = append(whole[i], make([][]float64, len(asks[k].Wanted))...)
				asks[k].Whole = func(j int, p []float64) { whole[i][from+j] = slices.Clone(p) }
			}
			reftest.OK(t, e.Eval(t.Context(), asks))
			if e.prober != before {
				t.Error("what the model is asked for was changed")
			}
			for k, row := range whole[i] {
				token, logMu := []int{99, 5, 9}[k], slices.Concat(asks[0].LogMu, asks[1].LogMu)[k]
				some := 0
				for _, p := range row {
					if p > 0 {
						some++
					}
				}
				if math.Abs(floats.Sum(row)-1) > 1e-12 || settings.TopK > 0 && some != settings.TopK || math.Abs(row[token]-math.Exp(logMu)) > 1e-15 {
					t.Errorf("%+v: row %d sums to %v, has %d tokens and %v of the text's: want %v", settings, k, floats.Sum(row), some, row[token], math.Exp(logMu))
				}
			}
		}
		if !slices.EqualFunc(whole[0], whole[1], slices.Equal) {
			t.Errorf("%+v: whole rows differ", settings)
		}
	}
}

// TestNothingWanted uses asks without wanted rows: they make no call, alone or next to an ask with
// one. A network does not accept a call without a wanted position.
func TestNothingWanted(t *testing.T) {
	rows, head := heads(t, "fairytale", model.Options{})
	target := Whole([]int{11, 12, 13})
	nothing := Ask{Target: &target, Masked: []int{0, 1, 2}}
	something := Ask{Target: &target, Masked: []int{0, 1, 2}, Wanted: []int{1}, LogMu: make([]float64, 1)}
	for name, e := range map[string]*Evaluator{"rows": rows, "log-probabilities": head} {
		for _, tt := range []struct {
			asks  []Ask
			calls int
		}{{nil, 0}, {[]Ask{nothing, nothing}, 0}, {[]Ask{nothing, something, nothing}, 1}} {
			before := e.Totals()
			reftest.OK(t, e.Eval(t.Context(), tt.asks))
			after := e.Totals()
			if calls, positions := after.Calls-before.Calls, after.Positions-before.Positions; calls != tt.calls || positions != tt.calls {
				t.Errorf("%s, %d asks: %d calls for %d positions, want %d", name, len(tt.asks), calls, positions, tt.calls)
			}
		}
	}
	reftest.Fails(t, rows.Check(Target{IDs: []int{1, 2}}), "", "a target without a free position is taken")
}
