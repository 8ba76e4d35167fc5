package oracle

import (
	"fmt"
	"slices"

	"mdmgen/model"
)

// lossesFile holds losses that a public implementation gave for fixed inputs: a row
// of each list for a sequence. Which lists there are tells which losses. Lists that the
// file does not have are nil.
type lossesFile struct {
	// X0 are sequences of one length, T the times of the log-linear noise. Mask is 1 where a
	// position of x0 is MASK; KMask the same for k_DCE. XT and KXT are the canvases.
	X0, Mask, KMask, XT, KXT [][]int
	T                        []float64
	// Sigma is −log α, DSigma its derivative in t, in float64 where the file has that.
	Sigma, DSigma                              []float64
	Sigma32, DSigma32, Sigma64, DSigma64       []float64
	Lambda                                     []float64
	K, Order                                   []int
	Loss, Loss32, ScoreEntropy, ScoreEntropy32 []float64
	PerToken, ScoreEntropyPerToken             [][]float64
	// ByName are RADD's losses in float64, ByName32 in float32.
	ByName, ByName32 map[string][]float64
	// Floor is the largest |float32 − float64|/(1+|float64|) of the file's losses, as it
	// states.
	Floor    float64
	HasFloor bool
}

// raddLosses are those of RADD.
var raddLosses = []string{"t_DSE", "t_DCE", "lambda_DCE", "k_DCE", "ar_forward", "ar_backward", "ar_random"}

// readLosses reads a file of losses for a model: every field, each of its shape and range,
// and nothing that is not known.
func readLosses(data []byte, facts model.Facts) (*lossesFile, error) {
	doc, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	in := new(inputs)
	in.only(doc, "mask_token_id", "vocab_size", "time_conditioning", "scale_by_sigma", "x0", "mask", "xt", "k_mask", "k_xt", "t",
		"sigma", "dsigma", "sigma_float64", "dsigma_float64", "lambda", "k", "order", "loss", "loss_float64", "loss_per_token",
		"score_entropy", "score_entropy_float64", "score_entropy_per_token", "losses", "losses_float64", "floor_relative")
	f := new(lossesFile)
	f.model(in, doc, facts)
	tokens := max(facts.Columns, facts.MaskID+1)
	f.X0 = in.matrix(doc, "x0", 0, tokens-1)
	f.Mask = in.matrix(doc, "mask", 0, 1)
	if in.err != nil {
		return nil, in.err
	}
	n := len(f.X0)
	if n == 0 {
		return nil, fmt.Errorf("field %q: has no sequences", "x0")
	}
	optional := func(name string) *node { return doc.fields[name] }
	for name, dst := range inOrder(map[string]*[][]int{"xt": &f.XT, "k_xt": &f.KXT}) {
		if optional(name) != nil {
			*dst = in.matrix(doc, name, 0, tokens-1)
		}
	}
	if optional("k_mask") != nil {
		f.KMask = in.matrix(doc, "k_mask", 0, 1)
	}
	for name, dst := range inOrder(map[string]*[]float64{"loss": &f.Loss32, "loss_float64": &f.Loss, "score_entropy": &f.ScoreEntropy32, "score_entropy_float64": &f.ScoreEntropy}) {
		if optional(name) != nil {
			*dst = in.numbers(doc, name, -1e30, 1e30)
		}
	}
	for name, dst := range inOrder(map[string]*[]float64{"sigma": &f.Sigma32, "dsigma": &f.DSigma32, "sigma_float64": &f.Sigma64, "dsigma_float64": &f.DSigma64}) {
		if optional(name) != nil {
			*dst = in.numbers(doc, name, 1e-300, 1e30)
		}
	}
	for name, dst := range inOrder(map[string]*[]float64{"t": &f.T, "lambda": &f.Lambda}) {
		if optional(name) != nil {
			*dst = in.numbers(doc, name, 1e-300, 1)
		}
	}
	for name, dst := range inOrder(map[string]*[][]float64{"loss_per_token": &f.PerToken, "score_entropy_per_token": &f.ScoreEntropyPerToken}) {
		if optional(name) != nil {
			*dst = in.realMatrix(doc, name)
		}
	}
	for name, dst := range inOrder(map[string]*map[string][]float64{"losses": &f.ByName32, "losses_float64": &f.ByName}) {
		if optional(name) != nil {
			*dst = in.lossesByName(doc, name, n)
		}
	}
	if optional("k") != nil {
		f.K = in.integers(doc, "k", 1, len(f.X0[0]))
	}
	if optional("order") != nil {
		f.Order = in.integers(doc, "order", 0, len(f.X0[0])-1)
	}
	if optional("floor_relative") != nil {
		f.Floor, f.HasFloor = in.number(doc, "floor_relative", 0, 1e-3), true
	}
	f.check(in, facts)
	if in.err != nil {
		return nil, in.err
	}
	return f, nil
}

// model compares what the file says of the model with what it is.
func (f *lossesFile) model(in *inputs, doc *node, facts model.Facts) {
	vocabulary := max(facts.Columns, facts.MaskID+1)
	if id := in.integer(doc, "mask_token_id", 0, 1<<31-1); in.err == nil && id != facts.MaskID {
		in.fail("mask_token_id is %d, the model's is %d", id, facts.MaskID)
	}
	if doc.fields["vocab_size"] != nil {
		if v := in.integer(doc, "vocab_size", 2, 1<<31-1); in.err == nil && v != vocabulary {
			in.fail("vocab_size is %d, the model's is %d, MASK included", v, vocabulary)
		}
	}
	for name, is := range inOrder(map[string]bool{"time_conditioning": facts.TimeConditioned, "scale_by_sigma": facts.ScaleBySigma}) {
		if n := doc.fields[name]; n != nil {
			if said, ok := n.value.(bool); !ok || said != is {
				in.fail("%s is %s, the model's is %t", name, n.words(), is)
			}
		}
	}
}

// check refuses lists whose lengths do not fit, and inputs that cannot be.
func (f *lossesFile) check(in *inputs, facts model.Facts) {
	n, d := len(f.X0), len(f.X0[0])
	if f.Sigma, f.DSigma = f.Sigma64, f.DSigma64; f.Sigma == nil {
		// RADD's float32 noise has no float64 form in the file; it is exact enough.
		f.Sigma, f.DSigma = f.Sigma32, f.DSigma32
	}
	if f.Sigma == nil || f.DSigma == nil {
		in.fail("field %q or %q is missing", "sigma", "dsigma")
	}
	for name, list := range inOrder(map[string][]float64{
		"sigma": f.Sigma32, "dsigma": f.DSigma32, "sigma_float64": f.Sigma64, "dsigma_float64": f.DSigma64, "t": f.T, "lambda": f.Lambda,
		"loss": f.Loss32, "loss_float64": f.Loss, "score_entropy": f.ScoreEntropy32, "score_entropy_float64": f.ScoreEntropy,
	}) {
		if list != nil && len(list) != n {
			in.fail("field %q: %d values: x0 has %d rows", name, len(list), n)
		}
	}
	if f.K != nil && len(f.K) != n {
		in.fail("field %q: %d values: x0 has %d rows", "k", len(f.K), n)
	}
	for name, m := range inOrder(map[string][][]int{"x0": f.X0, "mask": f.Mask, "xt": f.XT, "k_mask": f.KMask, "k_xt": f.KXT}) {
		for i, row := range m {
			if len(m) != n || len(row) != d {
				in.fail("field %q: row %d has %d entries: must have the %d × %d of x0", name, i, len(row), n, d)
			}
		}
	}
	for name, m := range inOrder(map[string][][]float64{"loss_per_token": f.PerToken, "score_entropy_per_token": f.ScoreEntropyPerToken}) {
		for i, row := range m {
			if len(m) != n || len(row) != d {
				in.fail("field %q: row %d has %d entries: must have the %d × %d of x0", name, i, len(row), n, d)
			}
		}
	}
	for i, row := range f.X0 {
		if at := slices.Index(row, facts.MaskID); at >= 0 {
			in.fail("field %q: row %d, position %d: id %d is MASK: sequences are clean", "x0", i, at, facts.MaskID)
		}
	}
	if f.Order != nil {
		sorted := slices.Sorted(slices.Values(f.Order))
		if len(sorted) != d || len(slices.Compact(sorted)) != d {
			in.fail("field %q: must have each position of 0..%d once", "order", d-1)
		}
	}
	switch {
	case f.ByName == nil && f.ScoreEntropy == nil && f.Loss == nil:
		in.fail("holds none of losses_float64, score_entropy_float64 and loss_float64")
	case f.ByName["ar_random"] != nil && f.Order == nil:
		in.fail("field %q is missing: a loss needs it", "order")
	}
}

// matrix is a field that must be a list of lists of whole numbers in least..most.
func (in *inputs) matrix(n *node, name string, least, most int) [][]int {
	out := make([][]int, 0)
	for i, item := range in.list(n, name) {
		row := &inputs{}
		values := row.integers(&node{fields: map[string]*node{name: item}}, name, least, most)
		if row.err != nil {
			in.fail("row %d: %w", i, row.err)
			return nil
		}
		if len(values) == 0 {
			in.fail("field %q: row %d is empty", name, i)
			return nil
		}
		out = append(out, values)
	}
	return out
}

// realMatrix is a field that must be a list of lists of numbers.
func (in *inputs) realMatrix(n *node, name string) [][]float64 {
	out := make([][]float64, 0)
	for i, item := range in.list(n, name) {
		row := &inputs{}
		values := row.numbers(&node{fields: map[string]*node{name: item}}, name, -1e30, 1e30)
		if row.err != nil {
			in.fail("row %d: %w", i, row.err)
			return nil
		}
		out = append(out, values)
	}
	return out
}

// lossesByName is a field that must be an object of lists of n numbers.
func (in *inputs) lossesByName(n *node, name string, count int) map[string][]float64 {
	f := in.get(n, name)
	if !f.isObject() {
		in.fail("field %q is %s: must be an object", name, f.words())
		return nil
	}
	out := make(map[string][]float64)
	for _, loss := range f.names {
		if !slices.Contains(raddLosses, loss) {
			in.fail("field %s.%.40s is not known: nothing recomputes it", name, loss)
			return nil
		}
		out[loss] = in.numbers(f, loss, -1e30, 1e30)
		if in.err == nil && len(out[loss]) != count {
			in.fail("field %s.%s: %d values: x0 has %d rows", name, loss, len(out[loss]), count)
		}
	}
	if len(out) == 0 {
		in.fail("field %q: holds no losses", name)
	}
	return out
}
