package chat

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// function is a function that templates call: a filter or method has its value as the first argument.
type function func(r *run, a args) jinja.Value

// args are the arguments of a call.
type args struct {
	list  []jinja.Value
	named map[string]jinja.Value
}

// take returns the arguments of parameters, undefined for those that are not given.
func (a args) take(names ...string) []jinja.Value {
	out := make([]jinja.Value, len(names))
	given := copy(out, a.list)
	for name, v := range a.named {
		i := slices.Index(names, name)
		if i < given {
			refuse("the argument %s is not supported", name)
		}
		out[i] = v
	}
	if given < len(a.list) {
		refuse("a call has %d arguments too many", len(a.list)-given)
	}
	return out
}

// asText requires a text.
func asText(v jinja.Value) string {
	if !v.IsString() {
		refuse("%.40s is given instead of a text", v)
	}
	return v.AsString()
}

// whole returns a whole number or a truth value as a number.
func whole(v jinja.Value) (int, bool) {
	return int(number64(v)), v.IsInt() || v.IsBool()
}

// number64 returns a number as a float, NaN for other values.
func number64(v jinja.Value) float64 {
	switch {
	case v.IsInt():
		return float64(v.AsInt())
	case v.IsFloat():
		return v.AsFloat()
	case v.IsBool() && v.AsBool():
		return 1
	case v.IsBool():
		return 0
	}
	return math.NaN()
}

func raise(_ *run, a args) jinja.Value {
	refuse("it says %.200q", show(a.take("message")[0]))
	return jinja.None()
}

// dates maps directives of strftime to package time's layouts.
var dates = strings.NewReplacer("%Y", "2006", "%y", "06", "%m", "01", "%d", "02", "%B", "January", "%b", "Jan", "%A", "Monday", "%a", "Mon", "%H", "15", "%I", "03", "%M", "04", "%S", "05", "%p", "PM")

func clock(_ *run, a args) jinja.Value {
	layout := dates.Replace(asText(a.take("")[0]))
	if strings.Contains(layout, "%") {
		refuse("strftime_now with %q is not supported", layout)
	}
	return jinja.NewString(time.Now().Format(layout))
}

func numbers(_ *run, a args) jinja.Value {
	n, list := [3]int{0, 0, 1}, []jinja.Value{}
	for i, v := range a.list {
		x, ok := whole(v)
		if !ok || len(a.list) > 3 {
			refuse("range takes up to three whole numbers")
		}
		n[i] = x
	}
	if len(a.list) < 2 {
		n[0], n[1] = 0, n[0]
	}
	for i := n[0]; n[2] > 0 && i < n[1] || n[2] < 0 && i > n[1]; i += n[2] {
		if len(list) == maxRange {
			refuse("range has more than %d numbers", maxRange)
		}
		list = append(list, jinja.NewInt(int64(i)))
	}
	return jinja.NewList(list)
}

// op applies an operator, which is between the operands.
func op(r *run, a args) jinja.Value {
	sign, x, y := a.list[0].AsString(), a.list[1], a.list[2]
	switch {
	case sign == "==" || sign == "!=":
		return jinja.NewBool(equal(x, y) == (sign == "=="))
	case sign == "in" || sign == "not in":
		return jinja.NewBool(tests["in"](x, y) == (sign == "in"))
	case strings.Contains("<=>=", sign):
		return jinja.NewBool(ordered(sign, x, y))
	case sign == "~":
		return jinja.NewString(show(x) + show(y))
	case sign == "+" && x.IsString() && y.IsString():
		return jinja.NewString(x.AsString() + y.AsString())
	case sign == "+" && x.IsList() && y.IsList():
		return jinja.NewList(slices.Concat(x.AsList().Items, y.AsList().Items))
	}
	m, ok := whole(x)
	n, also := whole(y)
	if sign == "*" && x.IsString() && also {
		if n = max(n, 0); n > r.most || n*len(x.AsString()) > r.most {
			refuse("it writes more than %d bytes", r.most)
		}
		return jinja.NewString(strings.Repeat(x.AsString(), n))
	}
	f, g := number64(x), number64(y)
	switch {
	case math.IsNaN(f) || math.IsNaN(g) || max(math.Abs(f), math.Abs(g)) > 1<<31:
		refuse("%s of such values is not supported", sign)
	case strings.Contains("+-*", sign):
		total := map[string]float64{"+": f + g, "-": f - g, "*": f * g}[sign]
		if ok && also {
			return jinja.NewInt(int64(total))
		}
		return jinja.NewFloat(total)
	case g == 0:
		refuse("%s by zero", sign)
	case sign == "/":
		return jinja.NewFloat(f / g)
	case !ok || !also:
		refuse("%s of a number with a fraction is not supported", sign)
	case sign == "%":
		return jinja.NewInt(int64((m%n + n) % n))
	}
	return jinja.NewInt(int64(math.Floor(f / g)))
}

// at returns a member of a value, or for no key the value.
func at(_ *run, a args) jinja.Value {
	v := a.list[0]
	if v.IsUndefined() {
		refuse("a member of what is not defined is an error")
	}
	if len(a.list) == 1 {
		return v
	}
	k := a.list[1]
	if v.IsDict() {
		return attribute(v, asText(k))
	}
	i, ok := whole(k)
	all := []jinja.Value(nil)
	if v.IsList() || v.IsString() {
		all = list(v)
	}
	if i < 0 {
		i += len(all)
	}
	if !ok || i < 0 || i >= len(all) {
		return jinja.Undefined()
	}
	return all[i]
}

// ordered reports whether a comparison of two numbers or texts holds.
func ordered(sign string, x, y jinja.Value) bool {
	var order int
	if a, b := number64(x), number64(y); !math.IsNaN(a) && !math.IsNaN(b) {
		order = cmp.Compare(a, b)
	} else {
		order = cmp.Compare(asText(x), asText(y))
	}
	return sign[0] == '<' && order < 0 || sign[0] == '>' && order > 0 || len(sign) == 2 && order == 0
}

// is applies a test: is_(wanted, name, VALUE, arguments).
func is(_ *run, a args) jinja.Value {
	test, rest := tests[a.list[1].AsString()], a.list[3:]
	y := jinja.Undefined()
	if len(rest) > 0 {
		y = rest[0]
	}
	if len(rest) > 1 {
		refuse("a test has %d values", len(rest))
	}
	return jinja.NewBool(test(a.list[2], y) == a.list[0].AsBool())
}

// tests are the tests that templates may use, with the value in brackets, if any.
var tests = map[string]func(x, y jinja.Value) bool{
	"defined":   func(x, _ jinja.Value) bool { return !x.IsUndefined() },
	"undefined": func(x, _ jinja.Value) bool { return x.IsUndefined() },
	"none":      func(x, _ jinja.Value) bool { return x.IsNone() },
	"boolean":   func(x, _ jinja.Value) bool { return x.IsBool() },
	"integer":   func(x, _ jinja.Value) bool { return x.IsInt() },
	"float":     func(x, _ jinja.Value) bool { return x.IsFloat() },
	"number":    func(x, _ jinja.Value) bool { return x.IsNumber() || x.IsBool() },
	"string":    func(x, _ jinja.Value) bool { return x.IsString() },
	"mapping":   func(x, _ jinja.Value) bool { return x.IsDict() },
	"iterable":  func(x, _ jinja.Value) bool { return x.IsString() || x.IsList() || x.IsDict() || x.IsUndefined() },
	"sequence":  func(x, _ jinja.Value) bool { return x.IsString() || x.IsList() || x.IsDict() || x.IsUndefined() },
	"true":      func(x, _ jinja.Value) bool { return x.IsBool() && x.AsBool() },
	"false":     func(x, _ jinja.Value) bool { return x.IsBool() && !x.AsBool() },
	"odd":       func(x, _ jinja.Value) bool { return math.Abs(math.Mod(number64(x), 2)) == 1 },
	"even":      func(x, _ jinja.Value) bool { return math.Mod(number64(x), 2) == 0 },
	"eq":        equal, "equalto": equal, "sameas": equal,
	"ne": func(x, y jinja.Value) bool { return !equal(x, y) },
	"in": func(x, y jinja.Value) bool {
		if y.IsString() {
			return strings.Contains(y.AsString(), asText(x))
		}
		return slices.ContainsFunc(list(y), func(v jinja.Value) bool { return equal(v, x) })
	},
}

func equal(x, y jinja.Value) bool {
	if a, b := number64(x), number64(y); !math.IsNaN(a) && !math.IsNaN(b) {
		return a == b
	}
	return x.Equals(y)
}
