package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers"
)

// suppressed is the number that the public implementation of MDLM adds to a logit that must have no
// probability, and writes for the other tokens at a visible position.
const suppressed = -1e6

// outputs maps the quantities in golden files to functions that compute them from the rows of
// logits.
var outputs = map[string]func(*goldenCase) ([]float64, error){
	"logits":    (*goldenCase).rawLogits,
	"log_mu":    (*goldenCase).logMu,
	"forward":   (*goldenCase).forward,
	"log_score": (*goldenCase).logScore,

	"causal_logits": (*goldenCase).rawLogits,
	"causal_nll":    (*goldenCase).causalNLL,
}

// inputs are the quantities that cases are computed from.
var inputs = []string{"input_ids", "sigma", "context", "causal_ids"}

// Golden compares a network with tensors of another implementation in a safetensors file. For each
// case N the file has the inputs input_ids.N [B, L] and, for a time-conditioned network, sigma.N
// [B], and outputs NAME.N [B, L, columns]. For a block-causal network input_ids.N may be [B, 2L],
// each noisy text followed by its clean copy, with outputs for the noisy text. For a network with causal
// rows context.N [1] is the start of a block that ends with each text, with outputs for it, and causal_ids.N
// are texts with outputs causal_logits.N and causal_nll.N [B], in nats. Recorded runs, whose names have no
// number, are not compared if the metadata has block_size. Of logits_ema.N and
// logits_raw.N only those for the model's set of weights are compared. limit is the greatest
// accepted difference; a value may differ by one more spacing of its stored type, see [Widened]. A
// greater difference is part of the report; an error means that the comparison was not possible.
func Golden(ctx context.Context, m model.Model, path string, limit float64) (r Report, err error) {
	r = Report{Schema: Schema, OK: true}
	f, err := checkpoint.OpenFile(path)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if id, ok := f.Metadata["mask_token_id"]; ok && id != strconv.Itoa(m.Facts().MaskID) {
		return Report{}, fmt.Errorf("%s: mask_token_id is %s, the model's is %d", path, id, m.Facts().MaskID)
	}
	cases := make(map[string]*goldenCase)
	for _, name := range f.Names() {
		kind, number, ok := strings.Cut(name, ".")
		if _, err := strconv.Atoi(number); err != nil && f.Metadata["block_size"] != "" || slices.Contains(inputs, kind) {
			continue
		}
		if set, ok := strings.CutPrefix(kind, "logits_"); ok && (set == "ema" || set == "raw") {
			if set != m.Facts().Weights {
				continue // for the other set of weights
			}
			kind = "logits"
		}
		compute, known := outputs[kind]
		if !ok || !known {
			return Report{}, fmt.Errorf("%s: tensor %.60s: unknown quantity: must be one of %s, with .N", path, name, strings.Join(slices.Concat(inputs, slices.Sorted(maps.Keys(outputs))), ", "))
		}
		input := "input_ids." + number
		if strings.HasPrefix(kind, "causal_") {
			input = "causal_ids." + number
		}
		c := cases[input]
		if c == nil {
			if c, err = newCase(ctx, m, f, input, name); err != nil {
				return Report{}, fmt.Errorf("%s: %w", path, err)
			}
			cases[input] = c
		}
		item, err := c.compare(f, name, compute, limit)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", path, err)
		}
		r.Items, r.OK = append(r.Items, item), r.OK && item.OK
	}
	if len(r.Items) == 0 {
		return Report{}, fmt.Errorf("%s: holds no outputs to compare", path)
	}
	return r, nil
}

// goldenCase is one batch of a golden file with the model's rows for it.
type goldenCase struct {
	facts  model.Facts
	shape  []int // B, L, columns
	ids    []int64
	sigma  []float64
	logits []float32
}

// newCase reads the inputs of a case, whose ids are the tensor input and one of whose outputs is output,
// and computes the rows of every position, or of those in a block, with the network.
func newCase(ctx context.Context, m model.Model, f *checkpoint.File, input, output string) (*goldenCase, error) {
	kind, number, _ := strings.Cut(input, ".")
	t, ok := f.Tensor(input)
	if !ok {
		return nil, fmt.Errorf("tensor %s is missing", input)
	}
	ids, err := t.Int64s()
	if err != nil {
		return nil, err
	}
	if len(t.Shape) != 2 || len(ids) == 0 {
		return nil, fmt.Errorf("tensor %s: shape is %v: must be [B, L]", t.Name, t.Shape)
	}
	c := &goldenCase{facts: m.Facts(), shape: []int{t.Shape[0], t.Shape[1], m.Facts().Columns}, ids: ids}
	if s, ok := f.Tensor("sigma." + number); ok {
		if c.sigma, err = s.Float64s(); err != nil {
			return nil, err
		}
		if len(c.sigma) != t.Shape[0] {
			return nil, fmt.Errorf("tensor %s: shape is %v: must be [%d]", s.Name, s.Shape, t.Shape[0])
		}
	} else if c.facts.TimeConditioned {
		return nil, fmt.Errorf("tensor sigma.%s is missing: the model is time-conditioned", number)
	}
	keeper, keeps := m.(samplers.Keeper)
	var clean []int64
	if want, _ := f.Tensor(output); c.facts.BlockSize > 0 && keeps && len(want.Shape) == 3 && 2*want.Shape[1] == c.shape[1] {
		c.shape[1], c.ids = want.Shape[1], nil
		for two := range slices.Chunk(ids, t.Shape[1]) {
			c.ids, clean = append(c.ids, two[:c.shape[1]]...), append(clean, two[c.shape[1]:]...)
		}
	}
	positions := make([]int64, len(c.ids))
	for i := range positions {
		positions[i] = int64(i % c.shape[1])
	}
	call := samplers.Call{IDs: clean, Positions: positions, Counts: slices.Repeat([]int{c.shape[1]}, c.shape[0])}
	if clean != nil {
		for range c.shape[0] {
			call.Kept = append(call.Kept, keeper.Keep(c.shape[1]))
		}
		if _, err := m.Logits(ctx, call); err != nil {
			return nil, fmt.Errorf("case %s: %w", number, err)
		}
		call.Noisy = true
	}
	call.IDs = c.ids
	if c.facts.Causal {
		if err := c.inBlock(f, kind, number, &call); err != nil {
			return nil, err
		}
	}
	if c.facts.TimeConditioned {
		call.Sigma = c.sigma
	}
	rows, err := m.Logits(ctx, call)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", number, err)
	}
	c.logits = slices.Clone(rows)
	return c, nil
}

// inBlock makes a call about the block of a case of a network with causal rows, or about causal rows.
func (c *goldenCase) inBlock(f *checkpoint.File, kind, number string, call *samplers.Call) error {
	length, block := c.shape[1], samplers.Span{To: c.shape[1]}
	if kind == "causal_ids" {
		block.From = length
	} else if t, ok := f.Tensor("context." + number); ok {
		from, err := t.Int64s()
		if err != nil || len(from) != 1 || from[0] < 0 || int(from[0]) >= length {
			return fmt.Errorf("tensor %s: must be a whole number in 0..%d", t.Name, length-1)
		}
		block.From = int(from[0])
		c.shape[1], c.ids, call.Positions = length-block.From, nil, slices.DeleteFunc(call.Positions, func(l int64) bool { return l < from[0] })
		for text := range slices.Chunk(call.IDs, length) {
			c.ids = append(c.ids, text[block.From:]...)
		}
	}
	call.Blocks, call.Counts = slices.Repeat([]samplers.Span{block}, c.shape[0]), slices.Repeat([]int{c.shape[1]}, c.shape[0])
	return nil
}

// compare compares one output tensor with the values computed from the rows.
func (c *goldenCase) compare(f *checkpoint.File, name string, compute func(*goldenCase) ([]float64, error), limit float64) (Item, error) {
	t, _ := f.Tensor(name)
	want, err := t.Float64s()
	if ids, whole := t.Int64s(); whole == nil { // such as the 0 of a text of one token
		want, err = make([]float64, len(ids)), nil
		for i, x := range ids {
			want[i] = float64(x)
		}
	}
	if err != nil {
		return Item{}, err
	}
	shape, how := c.shape, Absolute
	if strings.HasPrefix(name, "causal_nll.") { // a sum over a text
		shape, how = shape[:1], Relative
	}
	if !slices.Equal(t.Shape, shape) {
		return Item{}, fmt.Errorf("tensor %s: shape is %v, the model's rows make %v", name, t.Shape, shape)
	}
	got, err := compute(c)
	if err != nil {
		return Item{}, fmt.Errorf("tensor %s: %w", name, err)
	}
	cmp := NewComparison(name, how, limit)
	cmp.dtype = t.Dtype
	l, v := c.shape[1], c.shape[2]
	for i := range want {
		cmp.Add(got[i], want[i], func() string {
			return fmt.Sprintf("%s[%d,%d,%d]", name, i/(l*v), i/v%l, i%v)
		})
	}
	return cmp.Finish()
}

// rawLogits returns the network's logits unchanged.
func (c *goldenCase) rawLogits() ([]float64, error) {
	out := make([]float64, len(c.logits))
	for i, x := range c.logits {
		out[i] = float64(x)
	}
	return out, nil
}

// causalNLL computes −Σ log P of the tokens of each text behind its first.
func (c *goldenCase) causalNLL() ([]float64, error) {
	out := make([]float64, c.shape[0])
	at, l := 0, c.shape[1]
	c.rows(func(row []float64, _, b int) {
		if at++; at%l != 0 {
			out[b] += floats.LogSumExp(row) - row[c.ids[at]]
		}
	})
	return out, nil
}

// rows calls do for each row with its values in float64, the id on the canvas and the row's index
// in the batch. It returns all rows.
func (c *goldenCase) rows(do func(row []float64, id, b int)) []float64 {
	out, _ := c.rawLogits()
	l, v := c.shape[1], c.shape[2]
	for i, id := range c.ids {
		do(out[i*v:(i+1)*v], int(id), i/l)
	}
	return out
}

// logMu computes MDLM's parameterisation (SUBS): at masked positions log-probabilities with the
// mask suppressed, at others certainty of the visible token.
func (c *goldenCase) logMu() ([]float64, error) {
	mask := c.facts.MaskID
	if mask >= c.facts.Columns {
		return nil, errors.New("the network has no column for MASK")
	}
	return c.rows(func(row []float64, id, _ int) {
		if id != mask {
			for a := range row {
				row[a] = suppressed
			}
			row[id] = 0
			return
		}
		row[mask] += suppressed
		norm := floats.LogSumExp(row)
		for a := range row {
			row[a] -= norm
		}
	}), nil
}

// forward computes RADD's output: log-probabilities over all columns but the last, MASK, whose
// logit is unchanged.
func (c *goldenCase) forward() ([]float64, error) {
	return c.rows(func(row []float64, _, _ int) {
		clean := row[:len(row)-1]
		norm := floats.LogSumExp(clean)
		for a := range clean {
			clean[a] -= norm
		}
	}), nil
}

// logScore computes SEDD's output: logits, minus log(e^σ − 1) + log(V) if the network scales by σ,
// V the number of clean tokens; 0 at the visible token.
func (c *goldenCase) logScore() ([]float64, error) {
	if c.sigma == nil {
		return nil, errors.New("needs sigma")
	}
	return c.rows(func(row []float64, id, b int) {
		if c.facts.ScaleBySigma {
			shift := math.Log(math.Expm1(c.sigma[b])) + math.Log(float64(c.facts.Columns-1))
			for a := range row {
				row[a] -= shift
			}
		}
		if id < len(row) {
			row[id] = 0
		}
	}), nil
}
