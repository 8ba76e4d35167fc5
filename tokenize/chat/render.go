package chat

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"

	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
)

// Limits of a run: parts of a tag, time, bytes of output and of a kept value in addition to the
// contents, bytes of all kept values in relation to these, and numbers of a range.
const (
	maxParts = 256
	maxTime  = time.Second
	maxBytes = 64 << 10
	maxKept  = 64
	maxRange = 1000
)

// run is one rendering, with its limits. The engine cannot be interrupted, but whatever a template
// prints, keeps, tests or walks through passes a function of the run, and what it computes in between
// is bounded by the parts of a tag and by the size of kept values.
type run struct {
	most    int
	until   time.Time
	written int
	kept    int
}

// compile translates the template for the engine.
func (t *Template) compile() error {
	source, err := translate(t.source)
	if err == nil {
		t.program, err = jinja.Compile(source)
	}
	if err != nil {
		return t.fails(err)
	}
	return nil
}

func (t *Template) fails(err error) error {
	return fault.Errorf("chat", "%s: the template fails: %s", t.file, printable.String(strings.Join(strings.Fields(err.Error()), " ")))
}

// word matches a text that a variable may have. A special token is none.
var word = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,64}$`)

// variable returns the value of a variable that a request sets.
func variable(value any) (v jinja.Value, ok bool) {
	switch x := value.(type) {
	case bool:
		return jinja.NewBool(x), true
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return jinja.NewInt(int64(x)), true
		}
		return jinja.NewFloat(x), true
	case string:
		return jinja.NewString(x), word.MatchString(x)
	}
	return v, false
}

// Check returns an error for a variable that the template does not have, or that may not be set.
func (t *Template) Check(kwargs map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(kwargs)) {
		_, token := t.tokens[name]
		if token || slices.Contains([]string{"messages", "add_generation_prompt", "tools", "documents"}, name) || !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(t.source) {
			return fmt.Errorf("%s has no variable %.40q that may be set", t.file, name)
		}
		if _, ok := variable(kwargs[name]); !ok {
			return fmt.Errorf("%.40q must be true, false, a number, or a word of at most 64 letters", name)
		}
	}
	return nil
}

// render runs the template. kwargs are the variables that a request sets.
func (t *Template) render(messages []Message, kwargs map[string]any) (text string, err error) {
	r := &run{most: maxBytes, until: time.Now().Add(maxTime)}
	list := make([]jinja.Value, len(messages))
	for i, m := range messages {
		list[i] = jinja.NewDict()
		list[i].AsDict().Set("role", jinja.NewString(m.Role))
		list[i].AsDict().Set("content", jinja.NewString(m.Content))
		r.most += 4 * len(m.Content)
	}
	vars := make(map[string]jinja.Value)
	for name, value := range kwargs {
		vars[name], _ = variable(value) // Check was called.
	}
	vars["messages"], vars["add_generation_prompt"], vars["tools"], vars["documents"] = jinja.NewList(list), jinja.NewBool(true), jinja.None(), jinja.None()
	for name, token := range t.tokens {
		vars[name] = jinja.NewString(token)
	}
	add := func(name string, f function) {
		vars[name] = jinja.NewCallable(name, func(list []jinja.Value, named map[string]jinja.Value) (out jinja.Value, err error) {
			if err := r.check(0); err != nil {
				return out, err
			}
			defer caught(&err)
			out = f(r, args{list, named})
			return out, r.check(size(out, r.most))
		})
	}
	for name, f := range map[string]function{"print_": (*run).print, "keep_": (*run).keep, "check_": (*run).test, "items_": items, "at_": at, "is_": is, "op_": op, "range": numbers, "raise_exception": raise, "strftime_now": clock} {
		add(name, f)
	}
	for name, f := range filters {
		add("f_"+name, f)
	}
	for name, f := range methods {
		add("m_"+name, func(r *run, a args) jinja.Value {
			if v := a.list[0]; !v.IsString() && !v.IsDict() {
				refuse("%s of such a value is not supported", name)
			}
			return f(r, a)
		})
	}
	if text, err = t.program.RenderValues(vars); err != nil {
		return "", t.fails(err)
	}
	return text, nil
}

// check returns an error if the time is over, or if bytes is above the limit.
func (r *run) check(bytes int) error {
	switch {
	case time.Now().After(r.until):
		return fmt.Errorf("it takes longer than %v", maxTime)
	case bytes > r.most:
		return fmt.Errorf("it writes more than %d bytes", r.most)
	}
	return nil
}

// size returns the approximate size of a value in bytes; most ends the count. Lists that hold a list
// several times count it as often.
func size(v jinja.Value, most int) int {
	n := 8
	switch {
	case n > most:
	case v.IsString():
		n += len(v.AsString())
	case v.IsList():
		for _, x := range v.AsList().Items {
			n += size(x, most-n)
		}
	case v.IsDict():
		for k, x := range v.AsDict().Data {
			n += len(k) + size(x, most-n)
		}
	}
	return n
}

// print returns what {{ VALUE }} prints.
func (r *run) print(a args) jinja.Value {
	s := show(a.list[0])
	r.written += len(s)
	if err := r.check(r.written); err != nil {
		refuse("%w", err)
	}
	return jinja.NewString(s)
}

// keep returns a value that a variable gets, and bounds what all variables got.
func (r *run) keep(a args) jinja.Value {
	n := size(a.list[0], r.most)
	if r.kept += n; n > r.most || r.kept > maxKept*r.most {
		refuse("its values have more than %d bytes", r.most)
	}
	return a.list[0]
}

// test returns the value of a condition.
func (r *run) test(a args) jinja.Value { return a.list[0] }

// show returns a value as text.
func show(v jinja.Value) string {
	switch {
	case v.IsUndefined():
		return ""
	case v.IsString():
		return v.AsString()
	case v.IsNone(), v.IsBool(), v.IsInt():
		return v.String()
	case v.IsFloat():
		x := v.AsFloat()
		if e := math.Abs(x); x != 0 && (e < 1e-4 || e >= 1e16) || math.IsNaN(x) {
			refuse("printing %v is not supported", x)
		}
		return decimal(x)
	}
	refuse("printing a list, an object or a function is not supported")
	return ""
}

// items returns the items of a value; each must have n items itself, if n is above 1.
func items(_ *run, a args) jinja.Value {
	list := list(a.list[0])
	if n := int(a.list[1].AsInt()); n > 1 && slices.ContainsFunc(list, func(v jinja.Value) bool { return !v.IsList() || v.AsList().Len() != n }) {
		refuse("a loop or set has %d names for other numbers of values", n)
	}
	return jinja.NewList(list)
}

// list returns the items of a value.
func list(v jinja.Value) (out []jinja.Value) {
	switch {
	case v.IsList():
		return v.AsList().Items
	case v.IsUndefined():
		return nil
	case v.IsDict():
		for _, k := range v.AsDict().Keys {
			out = append(out, jinja.NewString(k))
		}
	case v.IsString():
		for _, r := range v.AsString() {
			out = append(out, jinja.NewString(string(r)))
		}
	default:
		refuse("%s has no items", v)
	}
	return out
}
