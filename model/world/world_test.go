package world_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
)

// names are the reference worlds.
var names = []string{
	"timed3", "xor3-mixed", "theorem5-point3", "markov3-exact",
	"dirichlet3-noisy", "markov4-sharp", "nested3-exact", "pairs4-exact", "parity4-exact",
}

// TestReferenceWorlds opens all nine and checks what the samplers rely on: rows are distributions, and
// Logits agrees with Mu.
func TestReferenceWorlds(t *testing.T) {
	reftest.Long(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			w := reftest.Must(world.Open(reftest.Law(t, name)))(t)
			f := w.Facts()
			if f.Name != name || f.Family != "world" || f.MaskID != f.Columns || !f.FixedLength || f.TimeConditioned != (name == "timed3") || f.Noise != "exp" || !strings.HasPrefix(f.Digest, "sha256:") || len(f.Digest) != 71 {
				t.Errorf("facts %+v", f)
			}
			if raw, ok := w.Extra("theorem4"); !ok || !strings.Contains(string(raw), "gap") {
				t.Errorf("field theorem4 is not kept")
			}
			checkRows(t, w)
		})
	}
}

// checkRows checks every position of every state, in one call for each time.
func checkRows(t *testing.T, w *world.World) {
	d, v := w.Facts().Length, w.Facts().Columns
	var ids, positions []int64
	rows := 0
	canvas := make([]int, d)
	for {
		for l, id := range canvas {
			ids, positions = append(ids, int64(id)), append(positions, int64(l))
		}
		rows++
		l := d - 1
		for ; l >= 0 && canvas[l] == v; l-- {
			canvas[l] = 0
		}
		if l < 0 {
			break
		}
		canvas[l]++
	}
	mu := make([]float64, v)
	for _, lambda := range []float64{0, 0.3, 1} {
		var sigma []float64
		if w.Facts().TimeConditioned {
			sigma = slices.Repeat([]float64{-math.Log1p(-lambda)}, rows)
		}
		out := reftest.Must(w.Logits(context.Background(), samplers.Call{IDs: ids, Positions: positions, Counts: slices.Repeat([]int{d}, rows), Sigma: sigma}))(t)
		for i := range positions {
			row := out[i*v : (i+1)*v]
			state, l := i/d, i%d
			masked := ids[i] == int64(v)
			if lawstest.Mu(w, mu, state, l, lambda) != masked {
				t.Fatalf("state %d, position %d: masked is %v", state, l, masked)
			}
			if masked && math.Abs(sum(mu)-1) > 1e-9 {
				t.Fatalf("state %d, position %d: row sums to %v", state, l, sum(mu))
			}
			for a, x := range row {
				want := math.Inf(-1)
				if masked {
					want = math.Log(mu[a])
				}
				if got := float64(x); got != want && !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
					t.Fatalf("state %d, position %d, λ %v: log μ(%d) = %v, want %v", state, l, lambda, a, got, want)
				}
			}
		}
	}
}

func sum(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// tiny is the smallest world with time: one position, two tokens.
const tiny = `{"schema":"mdm-laws-world/1","name":"tiny","d":1,"V":2,"S":3,"mask":2,"q0":[0.5,0.5],
"mu_kind":"time_mixture","mu_weight":{"c":0.5,"p":2},"mu0":[[null],[null],[[1,0]]],"mu1":[[null],[null],[[0.25,0.75]]],"note":[1,{}]}`

// TestTime checks the mixture's weight, c·λ^p, by hand.
func TestTime(t *testing.T) {
	w := reftest.Must(world.Parse([]byte(tiny)))(t)
	mu := make([]float64, 2)
	for _, test := range []struct{ lambda, want float64 }{{0, 0}, {0.5, 0.75 * 0.125}, {1, 0.375}} {
		if lawstest.Mu(w, mu, w.State([]int{2}), 0, test.lambda); math.Abs(mu[1]-test.want) > 1e-15 || math.Abs(sum(mu)-1) > 1e-15 {
			t.Errorf("λ = %v: %v, want %v at 1", test.lambda, mu, test.want)
		}
	}
	out, err := w.Logits(context.Background(), samplers.Call{IDs: []int64{2, 2}, Positions: []int64{0, 0}, Counts: []int{1, 1}, Sigma: []float64{math.Inf(1), 0}})
	if err != nil || out[1] != float32(math.Log(0.375)) || !math.IsInf(float64(out[3]), -1) {
		t.Errorf("rows %v, %v", out, err)
	}
	if mu0, mu1, c, p := w.Mixture(); len(mu0) != 6 || len(mu1) != 6 || mu0[4] != 1 || mu1[5] != 0.75 || c != 0.5 || p != 2 {
		t.Errorf("the mixture is %v, %v, %v, %v", mu0, mu1, c, p)
	}
	if _, ok := w.Extra("laws"); ok {
		t.Error("laws were found in a file without")
	}
}

func TestLogitsErrors(t *testing.T) {
	w := reftest.Must(world.Parse([]byte(tiny)))(t)
	one := []float64{1}
	for name, call := range map[string]samplers.Call{
		"wrong length": {Counts: []int{1}, IDs: []int64{2, 2}, Positions: []int64{0}, Sigma: one},
		"no sigma":     {Counts: []int{1}, IDs: []int64{2}, Positions: []int64{0}},
	} {
		reftest.Fails(t, reftest.Err(w.Logits(context.Background(), call)), "", name, "no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reftest.Fails(t, reftest.Err(w.Logits(ctx, samplers.Call{IDs: []int64{2}, Positions: []int64{0}, Counts: []int{1}, Sigma: one})), "", "cancelled: no error")
	for range 2 {
		reftest.OK(t, w.Close())
	}
}

// TestParseErrors changes the tiny world in one place and requires a one-line error that names the
// field.
func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"empty", tiny, "", "too early"},
		{"a list", tiny, "[]", "instead of an object"},
		{"cut off", `"note":[1,{}]}`, `"note":[1,`, "too early"},
		{"cut off after a field", `,"note":[1,{}]}`, ``, "too early"},
		{"something behind", `[1,{}]}`, `[1,{}]} 7`, "after top-level value"},
		{"twice", `"name":"tiny"`, `"d":2`, `"d" appears twice`},
		{"schema", "world/1", "world/3", "schema"},
		{"no schema", `"schema":"mdm-laws-world/1",`, ``, "missing: schema"},
		{"d is text", `"d":1`, `"d":"1"`, `"d"`},
		{"d is not whole", `"d":1`, `"d":1.5`, `"d": the number 1.5`},
		{"d is 0", `"d":1`, `"d":0`, `"d" is 0`},
		{"absurd d", `"d":1`, `"d":1e9`, `"d": the number 1e9`},
		{"absurd V", `"V":2`, `"V":3000000`, "at most"},
		{"absurd d and V", `"d":1,"V":2`, `"d":20,"V":20`, "at most"},
		{"mask", `"mask":2`, `"mask":1`, `"mask" is 1`},
		{"S", `"S":3`, `"S":2`, `"S" is 2`},
		{"kind", "time_mixture", "spiral", "mu_kind"},
		{"no weight", `"mu_weight":{"c":0.5,"p":2},`, ``, "mu_weight"},
		{"weight above 1", `"c":0.5`, `"c":1.5`, "mu_weight"},
		{"no mu0", `"mu0":`, `"mu2":`, "missing: mu0"},
		{"too few states", `"mu0":[[null],`, `"mu0":[`, `"mu0"`},
		{"too many states", `"mu0":[`, `"mu0":[[null],`, `"mu0"`},
		{"too many positions", `[null],[[1,0]]]`, `[null,null],[[1,0]]]`, `"mu0", state 1`},
		{"a row at a visible position", `"mu0":[[null]`, `"mu0":[[[1,0]]`, "visible"},
		{"no row at a masked position", `[[1,0]]`, `[null]`, `"mu0", state 2, position 0`},
		{"a short row", `[[1,0]]`, `[[1]]`, "state 2, position 0"},
		{"a long row", `[[1,0]]`, `[[1,0,0]]`, "state 2, position 0: 3 probabilities: must be 2"},
		{"negative", `[[1,0]]`, `[[1.5,-0.5]]`, "entry 0"},
		{"text", `[[1,0]]`, `[["1",0]]`, "entry 0"},
		{"null inside", `[[1,0]]`, `[[1,null]]`, "entry 1"},
		{"too large for float64", `[[1,0]]`, `[[1e999,0]]`, "1e999"},
		{"does not sum to 1", `[[1,0]]`, `[[0.9,0.09999]]`, "sum to"},
		{"q0 does not sum to 1", `[0.5,0.5]`, `[0.5,0.4]`, `"q0"`},
		{"q0 too long", `[0.5,0.5]`, `[0.5,0.5,0]`, `"q0"`},
	} {
		text := strings.Replace(tiny, test.old, test.new, 1)
		if text == tiny {
			t.Errorf("%s: nothing was changed", test.name)
		}
		reftest.FailsInLine(t, reftest.Err(world.Parse([]byte(text))), test.want, test.name)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "w.json")
	reftest.OK(t, os.WriteFile(file, []byte(`{"schema":"other"}`), 0o600))
	reftest.Fails(t, reftest.Err(world.Open(file)), "w.json")
	for _, bad := range []string{dir, filepath.Join(dir, "none.json")} {
		reftest.Fails(t, reftest.Err(world.Open(bad)), "", bad, "was opened")
	}
}

// FuzzParse checks that accepted worlds have distributions as rows, and that nothing panics.
func FuzzParse(f *testing.F) {
	f.Add([]byte(tiny))
	f.Add([]byte(strings.Replace(tiny, "time_mixture", "time_free", 1)))
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":1,"mu_kind":"time_free","mu0":[[null],[[1]]]}`))
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":20,"V":1e6}`))
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":9e18,"V":9223372036854775807}`))
	f.Add([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":4194304,"mask":9e18,"S":-9e18,"mu_kind":"time_free","mu0":[]}`))
	f.Add([]byte(strings.Replace(tiny, `"note":[1,{}]`, `"fhs":{"law":[0.5,0.5]},"grids":[{"id":"a","N":1,"forward_times":[null,0],"masked_fractions":[1,0]}],"laws":[{"grid":"a"}]`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := world.Parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		facts := w.Facts()
		canvas := slices.Repeat([]int{facts.MaskID}, facts.Length)
		mu := make([]float64, facts.Columns)
		for l := range canvas {
			if !lawstest.Mu(w, mu, w.State(canvas), l, 0.5) || math.Abs(sum(mu)-1) > 1e-6 {
				t.Errorf("position %d of the all-mask state: %v", l, mu)
			}
		}
	})
}

func Example() {
	w, err := world.Parse([]byte(`{"schema":"mdm-laws-world/1","d":1,"V":2,"mu_kind":"time_free","mu0":[[null],[null],[[0.25,0.75]]]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := w.Rows(context.Background(), samplers.Call{IDs: []int64{2}, Positions: []int64{0}, Counts: []int{1}})
	fmt.Printf("MASK is %d; its row is %.2f, %.2f, %v\n", w.Facts().MaskID, math.Exp(rows.At(0)), math.Exp(rows.At(1)), err)
	// Output: MASK is 2; its row is 0.25, 0.75, <nil>
}

// TestWeights: logarithms of mixtures are finite where the mixture is not 0, however small it is.
func TestWeights(t *testing.T) {
	for _, c := range []struct{ c, p, lambda, mu0, mu1, want float64 }{
		{1, 1000, 0.3, 0, 0.7, 1000*math.Log(0.3) + math.Log(0.7)},
		{1, 1e-3, 1 - 0x1p-53, 0.7, 0, math.Log(0.7) + math.Log(1e-3) - 53*math.Ln2},
		{1, 1e-310, 0.5, 0.7, 0, math.Log(0.7) - 310*math.Ln10 + math.Log(math.Ln2)},
		{1, 1000, 0.1, 1e-320, 0.7, math.Log(2024) - 1074*math.Ln2},
		{0.5, 0, 0, 0.7, 0.1, math.Log(0.4)},
		{1, 2, 1, 0.5, 0, math.Inf(-1)},
		{1, 2, 0, 0, 0.5, math.Inf(-1)},
	} {
		if got := world.WeightsAt(c.c, c.p, c.lambda).LogMix(c.mu0, c.mu1); got != c.want && !(math.Abs(got/c.want-1) <= 1e-15) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
