package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mdmgen/model/ort"
	"mdmgen/samplers"
)

// foreign is an ONNX graph of another tool: it returns [B, L, V] logits, and
// the wanted rows are gathered after the call.
type foreign struct {
	session *ort.Session
	facts   Facts
	ref     string
	ids     string
	time    string
	logits  string
	// extra inputs that masked language models are exported with.
	attention, positionIDs, tokenTypes string

	full, out, sigma     []float32
	ones, places, zeroes []int64
}

// idNames, timeNames are the names that exporters give to the two inputs that
// matter.
var (
	idNames   = []string{"input_ids", "indices", "tokens", "x", "input"}
	timeNames = []string{"sigma", "timesteps", "timestep", "t"}
)

// firstInput returns the first of the names that is an input of the type, or "".
func firstInput(d ort.Description, names []string, dtype string) string {
	for _, name := range names {
		if in, ok := d.Input(name); ok && in.Type == dtype {
			return name
		}
	}
	return ""
}

// logitsOutput returns the output that holds the rows: the one named logits,
// else the only output of rank 3.
func logitsOutput(d ort.Description) (ort.IO, bool) {
	if out, ok := d.Output("logits"); ok {
		return out, len(out.Shape) > 0
	}
	var found []ort.IO
	for _, out := range d.Outputs {
		if len(out.Shape) == 3 {
			found = append(found, out)
		}
	}
	if len(found) != 1 {
		return ort.IO{}, false
	}
	return found[0], true
}

// openForeign checks that the graph can be used, and opens it. Outputs other
// than the rows are not computed.
func openForeign(ctx context.Context, ref, path string, d ort.Description, f Facts, opts Options) (Model, error) {
	n := &foreign{facts: f, ref: ref, ids: firstInput(d, idNames, "int64"), time: firstInput(d, timeNames, "float32")}
	if err := n.bind(d); err != nil {
		return nil, fmt.Errorf("model %s: %w", ref, err)
	}
	s, err := ort.Open(ctx, ort.Source{Path: path, Outputs: []string{n.logits}}, opts.Runtime)
	if err != nil {
		return nil, err
	}
	n.session = s
	return n, nil
}

// bind finds the inputs and the output, and reports all that does not fit.
func (n *foreign) bind(d ort.Description) error {
	var errs []error
	if n.ids == "" {
		errs = append(errs, fmt.Errorf("no int64 input for the canvas (looked for %v)", idNames))
	}
	if (n.time != "") != n.facts.TimeConditioned {
		errs = append(errs, fmt.Errorf("time_conditioned is %t, but the graph has %s", n.facts.TimeConditioned, map[bool]string{true: "an input for sigma", false: "no float32 input for sigma"}[n.time != ""]))
	}
	if in, ok := d.Input(n.ids); ok && len(in.Shape) == 2 && in.Shape[1] > 0 && (int64(n.facts.Length) != in.Shape[1] || !n.facts.FixedLength) {
		errs = append(errs, fmt.Errorf("length is %d and fixed_length is %t, but input %s has exactly %d positions", n.facts.Length, n.facts.FixedLength, n.ids, in.Shape[1]))
	}
	for _, in := range d.Inputs {
		switch {
		case in.Name == n.ids || in.Name == n.time:
		case in.Name == "attention_mask" && in.Type == "int64":
			n.attention = in.Name
		case in.Name == "position_ids" && in.Type == "int64":
			n.positionIDs = in.Name
		case in.Name == "token_type_ids" && in.Type == "int64":
			n.tokenTypes = in.Name
		default:
			errs = append(errs, fmt.Errorf("input %s (%s %v) is not one that a masked language model takes", in.Name, in.Type, in.Shape))
		}
	}
	out, ok := logitsOutput(d)
	switch {
	case !ok || len(out.Shape) != 3:
		errs = append(errs, errors.New("no output logits of shape [batch, length, columns]"))
	case !slices.Contains([]string{"float32", "float16", "bfloat16"}, out.Type):
		errs = append(errs, fmt.Errorf("output %s is %s: must be float32, float16 or bfloat16", out.Name, out.Type))
	case out.Shape[2] > 0 && int(out.Shape[2]) != n.facts.Columns:
		errs = append(errs, fmt.Errorf("columns is %d, but output %s has %d", n.facts.Columns, out.Name, out.Shape[2]))
	}
	n.logits = out.Name
	return errors.Join(errs...)
}

func (n *foreign) Facts() Facts { return n.facts }

func (n *foreign) Spec() samplers.Spec { return n.facts.Spec() }

func (n *foreign) Origin() Origin { return origin(n.ref, n.facts, n.session) }
func (n *foreign) Close() error   { return n.session.Close() }

// Logits makes one network call and gathers the wanted rows; see [Model].
func (n *foreign) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	length, err := callShape(n.facts, c)
	if err == nil {
		err = checkRows(n.facts, max(len(c.IDs), len(c.Positions)))
	}
	if err != nil {
		return nil, err
	}
	rows, ids := len(c.Counts), c.IDs
	shape := []int64{int64(rows), int64(length)}
	in := []ort.Tensor{{Name: n.ids, Shape: shape, Int64: ids}}
	if n.attention != "" {
		n.ones = filled(n.ones, len(ids), func(int) int64 { return 1 })
		in = append(in, ort.Tensor{Name: n.attention, Shape: shape, Int64: n.ones})
	}
	if n.positionIDs != "" {
		n.places = filled(n.places, len(ids), func(i int) int64 { return int64(i % length) })
		in = append(in, ort.Tensor{Name: n.positionIDs, Shape: shape, Int64: n.places})
	}
	if n.tokenTypes != "" {
		n.zeroes = filled(n.zeroes, len(ids), func(int) int64 { return 0 })
		in = append(in, ort.Tensor{Name: n.tokenTypes, Shape: shape, Int64: n.zeroes})
	}
	if n.time != "" {
		n.sigma = grow(n.sigma, rows)
		for i, s := range c.Sigma {
			n.sigma[i] = float32(s)
		}
		in = append(in, ort.Tensor{Name: n.time, Shape: shape[:1], Float32: n.sigma})
	}
	v := n.facts.Columns
	n.full = grow(n.full, rows*length*v)
	res := []ort.Tensor{{Name: n.logits, Shape: []int64{int64(rows), int64(length), int64(v)}, Float32: n.full}}
	if err := n.session.Run(ctx, in, res); err != nil {
		return nil, err
	}
	n.out = grow(n.out, len(c.Positions)*v)
	i := 0
	for r, k := range c.Counts {
		for _, p := range c.Positions[i : i+k] {
			at := r*length + int(p)
			copy(n.out[i*v:(i+1)*v], n.full[at*v:])
			i++
		}
	}
	return n.out, nil
}

// filled returns n values, value(i) at i, in the memory of s where it is large
// enough.
func filled(s []int64, n int, value func(int) int64) []int64 {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = value(i)
	}
	return s
}
