package chat

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/exec"
)

// maxIndent is the maximum indentation that tojson may use for a level.
const maxIndent = 16

// filters returns the filters that templates may use. Their inputs and results are bounded, so that
// no chain of them in one expression turns little into much.
func (r *run) filters() map[string]exec.FilterFunction {
	all := chosen(filters, builtins.Filters.Get)
	for name, filter := range all {
		all[name] = func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
			if in.IsError() {
				return in
			}
			if err := r.checkFilter(name, in, params); err != nil {
				return exec.AsValue(err)
			}
			out := filter(e, in, params)
			if err := r.check(size(out)); err != nil {
				return exec.AsValue(err)
			}
			return out
		}
	}
	return all
}

// checkFilter bounds the result of a filter before it runs.
func (r *run) checkFilter(name string, in *exec.Value, params *exec.VarArgs) error {
	most := size(in)
	for _, p := range slices.AppendSeq(slices.Clone(params.Args), maps.Values(params.KwArgs)) {
		switch n := size(p); {
		case name == "join": // once between any two
			most += n * in.Len()
		case name == "tojson" && p.IsInteger() && p.Integer() > maxIndent:
			return fmt.Errorf("indent is %d: must be at most %d", p.Integer(), maxIndent)
		default:
			most += n
		}
	}
	return r.check(most)
}

// size returns the approximate size of a value in bytes.
func size(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		return len(v)
	case *exec.Value:
		return size(v.Interface())
	case []any:
		for _, x := range v {
			n += size(x)
		}
	case map[string]any:
		for _, x := range v {
			n += size(x)
		}
	}
	return n
}
