package causal

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/ort"
)

const columns = 387

// bigram returns log p(b|a) of the graphs in tools/reference/foreign_causal.py, with weight·C added
// to their logits.
func bigram(a, b int, weight float64) float64 {
	logit := func(v int) float64 {
		return float64(a*7%13-6)/4*float64(v*3%17-8)/8 + float64(a*5%11-5)/4*float64(v*11%19-9)/8 + weight*float64(v%5-2)/8
	}
	var sum float64
	for v := range columns {
		sum += math.Exp(logit(v))
	}
	return logit(b) - math.Log(sum)
}

func open(t *testing.T, ref string) (*Model, error) {
	t.Helper()
	m, err := Open(context.Background(), ref, ort.Config{})
	orttest.Tried(t, m, err)
	return m, err
}

// TestLogProbs compares with closed forms: graphs of common tools, and texts of several lengths in
// one call, scored from their first token and from a later one.
func TestLogProbs(t *testing.T) {
	windows := []Window{
		{[]int{5, 9, 1, 386, 0, 44}, 1}, {[]int{7, 7}, 1}, {[]int{200, 3, 17, 88, 5, 6, 7, 8}, 4}, {[]int{3}, 1}, {nil, 1}, {[]int{1, 2, 3, 4}, 2},
	}
	for _, c := range []struct {
		name  string
		limit float64
		// weight is the weight added at position l.
		weight func(l int) float64
	}{
		{"causal", 1e-5, func(int) float64 { return 0 }},
		{"causal-static", 1e-5, func(int) float64 { return 0 }},
		{"causal-cached", 1e-5, func(l int) float64 { return float64(l) }},
		{"causal-merged", 2e-2, func(l int) float64 { return float64(l) }}, // 11 bits of logits up to 16
	} {
		t.Run(c.name, func(t *testing.T) {
			m := reftest.Must(open(t, reftest.Data(t, "foreign", c.name+".onnx")))(t)
			if m.Columns() != columns || m.Length() != map[bool]int{true: 8}[c.name == "causal-static"] || !strings.HasPrefix(m.Origin().Digest, "sha256:") {
				t.Errorf("%d columns, length %d, %+v", m.Columns(), m.Length(), m.Origin())
			}
			for range 2 {
				got := reftest.Must(m.LogProbs(context.Background(), windows))(t)
				for i, w := range windows {
					if len(got[i]) != max(len(w.IDs)-w.From, 0) {
						t.Fatalf("window %d: %d values of %d tokens from %d", i, len(got[i]), len(w.IDs), w.From)
					}
					for j, x := range got[i] {
						l := w.From + j
						if want := bigram(w.IDs[l-1], w.IDs[l], c.weight(l-1)); math.Abs(x-want) > c.limit {
							t.Errorf("window %d, token %d: %v, want %v", i, l, x, want)
						}
					}
				}
			}
		})
	}
}

// TestRefused requires the name of the tensor that does not fit.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.onnx")
	reftest.OK(t, os.WriteFile(broken, []byte("no network"), 0o644))
	for name, c := range map[string]struct {
		ref     string
		want    []string
		missing bool
	}{
		"no file":    {filepath.Join(dir, "none.onnx"), []string{"no such file"}, true},
		"empty":      {dir, []string{"none of model.onnx"}, true},
		"broken":     {broken, []string{"not an ONNX model"}, false},
		"both ways":  {reftest.Data(t, "foreign", "causal-both-ways.onnx"), []string{"is not causal", "last of 8 tokens"}, false},
		"encoder":    {reftest.Data(t, "foreign", "causal-encoder.onnx"), []string{"input encoder_hidden_states"}, false},
		"last":       {reftest.Data(t, "foreign", "causal-last.onnx"), []string{"output logits", "[batch, length, columns]"}, false},
		"unknown":    {reftest.Data(t, "foreign", "causal-unknown.onnx"), []string{"output logits", "must be fixed"}, false},
		"double":     {reftest.Data(t, "foreign", "double.onnx"), []string{"output logits is float64"}, false},
		"timed":      {reftest.Data(t, "foreign", "timed.onnx"), []string{"input timesteps"}, false},
		"token type": {reftest.Data(t, "foreign", "bert.onnx"), []string{"input token_type_ids"}, false},
	} {
		_, err := open(t, c.ref)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		var missing *model.MissingError
		if errors.As(err, &missing) != c.missing {
			t.Errorf("%s: missing is %t: %v", name, !c.missing, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q does not say %q in a line", name, err, want)
			}
		}
	}
}

// TestApart scores texts with a network that quantises with one scale for a call: together they have
// the scores that each has alone.
func TestApart(t *testing.T) {
	m := reftest.Must(open(t, reftest.Data(t, "foreign", "causal-scaled.onnx")))(t)
	windows := []Window{{[]int{0, 1, 2, 3}, 1}, {[]int{26, 26}, 1}}
	together := reftest.Must(m.LogProbs(t.Context(), windows))(t)
	for i, w := range windows {
		if alone := reftest.Must(m.LogProbs(t.Context(), []Window{w}))(t); !slices.Equal(alone[0], together[i]) {
			t.Errorf("window %d: %v, alone %v", i, together[i], alone[0])
		}
	}
}

// TestMistakes checks windows that cannot be scored.
func TestMistakes(t *testing.T) {
	m := reftest.Must(open(t, reftest.Data(t, "foreign", "causal-static.onnx")))(t)
	for want, w := range map[string]Window{
		"id 387 at position 1": {[]int{1, 387}, 1}, "from token 0": {[]int{1, 2}, 0}, "at most 8": {make([]int, 9), 1}, "id -1": {[]int{1, -1}, 1},
	} {
		reftest.Fails(t, reftest.Err(m.LogProbs(context.Background(), []Window{w})), want, w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.LogProbs(ctx, []Window{{[]int{1, 2}, 1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	reftest.OK(t, m.Close())
	if _, err := m.LogProbs(context.Background(), []Window{{[]int{1, 2}, 1}}); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestFolder opens a folder as exporters write it.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	data := reftest.Must(os.ReadFile(reftest.Data(t, "foreign", "causal.onnx")))(t)
	reftest.OK(t, errors.Join(os.Mkdir(filepath.Join(dir, "onnx"), 0o755), os.WriteFile(filepath.Join(dir, "onnx", "decoder_model.onnx"), data, 0o644)))
	m := reftest.Must(open(t, dir))(t)
	if o := m.Origin(); o.Reference != dir || o.Dtype != "float32" {
		t.Errorf("%+v", o)
	}
}

// TestReadGraph checks graphs that are only described, not built.
func TestReadGraph(t *testing.T) {
	in := func(name, kind string, shape ...int64) ort.IO { return ort.IO{Name: name, Type: kind, Shape: shape} }
	idsIn, out := in("input_ids", "int64", -1, -1), in("logits", "float32", -1, -1, 50)
	for name, c := range map[string]struct {
		inputs, outputs []ort.IO
		want            string
	}{
		"old cache":        {[]ort.IO{idsIn, in("past_0", "float32", 2, -1, 12, -1, 64)}, []ort.IO{out}, ""},
		"cache position":   {[]ort.IO{idsIn, in("cache_position", "int64", -1)}, []ort.IO{out}, ""},
		"float mask":       {[]ort.IO{idsIn, in("attention_mask", "float32", -1, -1)}, []ort.IO{out}, ""},
		"other first":      {[]ort.IO{idsIn}, []ort.IO{in("state", "float32", -1, 7), in("scores", "bfloat16", -1, -1, 50)}, ""},
		"no ids":           {[]ort.IO{in("attention_mask", "int64", -1, -1)}, []ort.IO{out}, "input input_ids is missing"},
		"ids as text":      {[]ort.IO{in("input_ids", "string", -1, -1)}, []ort.IO{out}, "input input_ids is string"},
		"ids in a row":     {[]ort.IO{in("input_ids", "int64", -1)}, []ort.IO{out}, "must have 2 dimensions"},
		"a full cache":     {[]ort.IO{idsIn, in("past_key_values.0.key", "float32", 1, 12, 5, 64)}, []ort.IO{out}, "input past_key_values.0.key"},
		"cache of ids":     {[]ort.IO{idsIn, in("past_key_values.0.key", "int64", -1, 12, -1, 64)}, []ort.IO{out}, "is int64"},
		"no rank":          {[]ort.IO{{Name: "input_ids", Type: "int64"}}, []ort.IO{out}, "must have 2 dimensions"},
		"one position":     {[]ort.IO{in("input_ids", "int64", 1, 8)}, []ort.IO{in("logits", "float32", 1, 1, 50)}, "every position"},
		"nothing":          {[]ort.IO{idsIn}, []ort.IO{in("hidden", "float32", -1, 7)}, "output logits is missing"},
		"huge":             {[]ort.IO{in("input_ids", "int64", 1<<20, 1<<20)}, []ort.IO{out}, "values a call"},
		"too large":        {[]ort.IO{in("input_ids", "int64", 1, 1<<40)}, []ort.IO{out}, "a dimension of"},
		"logits with none": {[]ort.IO{idsIn}, []ort.IO{in("logits", "float32", -1, -1, 0)}, "must be fixed"},
	} {
		_, err := readGraph(ort.Description{Inputs: c.inputs, Outputs: c.outputs})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got := past([]int64{2, -1, 12, -1, 64}, 3, 0); !slices.Equal(got, []int64{2, 3, 12, 0, 64}) {
		t.Errorf("%v", got)
	}
}

// FuzzReadGraph checks that accepted graphs can be run: sizes are sane and an empty cache has no
// elements.
func FuzzReadGraph(f *testing.F) {
	f.Add("past_key_values.0.key", "float32", int64(-1), int64(12), int64(-1), "logits", int64(50))
	f.Add("attention_mask", "int32", int64(1), int64(8), int64(0), "scores", int64(1<<40))
	f.Fuzz(func(t *testing.T, name, kind string, a, b, c int64, outName string, columns int64) {
		g, err := readGraph(ort.Description{
			Inputs:  []ort.IO{{Name: "input_ids", Type: "int64", Shape: []int64{a, b}}, {Name: name, Type: kind, Shape: []int64{a, b, c}}},
			Outputs: []ort.IO{{Name: outName, Type: "float32", Shape: []int64{a, b, columns}}},
		})
		if err != nil {
			return
		}
		if g.columns < 1 || g.rows < 0 || g.length < 0 || float64(max(g.rows, 1))*float64(max(g.length, 1))*float64(g.columns) > maxCall {
			t.Fatalf("accepted %+v", g)
		}
		for _, in := range g.inputs {
			if in.value == nil {
				if shape := past(in.Shape, 2, 0); !slices.Contains(shape, 0) || slices.Min(shape) < 0 {
					t.Fatalf("cache %v: %v", in.Shape, shape)
				}
			}
		}
	})
}
