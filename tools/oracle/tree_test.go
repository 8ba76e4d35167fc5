package oracle

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"mdmgen/analysis/verify"
)

// The recomputed values of a file are a tree of the same shape. Leaves are float64, int, bool, or
// nested lists of float64 or int, each of which is one item. If a value is infinite or NaN, or a
// list is nil, the file must have null.
type (
	object map[string]any
	list   []any
	// given marks inputs of other values, or values that the caller checks separately; exempt marks
	// values that are not recomputed.
	given  struct{}
	exempt struct{}
	// within is a value with its own limit.
	within struct {
		value any
		limit float64
	}
)

// rounded is a number with a known rounding error, because the file's formula cancels or takes a
// root near 0. Its limit is wider by slack.
func rounded(value, slack float64) within {
	return within{value, lawsLimit + slack/max(1, math.Abs(value))}
}

// matcher compares a file with a tree and collects items.
type matcher struct {
	t     testing.TB
	limit float64
	items []verify.Item
	// faults lists what the file lacks, or has in addition to the recomputed values.
	faults []string
}

// ok reports whether everything compared so far agrees.
func (m *matcher) ok() bool {
	return len(m.faults) == 0 && !slices.ContainsFunc(m.items, func(it verify.Item) bool { return !it.OK })
}

func (m *matcher) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

// match compares a value of the file. Every number of the file must have a counterpart, and vice
// versa; a fault names the field.
func (m *matcher) match(path string, file, want any) {
	switch want := want.(type) {
	case exempt, given:
	case within:
		limit := m.limit
		m.limit = want.limit
		m.match(path, file, want.value)
		m.limit = limit
	case object:
		m.object(path, file, want)
	case list:
		rows, _ := file.([]any)
		if len(rows) != len(want) {
			m.fault("field %s: %d entries: must have %d", path, len(rows), len(want))
			return
		}
		for i := range want {
			m.match(fmt.Sprintf("%s[%d]", path, i), rows[i], want[i])
		}
	default:
		measure, limit := verify.Relative, m.limit
		switch n := want.(type) {
		case int:
			if measure, limit = verify.Absolute, 0; n > longCount {
				limit = 1
			}
		case bool, []int, [][]int:
			measure, limit = verify.Absolute, 0
		}
		m.item(path, measure, limit, func(c *verify.Comparison) { m.leaf(c, path, file, want) })
	}
}

// item adds an item with the comparisons that compare makes.
func (m *matcher) item(path string, measure verify.Measure, limit float64, compare func(*verify.Comparison)) {
	c, before := verify.NewComparison(path, measure, limit), len(m.faults)
	compare(c)
	if len(m.faults) > before {
		return
	}
	item, err := c.Finish()
	if err != nil {
		m.fault("%v", err)
	}
	m.items = append(m.items, item)
}

func (m *matcher) object(path string, file any, want object) {
	fields, ok := file.(map[string]any)
	if !ok {
		m.fault("field %s: must be an object", path)
		return
	}
	for name, w := range inOrder(want) {
		if _, there := fields[name]; !there && w != any(exempt{}) {
			m.fault("field %s is missing", below(path, name))
		}
	}
	for name, value := range inOrder(fields) {
		if w, known := want[name]; known {
			m.match(below(path, name), value, w)
		} else if numeric(value) {
			m.fault("field %s is not known: nothing recomputes it", below(path, name))
		}
	}
}

// below returns the path of a field of an object.
func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// numeric reports whether a value contains a number or a boolean.
func numeric(v any) bool {
	switch v := v.(type) {
	case float64, bool:
		return true
	case []any:
		return slices.ContainsFunc(v, numeric)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), numeric)
	}
	return false
}

// leaf compares a leaf or a nested list of leaves.
func (m *matcher) leaf(c *verify.Comparison, path string, file, want any) {
	if v := reflect.ValueOf(want); v.Kind() == reflect.Slice {
		rows, _ := file.([]any)
		if v.IsNil() {
			m.leaf(c, path, file, nil)
		} else if len(rows) != v.Len() {
			m.fault("field %s: must be a list of %d entries", path, v.Len())
		} else {
			for i, row := range rows {
				m.leaf(c, fmt.Sprintf("%s[%d]", path, i), row, v.Index(i).Interface())
			}
		}
		return
	}
	got, _ := number(want)
	if x, ok := number(file); ok {
		c.Add(got, x, func() string { return path })
	} else {
		m.fault("field %s: must be a number or null", path)
	}
}

// number returns a leaf as a number for comparison: null and NaN are +Inf, booleans 0 and 1.
func number(v any) (x float64, ok bool) {
	switch v := v.(type) {
	case nil:
		return math.Inf(1), true
	case float64:
		if math.IsNaN(v) {
			return math.Inf(1), true
		}
		return v, true
	case int:
		return float64(v), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// sums adds an item for distributions, the innermost lists of numbers of a value: each must sum to
// 1.
func (m *matcher) sums(path string, file any) {
	m.item(path, verify.Relative, m.limit, func(c *verify.Comparison) { sum(c, path, file) })
}

func sum(c *verify.Comparison, path string, file any) {
	rows, _ := file.([]any)
	if p := numbersOf(file); p != nil {
		c.Add(1, total(p), func() string { return "sum of " + path })
		return
	}
	for i, row := range rows {
		sum(c, fmt.Sprintf("%s[%d]", path, i), row)
	}
}

// numbersOf returns the numbers of a list; nil if it is not a list of numbers.
func numbersOf(v any) (out []float64) {
	rows, _ := v.([]any)
	for _, row := range rows {
		x, ok := row.(float64)
		if !ok {
			return nil
		}
		out = append(out, x)
	}
	return out
}
