package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"mdmgen/internal/plainjson"
)

// maxDepth bounds the nesting of a file.
const maxDepth = 32

// A node is a JSON value with its fields in the file's order.
type node struct {
	// value is a float64, string, bool or nil; for objects and lists it is the
	// opening json.Delim.
	value  any
	names  []string
	fields map[string]*node
	list   []*node
}

// readDocument reads one JSON object and nothing after it.
func readDocument(data []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	n, err := readNode(dec, 0)
	if err != nil {
		return nil, plainjson.Plain(data, err)
	}
	if !n.isObject() {
		return nil, errors.New("not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return n, nil
}

func readNode(dec *json.Decoder, depth int) (*node, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	n := &node{value: t}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	switch t {
	case json.Delim('['):
		for dec.More() {
			item, err := readNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.list = append(n.list, item)
		}
	case json.Delim('{'):
		n.fields = make(map[string]*node)
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if n.fields[name] != nil {
				return nil, fmt.Errorf("field %.60q appears twice", name)
			}
			if n.fields[name], err = readNode(dec, depth+1); err != nil {
				return nil, err
			}
			n.names = append(n.names, name)
		}
	default:
		return n, nil
	}
	_, err = dec.Token()
	return n, err
}

func (n *node) isObject() bool { return n.value == json.Delim('{') }
func (n *node) isList() bool   { return n.value == json.Delim('[') }

// numeric says whether there is a number or a truth value in the node.
func (n *node) numeric() bool {
	switch n.value.(type) {
	case float64, bool:
		return true
	}
	for _, item := range n.list {
		if item.numeric() {
			return true
		}
	}
	for _, item := range n.fields {
		if item.numeric() {
			return true
		}
	}
	return false
}

// words says what the node is.
func (n *node) words() string {
	switch v := n.value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.40q", v)
	case json.Delim:
		if n.isList() {
			return "a list"
		}
		return "an object"
	}
	return fmt.Sprint(n.value)
}

// number is the node's number, +Inf for null; false for anything else.
func (n *node) number() (float64, bool) {
	if n.value == nil {
		return math.Inf(1), true
	}
	x, ok := n.value.(float64)
	return x, ok
}

// indexed is "name[i][j]".
func indexed(name string, at ...int) string {
	for _, i := range at {
		name += fmt.Sprintf("[%d]", i)
	}
	return name
}

// inputs reads what a file's values are computed from, and keeps the first error. The
// end of ctx, where it has one, is an error of the next value: what is computed then is
// nothing that takes time.
type inputs struct {
	ctx context.Context
	err error
}

func (in *inputs) fail(format string, args ...any) {
	if in.err == nil {
		in.err = fmt.Errorf(format, args...)
	}
}

// get is a field that must be there; never nil.
func (in *inputs) get(n *node, name string) *node {
	if in.ctx != nil && in.ctx.Err() != nil {
		in.fail("%w", in.ctx.Err())
		return &node{}
	}
	if f := n.fields[name]; f != nil {
		return f
	}
	in.fail("field %q is missing", name)
	return &node{}
}

// list is a field that must be a list of at most 10^6 items.
func (in *inputs) list(n *node, name string) []*node {
	f := in.get(n, name)
	if !f.isList() || len(f.list) > 1e6 {
		in.fail("field %q is %s: must be a list", name, f.words())
		return nil
	}
	return f.list
}

// number is a field that must be a number in [least, most].
func (in *inputs) number(n *node, name string, least, most float64) float64 {
	x, ok := in.get(n, name).value.(float64)
	if !ok || !(x >= least && x <= most) {
		in.fail("field %q is %s: must be a number in %v..%v", name, in.get(n, name).words(), least, most)
		return least
	}
	return x
}

// integer is a field that must be a whole number in least..most.
func (in *inputs) integer(n *node, name string, least, most int) int {
	x := in.number(n, name, float64(least), float64(most))
	if x != math.Trunc(x) {
		in.fail("field %q is %v: must be a whole number", name, x)
		return least
	}
	return int(x)
}

// text is a field that must be a string.
func (in *inputs) text(n *node, name string) string {
	s, ok := in.get(n, name).value.(string)
	if !ok {
		in.fail("field %q is %s: must be text", name, in.get(n, name).words())
	}
	return s
}

// numbers is a field that must be a list of numbers in [least, most].
func (in *inputs) numbers(n *node, name string, least, most float64) []float64 {
	var out []float64
	for i, item := range in.list(n, name) {
		x, ok := item.value.(float64)
		if !ok || !(x >= least && x <= most) {
			in.fail("field %q: entry %d is %s: must be a number in %v..%v", name, i, item.words(), least, most)
			return nil
		}
		out = append(out, x)
	}
	return out
}

// integers is a field that must be a list of whole numbers in least..most.
func (in *inputs) integers(n *node, name string, least, most int) []int {
	var out []int
	for i, x := range in.numbers(n, name, float64(least), float64(most)) {
		if x != math.Trunc(x) {
			in.fail("field %q: entry %d: must be a whole number", name, i)
			return nil
		}
		out = append(out, int(x))
	}
	return out
}
