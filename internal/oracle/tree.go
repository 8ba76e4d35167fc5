package oracle

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/verify"
)

// The recomputed values of a file are a tree of its shape. Leaves are float64, int,
// bool, or nested lists of float64 or int, each of which is one item; where a value is
// infinite or NaN, and where a list is nil, the file must have null.
type (
	object map[string]any
	list   []any
	// given stands for values from which others are computed, or which the caller
	// checks apart; exempt for what is not to be recomputed.
	given  struct{}
	exempt struct{}
)

// rounded is a number to which rounding alone makes a known difference, where the
// file's formula cancels or takes a root near 0; the limit is wider by that much.
type rounded struct{ value, slack float64 }

// loose widens the limit of everything below it by a factor.
type loose struct {
	value  any
	factor float64
}

// matcher compares a file with a tree and gathers items in the file's order.
type matcher struct {
	limit float64
	// wider gives the fields, by name, whose limit is larger by a factor.
	wider map[string]float64
	items []verify.Item
	// notOffered is [Report.NotOffered].
	notOffered int
}

// match compares a value of the file. Every number of the file must have its
// counterpart, and every counterpart its number: an error names the field.
func (m *matcher) match(path string, file *node, want any) error {
	switch want := want.(type) {
	case exempt, given:
		return nil
	case loose:
		limit := m.limit
		defer func() { m.limit = limit }()
		m.limit *= want.factor
		return m.match(path, file, want.value)
	case object:
		return m.object(path, file, want)
	case list:
		if !file.isList() {
			return fmt.Errorf("field %s: must be a list", path)
		}
		if len(file.list) != len(want) {
			return fmt.Errorf("field %s: %d entries: must have %d", path, len(file.list), len(want))
		}
		for i := range want {
			if err := m.match(fmt.Sprintf("%s[%d]", path, i), file.list[i], want[i]); err != nil {
				return err
			}
		}
		return nil
	}
	measure, limit := verify.Relative, m.limit
	if f, ok := m.wider[path[strings.LastIndexByte(path, '.')+1:]]; ok {
		limit *= f
	}
	if whole(want) {
		measure, limit = verify.Absolute, 0
	}
	if n, ok := want.(int); ok && n > longCount {
		limit = 1
	}
	if r, ok := want.(rounded); ok {
		want, limit = r.value, limit+r.slack/max(1, math.Abs(r.value))
	}
	return m.item(path, measure, limit, func(c *verify.Comparison) error { return nested(c, path, file, want) })
}

// item makes an item of what compare adds.
func (m *matcher) item(path string, measure verify.Measure, limit float64, compare func(*verify.Comparison) error) error {
	c := verify.NewComparison(path, measure, limit)
	if err := compare(c); err != nil {
		return err
	}
	item, err := c.Finish()
	if err != nil {
		return err
	}
	m.items = append(m.items, item)
	return nil
}

func (m *matcher) object(path string, file *node, want object) error {
	if !file.isObject() {
		return fmt.Errorf("field %s: must be an object", path)
	}
	prefix := path
	if prefix != "" {
		prefix += "."
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, free := want[name].(exempt); !free && file.fields[name] == nil {
			return fmt.Errorf("field %s%s is missing", prefix, name)
		}
	}
	for _, name := range file.names {
		w, known := want[name]
		switch {
		case known:
			if err := m.match(prefix+name, file.fields[name], w); err != nil {
				return err
			}
		case file.fields[name].numeric():
			return fmt.Errorf("field %s%.60s is not known: nothing recomputes it", prefix, name)
		}
	}
	return nil
}

// whole says whether a leaf is of whole numbers or truth values, which must agree
// exactly.
func whole(want any) bool {
	switch want.(type) {
	case int, bool, []int:
		return true
	}
	return false
}

// nested compares a leaf or a nested list of leaves.
func nested(c *verify.Comparison, path string, file *node, want any) error {
	var n int
	var at func(int) any
	here := func() string { return path }
	switch want := want.(type) {
	case float64:
		return number(c, here, file, want)
	case int:
		return number(c, here, file, float64(want))
	case bool:
		b, ok := file.value.(bool)
		if !ok {
			return fmt.Errorf("field %s: must be true or false", path)
		}
		c.Add(truth(want), truth(b), here)
		return nil
	case nil:
		return number(c, here, file, math.Inf(1))
	case []float64:
		n, at = len(want), func(i int) any { return want[i] }
		if want == nil {
			return nested(c, path, file, nil)
		}
	case []int:
		n, at = len(want), func(i int) any { return want[i] }
	case [][]float64:
		n, at = len(want), func(i int) any { return want[i] }
	case [][][]float64:
		n, at = len(want), func(i int) any { return want[i] }
	default:
		panic(fmt.Sprintf("oracle: %s: a leaf of type %T", path, want))
	}
	if !file.isList() || len(file.list) != n {
		return fmt.Errorf("field %s: must be a list of %d entries", path, n)
	}
	for i := range n {
		// Most values are right, so that a path is made only where it is needed.
		name := func() string { return fmt.Sprintf("%s[%d]", path, i) }
		var err error
		switch x := at(i).(type) {
		case float64:
			err = number(c, name, file.list[i], x)
		case int:
			err = number(c, name, file.list[i], float64(x))
		default:
			err = nested(c, name(), file.list[i], x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func number(c *verify.Comparison, path func() string, file *node, got float64) error {
	want, ok := file.number()
	if !ok {
		return fmt.Errorf("field %s: must be a number or null", path())
	}
	if math.IsNaN(got) {
		got = math.Inf(1)
	}
	c.Add(got, want, path)
	return nil
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sums makes an item of distributions: each must sum to 1. rows are the innermost
// lists of numbers of the node.
func (m *matcher) sums(path string, file *node) error {
	return m.item(path, verify.Relative, m.limit, func(c *verify.Comparison) error { return sum(c, path, file) })
}

func sum(c *verify.Comparison, path string, file *node) error {
	if file.value == nil {
		return nil
	}
	if !file.isList() || len(file.list) == 0 {
		return fmt.Errorf("field %s: must be a list of probabilities", path)
	}
	total, numbers := 0.0, false
	for i, item := range file.list {
		if x, ok := item.value.(float64); ok {
			total, numbers = total+x, true
			continue
		}
		if numbers {
			return fmt.Errorf("field %s[%d]: must be a number", path, i)
		}
		if err := sum(c, fmt.Sprintf("%s[%d]", path, i), item); err != nil {
			return err
		}
	}
	if numbers {
		c.Add(1, total, func() string { return "sum of " + path })
	}
	return nil
}
