package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
)

// idNames and timeNames are the names that exporters give to the inputs for the canvas and for σ.
var (
	idNames   = []string{"input_ids", "indices", "tokens", "ids", "x", "input"}
	timeNames = []string{"sigma", "timesteps", "timestep", "t"}
)

// auxInputs are the other inputs that masked language models are exported with, and the value of
// each at position l.
var auxInputs = map[string]func(l int) int64{
	"attention_mask": func(int) int64 { return 1 },
	"position_ids":   func(l int) int64 { return int64(l) },
	"token_type_ids": func(int) int64 { return 0 },
}

// canvasInput finds the input of the canvas: the one with that name if it is not empty, else one
// with a usual name, else the only integer input in two dimensions that has no other use.
func canvasInput(d ort.Description, name string) (ort.IO, error) {
	var found []ort.IO
	for _, in := range d.Inputs {
		_, aside := auxInputs[in.Name]
		fits := slices.Contains(ort.Integers, in.Type) && (len(in.Shape) == 2 || in.Shape == nil)
		switch {
		case in.Name == name && !fits:
			return in, fmt.Errorf("input %s is %s %v: the canvas is int64 or int32 in two dimensions", in.Name, in.Type, in.Shape)
		case fits && in.Name == name, fits && name == "" && slices.Contains(idNames, in.Name):
			return in, nil
		case fits && !aside && len(in.Shape) == 2:
			found = append(found, in)
		}
	}
	switch {
	case name != "":
		return ort.IO{}, fmt.Errorf("input %q is not one of the graph's, which are %s", name, ort.Names(d.Inputs))
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return ort.IO{}, fmt.Errorf("no input for the canvas, int64 or int32 in two dimensions, among %s", ort.Names(d.Inputs))
	}
	return ort.IO{}, fault.Advise("any of %s may be the canvas: name it, as %v does", ort.Names(found), fault.Term{Name: "fact", Value: "input=" + found[0].Name})
}

// timeInput finds the input for σ.
func timeInput(d ort.Description, canvas string) (ort.IO, bool) {
	for _, name := range timeNames {
		if in, ok := d.Input(name); ok && name != canvas {
			return in, true
		}
	}
	return ort.IO{}, false
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

// fixedLength returns the canvas length fixed by the graph's shapes, 0 if the graph takes any.
func fixedLength(d ort.Description) int {
	ios := d.Inputs
	if out, ok := logitsOutput(d); ok && len(out.Shape) == 3 {
		ios = append(slices.Clone(ios), out)
	}
	for _, io := range ios {
		// A second dimension of 1 is more likely that of a time.
		if len(io.Shape) > 1 && (len(io.Shape) == 3 || slices.Contains(ort.Integers, io.Type)) && io.Shape[1] > 1 {
			return int(io.Shape[1])
		}
	}
	return 0
}

// bind assigns a part to every input, finds the output, and reports everything that does not fit.
func (n *foreign) bind(d ort.Description) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fault.Advise(format, args...)) }
	canvas, err := canvasInput(d, n.facts.Input)
	if err != nil {
		errs, d.Inputs = append(errs, err), nil // The parts of the other inputs depend on it.
	}
	time, timed := timeInput(d, canvas.Name)
	switch {
	case n.facts.TimeConditioned && !timed:
		add("time_conditioned is true, but the graph has no input for sigma (looked for %s)", strings.Join(timeNames, ", "))
	case n.facts.TimeConditioned && !slices.Contains(ort.Reals, time.Type):
		add("input %s is %s: σ is a real number: export it as float32, or feed it zeros with %v if the network ignores it", time.Name, time.Type, fault.Term{Name: "fact", Value: "time_conditioned=false"})
	case timed && (len(time.Shape) == 0 && time.Shape != nil || len(time.Shape) > 2 || len(time.Shape) == 2 && time.Shape[1] > 1):
		add("input %s has the shape %v: must be [batch] or [batch, 1]", time.Name, time.Shape)
	}
	if n.facts.Causal {
		add("causal is true, but no input of the graph is a block")
	}
	if l := fixedLength(d); l > 0 && (n.facts.Length != l || !n.facts.FixedLength) {
		add("length is %d and fixed_length is %t, but the graph has exactly %d positions: %v", n.facts.Length, n.facts.FixedLength, l, fault.Term{Name: "fact", Value: fmt.Sprintf("length=%d", l)})
	}
	for _, io := range d.Inputs {
		value, aside := auxInputs[io.Name]
		in := &part{Feed: ort.Feed{IO: io}, value: value}
		switch {
		case io.Name == canvas.Name:
			n.canvas = in
		case timed && io.Name == time.Name:
			n.time = in
		case !aside:
			add("input %s (%s %v) is not one that a masked language model takes: export the network without it", io.Name, io.Type, io.Shape)
		case len(io.Shape) != 2:
			add("input %s has the shape %v: must be [batch, length]", io.Name, io.Shape)
		default:
			n.aside = append(n.aside, in)
		}
		n.setBatch(io, aside, add)
	}
	out, ok := logitsOutput(d)
	switch {
	case !ok || len(out.Shape) != 3:
		errs = append(errs, errors.New("no output logits of shape [batch, length, columns]"))
	case !slices.Contains(ort.Reals, out.Type):
		add("output %s is %s: must be %s", out.Name, out.Type, strings.Join(ort.Reals, ", "))
	case out.Shape[2] > 0 && int(out.Shape[2]) != n.facts.Columns:
		add("columns is %d, but output %s has %d", n.facts.Columns, out.Name, out.Shape[2])
	default:
		n.setBatch(out, false, add)
	}
	n.logits = out.Name
	return errors.Join(errs...)
}

// setBatch records the number of canvases per call that an input or output fixes. An input other
// than the canvas with one row serves any number.
func (n *foreign) setBatch(io ort.IO, aside bool, add func(string, ...any)) {
	if len(io.Shape) == 0 || io.Shape[0] <= 0 || aside && io.Shape[0] == 1 {
		return
	}
	switch b := io.Shape[0]; {
	case b > facts.MaxLength:
		add("%s has a batch of %d: at most %d", io.Name, b, facts.MaxLength)
	case n.batch > 0 && int64(n.batch) != b:
		add("%s has a batch of %d, another tensor of %d", io.Name, b, n.batch)
	default:
		n.batch = int(b)
	}
}
