package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/builtin"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/samplers"
)

// goldenLimit is the limit of tools/oracle, which compares every golden file.
const goldenLimit = 2e-5

// faulty returns the golden logits of a case with one wrong value, for verify to find.
type faulty struct {
	facts model.Facts
	rows  map[string][]float32 // by the ids
	// at is the index of the wrong value, off its error.
	at  int
	off float32
}

func (f *faulty) Facts() model.Facts { return f.facts }
func (f *faulty) Close() error       { return nil }

func (f *faulty) Spec() samplers.Spec { return f.facts.Spec() }

func (f *faulty) Logits(_ context.Context, c samplers.Call) ([]float32, error) {
	rows := slices.Clone(f.rows[fmt.Sprint(c.IDs)])
	if len(rows) > f.at {
		rows[f.at] += f.off
	}
	return rows, nil
}

func TestGoldenFindsAWrongLogit(t *testing.T) {
	dir := reftest.Data(t, "reference", "checkpoints", "radd")
	c := reftest.Must(checkpoint.Open(dir, ""))(t)
	facts, err := c.Facts(t.Context())
	reftest.OK(t, errors.Join(err, c.Close()))
	g := reftest.Must(checkpoint.OpenFile(dir + "/golden.safetensors"))(t)
	defer g.Close()
	m := &faulty{facts: facts, rows: make(map[string][]float32)}
	for _, n := range []string{"0", "1", "2", "3", "4"} {
		input, _ := g.Tensor("input_ids." + n)
		ids := reftest.Must(input.Int64s())(t)
		logits, _ := g.Tensor("logits." + n)
		m.rows[fmt.Sprint(ids)] = reftest.Must(logits.Float32s())(t)
	}
	check := func(ok bool) Report {
		t.Helper()
		r := reftest.Must(Golden(context.Background(), m, dir+"/golden.safetensors", goldenLimit))(t)
		if r.OK != ok {
			t.Errorf("wrong by %v: ok is %t, want %t: %+v", m.off, r.OK, ok, r.Items)
		}
		return r
	}
	check(true)
	m.at, m.off = 5*facts.Columns+7, 1e-3
	r := check(false)
	i := slices.IndexFunc(r.Items, func(it Item) bool { return !it.OK && it.Name == "logits.0" })
	if i < 0 || r.Items[i].Worst.Path != "logits.0[0,5,7]" || math.Abs(float64(r.Items[i].MaxAbsDiff)-1e-3) > 1e-5 {
		t.Errorf("the worst value is not named: %+v", r.Items)
	}
	m.off = float32(math.NaN())
	data, err := json.Marshal(check(false))
	if err != nil || !strings.Contains(string(data), `"got":null`) {
		t.Errorf("report with a NaN: %s, %v", data, err)
	}
}

// TestTrainersFiles checks that files of MDLM's trainer, as Lightning saved them on a GPU with a
// config of omegaconf and as plain dicts, give the public code's results with either set of
// weights, and that RADD's torch file gives the same as its safetensors.
func TestTrainersFiles(t *testing.T) {
	compare := func(golden string, w checkpoint.Weights, ref string) {
		t.Helper()
		m, err := model.Open(t.Context(), ref, model.Options{Weights: w, Runtime: orttest.OneThread})
		orttest.Opened(t, m, err)
		r, err := Golden(t.Context(), m, golden, goldenLimit)
		if err != nil || !r.OK || len(r.Items) < 5 {
			t.Errorf("%s, %q: %d items, %v: %+v", ref, w, len(r.Items), err, r.Items)
		}
	}
	for _, folder := range []string{"mdlm-lightning", "mdlm-lightning-timecond"} {
		golden := reftest.Shared(t, "reference", "checkpoints", folder, "golden.safetensors")
		for _, file := range []string{"plain.ckpt", "omegaconf.ckpt"} {
			for _, w := range []checkpoint.Weights{"", checkpoint.EMA, checkpoint.Raw} {
				compare(golden, w, reftest.Shared(t, "reference", "checkpoints", folder, file))
			}
		}
	}
	dir := reftest.Shared(t, "reference", "checkpoints", "radd-bin")
	compare(dir+"/golden.safetensors", "", dir)
}

// TestPrecisions checks the statements of docs/precision.md about the built-in network for each
// type: float16, in which its weights are stored, loses nothing.
func TestPrecisions(t *testing.T) {
	open := func(d graph.Dtype) model.Model {
		m, err := model.Open(t.Context(), "fairytale", model.Options{Dtype: d, Runtime: orttest.OneThread, Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}})
		orttest.Opened(t, m, err)
		return m
	}
	reference := open(graph.Float32)
	var ws []likelihood.Target
	for i := range 4 {
		ids := make([]int, 64)
		for l := range ids {
			ids[l] = (l*l*37 + i*911) % 2048
		}
		ws = append(ws, likelihood.Whole(ids))
	}
	for d, kl := range map[graph.Dtype][2]float64{graph.Float16: {0, 1e-9}, graph.Int8: {5e-5, 2e-3}, graph.Int4: {2e-3, 5e-2}} {
		m := open(d)
		if o := m.(model.Describer).Origin(); o.Dtype != string(d) || o.Facts.Dtype != string(d) || o.Digest != reference.Facts().Digest {
			t.Errorf("%s: a record would say %s, %s, %s", d, o.Dtype, o.Facts.Dtype, o.Digest)
		}
		out := reftest.Must(Against(t.Context(), m, reference, ws, AgainstConfig{Seed: 5, Draws: 4}))(t)
		if got := out.All.KL.Mean; got < kl[0] || got > kl[1] {
			t.Errorf("%s: mean KL %.3g, want %g to %g", d, got, kl[0], kl[1])
		}
	}
}
