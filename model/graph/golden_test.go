package graph

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
)

// goldenLimit bounds the difference of two correct float32 executions of most reference networks:
// twice the floor of 1e-5 measured with them.
const goldenLimit = 2e-5

// golden are the folders with outputs of public implementations, and the bounds on the difference
// of two correct executions: twice the floor of each, rounded up.
var golden = []struct {
	name  string
	limit float64
}{
	{"mdlm", goldenLimit}, {"mdlm-timecond", goldenLimit}, {"radd", goldenLimit}, {"sedd", goldenLimit}, {"sedd-noscale", goldenLimit},
	{"llada", 4e-5}, {"llada-gqa-bf16", 4e-5}, {"dream", goldenLimit}, {"dream-tied-fp16", goldenLimit},
	{"qwen2", goldenLimit}, {"qwen3", goldenLimit}, {"bert", goldenLimit},
	{"bert-letters/model", goldenLimit}, {"bert-smiles", goldenLimit}, {"bert-words", goldenLimit},
}

// goldenCase is a call with its logits at all positions.
type goldenCase struct {
	call
	length, columns int
	logits          []float32
}

// goldenCases reads the calls recorded with the public implementations.
func goldenCases(t testing.TB, name string) []goldenCase {
	t.Helper()
	f := reftest.Must(checkpoint.OpenFile(filepath.Join(reftest.Checkpoint(t, name), "golden.safetensors")))(t)
	defer f.Close()
	var cases []goldenCase
	for n := 0; ; n++ {
		ids, ok := f.Tensor(fmt.Sprintf("input_ids.%d", n))
		if !ok {
			break
		}
		logits, _ := f.Tensor(fmt.Sprintf("logits.%d", n))
		g := goldenCase{length: ids.Shape[1], columns: logits.Shape[2]}
		g.rows = ids.Shape[0]
		g.ids = reftest.Must(ids.Int64s())(t)
		g.logits = reftest.Must(logits.Float32s())(t)
		if sigma, ok := f.Tensor(fmt.Sprintf("sigma.%d", n)); ok {
			g.sigma = reftest.Must(sigma.Float32s())(t)
		}
		cases = append(cases, g)
	}
	if len(cases) != 5 {
		t.Fatalf("%d golden cases, want 5", len(cases))
	}
	return cases
}

// at returns the golden rows at some positions, the same number for each canvas.
func (g goldenCase) at(positions []int64) []float32 {
	wanted := len(positions) / g.rows
	var rows []float32
	for i, p := range positions {
		from := (i/wanted*g.length + int(p)) * g.columns
		rows = append(rows, g.logits[from:from+g.columns]...)
	}
	return rows
}

// The logits equal those of the public implementations, wherever the weights are, at all positions
// and at some: one, several, all in another order, with repetitions.
func TestGoldenLogits(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) { goldenLogits(t, g.name, g.limit) })
	}
}

func goldenLogits(t *testing.T, name string, limit float64) {
	cases := goldenCases(t, name)
	c := published(t, name)
	dir := filepath.Join(t.TempDir(), "converted")
	reftest.OK(t, Write(t.Context(), c, Options{}, dir))
	sessions := map[string]*ort.Session{
		"copied":  plain(t, name),
		"written": session(t, ort.Source{Path: filepath.Join(dir, ModelFile)}),
	}
	if CanRefer(c) {
		sessions["in place"] = built(t, c, Options{inPlace: 1})
	} else if c.Dtype() == checkpoint.F32 && name != "bert-smiles" { // torch before 1.6 did not align weights
		t.Error("F32 weights on disk cannot be referred to")
	}
	for where, s := range sessions {
		r := rand.New(rand.NewPCG(1, 2))
		worst := 0.0
		for n, g := range cases {
			for _, wanted := range []int{0, 1, 3, g.length, g.length + 2} {
				positions := everywhere(g.rows, g.length)
				if wanted > 0 {
					positions = make([]int64, g.rows*wanted)
					for i := range positions {
						positions[i] = r.Int64N(int64(g.length))
					}
				}
				if wanted > c.Config.Length {
					continue
				}
				g.positions = positions
				d := distance(t, g.run(t, s), g.at(positions))
				if d > limit {
					t.Errorf("%s, case %d, %d wanted: logits differ by %.3g", where, n, wanted, d)
				}
				worst = max(worst, d)
			}
		}
		t.Logf("%s: largest difference %.3g", where, worst)
	}
}

// The embedded checkpoint and the algebraically equal one in RADD's layout, with other weights in
// other places, have the same rows up to rounding.
func TestFairytaleInTwoLayouts(t *testing.T) {
	other := reftest.Shared(t, "model", "radd")
	a := built(t, opened(t, reftest.Builtin(t)), Options{})
	b := built(t, opened(t, other), Options{})
	r := rand.New(rand.NewPCG(3, 4))
	const rows, length, mask = 3, 128, 2048
	c := call{rows: rows, ids: make([]int64, rows*length), positions: everywhere(rows, length)}
	for i := range c.ids {
		c.ids[i] = mask
		if r.IntN(3) < i/length { // rows with no, some and most tokens visible
			c.ids[i] = r.Int64N(mask)
		}
	}
	d := distance(t, c.run(t, a), c.run(t, b))
	t.Logf("largest difference %.3g", d)
	if d > 1e-4 {
		t.Errorf("logits differ by %.3g", d)
	}
}
