package graph

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

// logSum returns log Σ e^x over the columns of a row that are not excluded.
func logSum(row []float32, excluded []int) float64 {
	top, sum := math.Inf(-1), 0.0
	for pass := range 2 {
		for a, x := range row {
			switch {
			case slices.Contains(excluded, a):
			case pass == 0:
				top = max(top, float64(x))
			default:
				sum += math.Exp(float64(x) - top)
			}
		}
	}
	return top + math.Log(sum)
}

// The head of log-probabilities agrees with float64 arithmetic on the logits: for each family, from
// one position to several chunks, the last of which overlaps, and whatever columns are excluded.
func TestLogProbabilities(t *testing.T) {
	for _, v := range []struct {
		name    string
		c       *checkpoint.Checkpoint
		padding []int
		shapes  [][3]int // rows, length, wanted
	}{
		{"mdlm", published(t, "mdlm"), nil, [][3]int{{1, 1, 1}, {3, 9, 4}, {1, 20, 32}}},
		{"radd", published(t, "radd"), []int{0, 17}, [][3]int{{2, 9, 4}}},
		{"sedd", published(t, "sedd"), []int{3}, [][3]int{{2, 9, 4}}},
		// A chunk holds 64 positions of this network: one, a full one, two, three.
		{"90,000 tokens", random(t, largeVocabulary), []int{89_999}, [][3]int{{1, 9, 1}, {2, 9, 32}, {1, 65, 65}, {5, 20, 26}}},
	} {
		f := reftest.Must(v.c.Facts(t.Context()))(t)
		f.Padding = v.padding
		both := built(t, v.c, Options{Facts: &f})
		r := rand.New(rand.NewPCG(7, 8))
		excluded := f.Excluded()
		for _, shape := range v.shapes {
			one := drawn(r, f, shape)
			targets := make([]int64, len(one.positions))
			for i := range targets {
				one.positions[i] = r.Int64N(int64(shape[1]))
				for targets[i] = r.Int64N(int64(f.Columns)); slices.Contains(excluded, int(targets[i])); {
					targets[i] = r.Int64N(int64(f.Columns))
				}
			}
			logits := one.run(t, both)
			logMu, logMass := one.logProbs(t, both, targets)
			norms := make(map[[2]int64]float64) // by canvas and position, which may be wanted twice
			for i, x := range targets {
				row, at := logits[i*f.Columns:(i+1)*f.Columns], [2]int64{int64(i / shape[2]), one.positions[i]}
				if _, ok := norms[at]; !ok {
					norms[at] = logSum(row, excluded)
				}
				norm := norms[at]
				if want := float64(row[x]) - norm; !(math.Abs(logMu[i]-want) <= 1e-6) {
					t.Fatalf("%s, %v: position %d: log μ is %v, want %v", v.name, shape, i, logMu[i], want)
				}
				want, limit := 0.0, 1e-12
				if f.Output == facts.LogScore {
					want, limit = norm, 1e-6
				}
				if !(math.Abs(logMass[i]-want) <= limit) {
					t.Fatalf("%s, %v: position %d: log mass is %v, want %v", v.name, shape, i, logMass[i], want)
				}
			}
		}
	}
}

// A row without a softmax returns NaN, and a token of weight 0 does not.
func TestLogProbabilityOfBadRows(t *testing.T) {
	const nanLogit = "a logit is NaN"
	dir := reftest.Data(t, "reference", "checkpoints", "radd")
	inf := float32(math.Inf(1))
	for _, v := range []struct {
		name string
		bias func(a int) float32 // of the head, at column a
		want func(x float64) bool
	}{
		{nanLogit, func(int) float32 { return 0 }, math.IsNaN},
		{"a logit is +Inf", func(a int) float32 { return map[int]float32{7: inf}[a] }, math.IsNaN},
		{"all logits are −Inf", func(int) float32 { return -inf }, math.IsNaN},
		{"the token's logit is −Inf", func(a int) float32 { return map[int]float32{5: -inf}[a] }, func(x float64) bool { return math.IsInf(x, -1) }},
		{"another logit is −Inf", func(a int) float32 { return map[int]float32{7: -inf}[a] }, func(x float64) bool { return x < 0 && x > -50 }},
	} {
		f := folder(t, dir)
		file := reftest.Must(checkpoint.FileOf(f["model.safetensors"].Data))(t)
		bias, ok := file.Tensor("output_layer.linear.bias")
		if !ok {
			t.Fatal("no bias")
		}
		raw := make([]float32, bias.Shape[0])
		for a := range raw {
			raw[a] = v.bias(a)
		}
		data := bytes.Clone(f["model.safetensors"].Data)
		reftest.Must(binary.Encode(data[bias.Offset:], binary.LittleEndian, raw))(t)
		if v.name == nanLogit {
			// A NaN in the file would be rejected; ∞ − ∞ is NaN too.
			weight, _ := file.Tensor("output_layer.linear.weight")
			reftest.Must(binary.Encode(data[weight.Offset+4*7*int64(weight.Shape[1]):], binary.LittleEndian, slices.Repeat([]float32{inf}, weight.Shape[1])))(t)
		}
		f["model.safetensors"].Data = data
		s := built(t, inMemory(t, f), Options{})
		logMu, logMass := call{rows: 1, ids: []int64{150, 3, 150}, positions: []int64{0, 2}}.logProbs(t, s, []int64{5, 5})
		for i, x := range logMu {
			if !v.want(x) || math.IsNaN(logMass[i]) != math.IsNaN(x) {
				t.Errorf("%s: log μ is %v, log mass %v", v.name, x, logMass[i])
			}
		}
	}
}
