package app

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// goldenSample is a seeded sample of the built-in model, renewed by
// go generate ./builtin.
type goldenSample struct {
	Seed uint64 `json:"seed"`
	IDs  []int  `json:"ids"`
	Text string `json:"text"`
}

func readGolden(t *testing.T) (want goldenSample) {
	t.Helper()
	data, err := os.ReadFile(reftest.Data(t, "golden-sample.json"))
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	reftest.OK(t, err)
	return want
}

// goldenMargin is the minimum distance of a uniform of the golden sample from both ends of its
// token's interval of cumulative probability. An error of ε in the logits moves such an end by at
// most ε/2 (its derivative is F(1−F) times a difference of two means), and the logits of two
// machines differ by a few 1e-6.
const goldenMargin = 1e-5

// TestGoldenSample pins a sample: network, plan, draws and tokenizer, with all CPUs as for users; for
// the command line TestDocs does. The ids do not depend on a machine's rounding: they stay the same
// if every uniform moves by goldenMargin in either direction.
func TestGoldenSample(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	want := readGolden(t)
	if margin := narrowest(t, want.Seed, want.IDs); margin < goldenMargin {
		t.Errorf("seed %d: a draw is %.2g from another token, want %g: choose another seed in tools/regen", want.Seed, margin, goldenMargin)
	}
}

// recorder records the row of the last call.
type recorder struct {
	model.Model
	row []float32
}

func (r *recorder) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	out, err := r.Model.Logits(ctx, c)
	r.row = slices.Clone(out)
	return out, err
}

// narrowest samples by First-Hitting, compares the ids, and returns the minimum distance of a
// draw's uniform from the ends of its token's interval.
func narrowest(t *testing.T, seed uint64, want []int) float64 {
	t.Helper()
	m := reftest.Must(model.Open(t.Context(), setup.BuiltinName, model.Options{Builtins: setup.Builtins()}))(t)
	defer m.Close()
	f, net := m.Facts(), &recorder{Model: m}
	categorical, err := draw.NewCategorical(m.Spec().Vocabulary, draw.Settings{})
	reftest.OK(t, err)
	narrow, draws, p := math.Inf(1), draw.NewNumbers(seed, 0), make([]float64, f.Columns)
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: seed, OnStep: func(s samplers.Step) {
		if err := categorical.Probabilities(p, draw.Single(net.row)); err != nil || len(s.Positions) != 1 {
			t.Errorf("positions %v: %v", s.Positions, err)
			return
		}
		u, end := draws.Token(s.Positions[0]), 0.0
		for _, q := range p[:s.Tokens[0]] {
			end += q
		}
		narrow = min(narrow, u-end, end+p[s.Tokens[0]]-u)
	}}
	canvas := slices.Repeat([]int{f.MaskID}, f.Length)
	_, err = samplers.Sample(t.Context(), net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(r samplers.Result) error {
		if !slices.Equal(r.IDs, want) {
			t.Errorf("the draws that were measured are not the golden sample's:\n%v\nwant\n%v", r.IDs, want)
		}
		return nil
	})
	reftest.OK(t, err)
	return narrow
}
