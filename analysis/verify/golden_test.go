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

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
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
		ids, err := input.Int64s()
		reftest.OK(t, err)
		logits, _ := g.Tensor("logits." + n)
		if m.rows[fmt.Sprint(ids)], err = logits.Float32s(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(ok bool) Report {
		t.Helper()
		r, err := Golden(context.Background(), m, dir+"/golden.safetensors", goldenLimit)
		reftest.OK(t, err)
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
