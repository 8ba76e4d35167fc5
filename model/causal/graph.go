package causal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mdmgen/model/ort"
)

// role is what an input is for: its element types and dimensions, and what it is given.
type role struct {
	types []string
	rank  int // 0 for any
	// shape is that of a call, for the graph's own, and value the element at a position of a row; it is nil
	// for a cache, which is passed empty.
	shape func(own []int64, rows, length int64) []int64
	value func(b texts, r, l int) int64
}

func canvas(_ []int64, rows, length int64) []int64 { return []int64{rows, length} }

// past is the shape of an empty cache: its first open dimension is the batch ([batch, heads, past,
// size], or [2, batch, heads, past, size] for keys and values in one), the other open ones are the
// past and have no elements.
func past(own []int64, rows, _ int64) []int64 {
	shape := slices.Clone(own)
	for i, n := range shape {
		if n <= 0 {
			shape[i], rows = rows, 0
		}
	}
	return shape
}

// roles are those of inputs by name, and cache is that of a cache's.
var (
	roles = map[string]role{
		"input_ids":        {ort.Integers, 2, canvas, texts.id},
		"attention_mask":   {slices.Concat([]string{"bool"}, ort.Integers, ort.Reals), 2, canvas, texts.seen},
		"position_ids":     {ort.Integers, 2, canvas, texts.position},
		"cache_position":   {ort.Integers, 1, func(_ []int64, _, length int64) []int64 { return []int64{length} }, texts.position},
		"use_cache_branch": {[]string{"bool"}, 1, func([]int64, int64, int64) []int64 { return []int64{1} }, texts.none},
	}
	cache = role{types: ort.Reals, shape: past}
)

// texts are the ids of a call.
type texts [][]int

// has reports whether a row has a text with a position.
func (b texts) has(r, l int) bool { return r < len(b) && l < len(b[r]) }

func (b texts) id(r, l int) int64 {
	if b.has(r, l) {
		return int64(b[r][l])
	}
	return 0
}

// seen is the attention mask. A row of nothing but padding attends to its first position: some graphs make NaN of
// a row that attends to nothing.
func (b texts) seen(r, l int) int64 {
	if l == 0 || b.has(r, l) {
		return 1
	}
	return 0
}

func (texts) position(_, l int) int64 { return int64(l) }
func (texts) none(int, int) int64     { return 0 }

// input is an input of a graph with its role.
type input struct {
	ort.Feed
	role
}

// graph describes a causal language model's graph.
type graph struct {
	inputs []*input
	output string
	dtype  string
	// columns is the length of a row; rows and length are the dimensions fixed by the graph, 0 if
	// they are open.
	columns, rows, length int
	// quantised means that it has constants of 8 bits or fewer.
	quantised bool
}

var cacheName = regexp.MustCompile(`^past(_key_values)?[._]\d+([._].+)?$`)

// Limits on what a graph may fix: ids, a dimension, and the logits of a call in values.
const (
	maxColumns = 1 << 24
	maxFixed   = 1 << 20
	maxCall    = 1 << 31
)

// readGraph assigns a role to every input, or rejects the graph.
func readGraph(d ort.Description) (graph, error) {
	var g graph
	for _, io := range d.Inputs {
		in, err := readInput(io)
		if err != nil {
			return g, err
		}
		if io.Name == "input_ids" {
			g.rows, g.length = int(max(io.Shape[0], 0)), int(max(io.Shape[1], 0))
		}
		g.inputs = append(g.inputs, in)
	}
	if _, ok := d.Input("input_ids"); !ok {
		return g, fmt.Errorf("input input_ids is missing: it has %s", ort.Names(d.Inputs))
	}
	g.quantised = slices.ContainsFunc(d.Weights, func(kind string) bool { return strings.HasSuffix(kind, "int8") || strings.HasSuffix(kind, "int4") })
	return g, g.readOutput(d)
}

func readInput(io ort.IO) (*input, error) {
	kind, known := roles[io.Name]
	if cacheName.MatchString(io.Name) {
		kind, known = cache, true
	}
	in := &input{ort.Feed{IO: io}, kind}
	if !known {
		return in, fmt.Errorf("input %s: a causal language model takes only input_ids, attention_mask, position_ids and a cache: export it without this input", io.Name)
	}
	if !slices.Contains(kind.types, io.Type) {
		return in, fmt.Errorf("input %s is %s: must be %s", io.Name, io.Type, strings.Join(kind.types, " or "))
	}
	if kind.rank > 0 && len(io.Shape) != kind.rank {
		return in, fmt.Errorf("input %s has the shape %v: must have %d dimensions", io.Name, io.Shape, kind.rank)
	}
	for _, n := range io.Shape {
		if n == 0 || n > maxFixed {
			return in, fmt.Errorf("input %s has the shape %v: a dimension of %d", io.Name, io.Shape, n)
		}
	}
	if in.value == nil && !slices.Contains(past(io.Shape, 1, 0), 0) {
		return in, fmt.Errorf("input %s has the shape %v: the cache must have an open dimension for the batch and one for the past, to be passed empty", io.Name, io.Shape)
	}
	return in, nil
}

// readOutput finds the logits: by name, else the first output of their shape.
func (g *graph) readOutput(d ort.Description) error {
	out, ok := d.Output("logits")
	if !ok {
		i := slices.IndexFunc(d.Outputs, func(o ort.IO) bool { return len(o.Shape) == 3 && slices.Contains(ort.Reals, o.Type) })
		if i < 0 {
			return fmt.Errorf("output logits is missing: it has %s", ort.Names(d.Outputs))
		}
		out = d.Outputs[i]
	}
	switch {
	case !slices.Contains(ort.Reals, out.Type):
		return fmt.Errorf("output %s is %s: must be %s", out.Name, out.Type, strings.Join(ort.Reals, " or "))
	case len(out.Shape) != 3:
		return fmt.Errorf("output %s has the shape %v: must be [batch, length, columns], a row for every position", out.Name, out.Shape)
	case out.Shape[2] < 1 || out.Shape[2] > maxColumns:
		return fmt.Errorf("output %s has the shape %v: its last dimension, the number of ids, must be fixed and at most %d", out.Name, out.Shape, maxColumns)
	}
	for i, has := range []*int{&g.rows, &g.length} {
		if n := out.Shape[i]; n > 0 && *has > 0 && int(n) != *has {
			return fmt.Errorf("output %s has the shape %v, but input_ids has %d in dimension %d: logits of every position are needed", out.Name, out.Shape, *has, i)
		} else if n == 0 || n > maxFixed {
			return fmt.Errorf("output %s has the shape %v: a dimension of %d", out.Name, out.Shape, n)
		} else if n > 0 {
			*has = int(n)
		}
	}
	if call := float64(max(g.rows, 1)) * float64(max(g.length, 1)) * float64(out.Shape[2]); call > maxCall {
		return fmt.Errorf("output %s has the shape %v: %.3g values a call: at most %d are read", out.Name, out.Shape, call, maxCall)
	}
	g.output, g.dtype, g.columns = out.Name, out.Type, int(out.Shape[2])
	return nil
}
