package model_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
)

// foreignTable returns the row of an id in the files of testdata/foreign; see
// tools/reference/foreign.py.
func foreignTable(id int) []float64 {
	row := make([]float64, 7)
	for a := range row {
		row[a] = float64((id*7+a)*37%11-5) / 4
	}
	return row
}

// open opens a model and skips the test if there is no runtime.
func open(t *testing.T, ref string, opts model.Options) (model.Model, error) {
	t.Helper()
	opts.Runtime.Threads = max(opts.Runtime.Threads, 1)
	m, err := model.Open(context.Background(), ref, opts)
	orttest.Tried(t, m, err)
	return m, err
}

// TestForeign runs graphs of other tools, which return the rows of every position and contain no
// facts.
func TestForeign(t *testing.T) {
	facts := map[string]string{"mask_id": "6", "length": "9"}
	for _, c := range []struct {
		name  string
		facts map[string]string
		sigma []float64
		// add returns what the graph adds to the table's row of a position.
		add func(row, position int) float64
	}{
		{name: "plain", facts: facts},
		{name: "static", facts: map[string]string{"mask_id": "6"}},
		{name: "half", facts: facts},
		{name: "two", facts: facts},
		{name: "weights8", facts: facts},
		{name: "bert", facts: facts, add: func(_, l int) float64 { return 1 + float64(l) }},
		{name: "timed", facts: facts, sigma: []float64{0.5, 2}, add: func(b, _ int) float64 { return []float64{0.5, 2}[b] }},
		// A network that ignores time gets zeros for σ.
		{name: "timed", facts: map[string]string{"mask_id": "6", "length": "9", "time_conditioned": "false"}},
		{name: "steps", facts: map[string]string{"mask_id": "6", "length": "9", "time_conditioned": "false"}},
		// Calls of two canvases are split into runs of one, and padded to a run of three.
		{name: "one", facts: facts},
		{name: "three", facts: facts, sigma: []float64{0.5, 2}, add: func(b, _ int) float64 { return []float64{0.5, 2}[b] }},
		{name: "three", facts: map[string]string{"mask_id": "6", "length": "9", "time_conditioned": "false", "input": "canvas"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := reftest.Must(open(t, reftest.Data(t, "foreign", c.name+".onnx"), model.Options{Override: c.facts}))(t)
			f := m.Facts()
			if f.Family != "onnx" || f.Columns != 7 || f.MaskID != 6 || f.TimeConditioned != (c.sigma != nil) || f.FixedLength != (c.name == "static") {
				t.Errorf("facts: %+v", f)
			}
			ids := []int64{6, 0, 1, 2, 6, 3, 4, 5, 6, 0}
			positions, rows := []int64{4, 0, 1, 3, 3, 2}, []int{0, 1, 1, 1, 1, 1}
			got := reftest.Must(m.Logits(context.Background(), samplers.Call{IDs: ids, Positions: positions, Counts: []int{1, 5}, Sigma: c.sigma}))(t)
			if len(got) != 6*7 {
				t.Fatalf("%d values, want %d", len(got), 6*7)
			}
			for i, l := range positions {
				want := foreignTable(int(ids[rows[i]*5+int(l)]))
				for a, w := range want {
					if c.add != nil {
						w += c.add(rows[i], int(l))
					}
					if math.Abs(float64(got[i*7+a])-w) > 1e-6 {
						t.Errorf("row %d, position %d, column %d: %v, want %v", rows[i], l, a, got[i*7+a], w)
					}
				}
			}
		})
	}
}

// TestForeignSidecar gives facts in a file next to the graph; flags override them.
func TestForeignSidecar(t *testing.T) {
	dir := t.TempDir()
	data := reftest.Must(os.ReadFile(reftest.Data(t, "foreign", "plain.onnx")))(t)
	path := filepath.Join(dir, "net.onnx")
	reftest.OK(t, errors.Join(os.WriteFile(path, data, 0o644), os.WriteFile(filepath.Join(dir, "net.mdmgen.json"),
		[]byte(`{"schema":"mdmgen.model/1","name":"mine","mask_id":6,"length":9,"padding":[5],"noise":"linear"}`), 0o644)))
	m := reftest.Must(open(t, dir, model.Options{Override: map[string]string{"length": "4"}}))(t)
	f := m.Facts()
	if f.Name != "mine" || f.MaskID != 6 || f.Length != 4 || f.Noise != "linear" || len(f.Excluded()) != 2 || !strings.HasPrefix(f.Digest, "sha256:") {
		t.Errorf("facts: %+v", f)
	}
	if o := m.(model.Describer).Origin(); o.Facts == nil || o.Facts.Length != 4 || o.Facts.Noise != "linear" || o.FactsDigest != f.Digested() {
		t.Errorf("the origin does not tell the facts in force: %+v", o)
	}
	reftest.Fails(t, reftest.Err(m.Logits(context.Background(), samplers.Call{IDs: make([]int64, 5), Positions: []int64{0}, Counts: []int{1}})), "at most 4", "a canvas of 5")
	reftest.Fails(t, reftest.Err(m.Logits(context.Background(), samplers.Call{IDs: []int64{0, 7}, Positions: []int64{0}, Counts: []int{1}})), "id 7 at position 1", "id 7")
}

// TestForeignRefused requires the name of what is missing or inconsistent.
func TestForeignRefused(t *testing.T) {
	for _, c := range []struct {
		name, file string
		facts      map[string]string
		want       []string
	}{
		{"nothing given", "plain", nil, []string{"mask_id is missing", "length is missing", "fact=mask_id=ID fact=length=N)"}},
		{"no mask", "static", nil, []string{"mask_id is missing", "with fact=mask_id=ID)"}},
		{"another length", "static", map[string]string{"mask_id": "6", "length": "9"}, []string{"the graph has exactly 5 positions: fact=length=5"}},
		{"causal rows", "static", map[string]string{"mask_id": "6", "length": "5", "block_size": "2", "causal": "true"}, []string{"causal is true, but no input of the graph is a block"}},
		{"several faults", "strange", nil, []string{"mask_id is missing", "length is missing", "input past (int64 [-1 -1]) is not one"}},
		{"several faults and no canvas", "either", nil, []string{"mask_id is missing", "any of [a b] may be the canvas"}},
		{"several faults of rows", "double", nil, []string{"mask_id is missing", "output logits is float64"}},
		{"mask beyond the columns", "static", map[string]string{"mask_id": "9"}, []string{"mask_id is 9", "0..7"}},
		{"no embedding of the mask", "static", map[string]string{"mask_id": "7"}, []string{"a first call with MASK (mask_id 7, length", "no embedding for that id, mask_id must be in 0..6"}},
		{"no embedding of the mask, timed", "timed", map[string]string{"mask_id": "7", "length": "5"}, []string{"a first call with MASK (mask_id 7, length 1) fails: ", "mask_id must be in 0..6"}},
		{"other columns", "static", map[string]string{"mask_id": "6", "columns": "8"}, []string{"columns is 8", "has 7"}},
		{"time", "static", map[string]string{"mask_id": "6", "time_conditioned": "true"}, []string{"time_conditioned is true"}},
		{"time in steps", "steps", map[string]string{"mask_id": "6", "length": "5"}, []string{"input timesteps is int64", "fact=time_conditioned=false"}},
		{"either of two", "either", map[string]string{"mask_id": "6", "length": "5"}, []string{"any of [a b] may be the canvas", "fact=input=a"}},
		{"one of two", "either", map[string]string{"mask_id": "6", "length": "5", "input": "b"}, []string{"input a (int64 [-1 -1]) is not one"}},
		{"no such input", "one", map[string]string{"mask_id": "6", "length": "5", "input": "ids"}, []string{`input "ids" is not one of the graph's, which are [input_ids]`}},
		{"input of numbers", "timed", map[string]string{"mask_id": "6", "length": "5", "input": "timesteps"}, []string{"input timesteps is float32"}},
		{"bfloat16", "brain", map[string]string{"mask_id": "6", "length": "5"}, []string{"its weights are bfloat16", "export it in float32 or float16"}},
		{"strange input", "strange", map[string]string{"mask_id": "6", "length": "5"}, []string{"input past"}},
		{"no rank, an earlier version's inputs", "vague", map[string]string{"mask_id": "6", "length": "5", "columns": "7"}, []string{"output logits is missing", "input take_rows is missing: an earlier version of this program wrote the file: convert the checkpoint again"}},
		{"doubles", "double", map[string]string{"mask_id": "6", "length": "5"}, []string{"output logits is float64"}},
		{"unknown fact", "static", map[string]string{"mask": "6"}, []string{"fact mask"}},
		{"wrong type", "static", map[string]string{"mask_id": "six"}, []string{"mask_id"}},
		{"padding", "static", map[string]string{"mask_id": "6", "padding": "[9]"}, []string{"padding column 9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := open(t, reftest.Data(t, "foreign", c.file+".onnx"), model.Options{Override: c.facts})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// TestApart asks for canvases of a network that quantises with one scale for a call: in a call of
// several each has its own scale.
func TestApart(t *testing.T) {
	var told []string
	opts := model.Options{Override: map[string]string{"mask_id": "6", "length": "9"}}
	opts.Runtime.Log = func(line string) { told = append(told, line) }
	m := reftest.Must(open(t, reftest.Data(t, "foreign", "scaled.onnx"), opts))(t)
	ids, scales := []int64{6, 6, 1, 1, 0, 6}, []float64{2.0 / 255, 2.5 / 255, 2.25 / 255} // 2 positions each
	got := reftest.Must(m.Logits(t.Context(), samplers.Call{IDs: ids, Positions: []int64{0, 1, 0}, Counts: []int{1, 1, 1}}))(t)
	for i, row := range [][]float64{foreignTable(6), foreignTable(1), foreignTable(0)} {
		for a, x := range row {
			steps := float64(got[i*7+a]) / scales[i]
			if math.Abs(steps-math.Round(steps)) > 1e-3 || math.Abs(float64(got[i*7+a])-x) > scales[i] {
				t.Errorf("canvas %d, column %d: %v instead of %v, %v steps of its scale", i, a, got[i*7+a], x, steps)
			}
		}
	}
	if text := strings.Join(told, "\n"); !strings.Contains(text, "each text is asked by itself") {
		t.Errorf("told %q", text)
	}
}
