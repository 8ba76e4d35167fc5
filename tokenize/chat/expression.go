package chat

import (
	"fmt"
	"slices"
	"strings"
)

// operators are the binary operators, from the loosest to the tightest.
var operators = [][]string{{"or"}, {"and"}, {"==", "!=", "<", "<=", ">", ">=", "in"}, {"+", "-"}, {"~"}, {"*", "/", "//", "%"}}

// comparing is the level of comparisons, in front of which not may stand.
const comparing = 2

// before are the signs and names after which an operand follows, so that - is its sign.
var before = strings.Fields("+ - ~ * / // % == != < > <= >= = , : in and or not if else is")

// functions are those that templates call by their names.
var functions = strings.Fields("range namespace raise_exception strftime_now")

// value translates an expression.
func value(ts []token) string {
	if len(ts) == 0 || level(ts, ",") < len(ts) {
		refuse("no value, or a list without brackets, is not supported here")
	}
	if i := level(ts, "if"); i < len(ts) {
		test, other := ts[i+1:], ""
		if j := level(test, "else"); j < len(test) {
			test, other = test[:j], " else "+value(test[j+1:])
		}
		return "(" + value(ts[:i]) + " if " + operation(test, 0) + other + ")"
	}
	return operation(ts, 0)
}

// operation translates operations of a level or of tighter ones.
func operation(ts []token, n int) string {
	if n == len(operators) {
		return operand(ts)
	}
	if n == comparing && len(ts) > 0 && ts[0].is("not") {
		return "(not " + operation(ts[1:], n) + ")"
	}
	at := 0
	for i, t := range ts {
		if i > 0 && t.is(operators[n]...) && (!ts[i-1].is(before...) || t.is("in") && ts[i-1].is("not")) {
			if n == comparing && at > 0 {
				refuse("a chain of comparisons is not supported")
			}
			at = i
		}
	}
	if at == 0 {
		return operation(ts, n+1)
	}
	op, left, right := ts[at].text, ts[:at], operation(ts[at+1:], n+1)
	if n < comparing {
		return "(" + operation(left, n) + " " + op + " " + right + ")"
	}
	if op == "in" && ts[at-1].is("not") {
		op, left = "not in", ts[:at-1]
	}
	return fmt.Sprintf("op_(%q, %s, %s)", op, operation(left, n), right)
}

// operand translates a constant, a name or something in brackets, with a sign, members, filters and
// tests.
func operand(ts []token) string {
	sign := ""
	if len(ts) > 0 && ts[0].is("-", "+") {
		sign, ts = ts[0].text, ts[1:]
	}
	x, rest := primary(ts)
	if x, rest = members(x, rest, false); sign != "" {
		x = fmt.Sprintf("op_(%q, 0, %s)", sign, x)
	}
	if x, rest = members(x, rest, true); len(rest) > 0 {
		refuse("%s is not supported here", rest[0].text)
	}
	return x
}

// primary translates the first value of an operand, and returns what follows it.
func primary(ts []token) (string, []token) {
	if len(ts) == 0 {
		refuse("a value is missing")
	}
	t, rest := ts[0], ts[1:]
	switch {
	case t.kind == isText:
		return constant(t.text), rest
	case t.kind < isName:
		return t.text, rest
	case t.is("(", "[", "{"):
		switch {
		case t.text == "{":
			return "{" + list_(t.inner, pair) + " }", rest
		case t.text == "(" && level(t.inner, ",") == len(t.inner):
			return "(" + value(t.inner) + ")", rest
		}
		return "[" + list_(t.inner, value) + "]", rest
	case t.kind != isName || t.is(before...) || t.is("null"):
		refuse("%s is not supported here", t.text)
	case len(rest) > 0 && rest[0].is("("):
		if !slices.Contains(functions, t.text) {
			refuse("calling %s is not supported", t.text)
		}
		return t.text + "(" + list_(rest[0].inner, argument) + ")", rest[1:]
	}
	return t.text, rest
}

// list_ translates what commas separate.
func list_(ts []token, each func([]token) string) string {
	var out []string
	for len(ts) > 0 {
		i := level(ts, ",")
		out = append(out, each(ts[:i]))
		ts = ts[min(i+1, len(ts)):]
	}
	return strings.Join(out, ", ")
}

// pair translates KEY: VALUE.
func pair(ts []token) string {
	i := level(ts, ":")
	return value(ts[:i]) + ": " + value(ts[min(i+1, len(ts)):])
}

// argument translates VALUE or NAME=VALUE.
func argument(ts []token) string {
	if len(ts) > 1 && ts[0].kind == isName && ts[1].is("=") {
		return ts[0].text + "=" + value(ts[2:])
	}
	return value(ts)
}

// members translates what follows a value: its members and calls of its methods and, with filters,
// also filters and tests. It returns what follows these.
func members(x string, ts []token, filter bool) (string, []token) {
	for len(ts) > 0 {
		t := ts[0]
		switch {
		case t.is("["):
			if level(t.inner, ":") == len(t.inner) {
				x = "at_(" + x + ", " + value(t.inner) + ")"
			} else {
				x = "at_(" + x + ")[" + bounds(t.inner) + "]"
			}
			ts = ts[1:]
			continue
		case !t.is(".") && !(filter && t.is("|", "is")):
			return x, ts
		}
		not := t.is("is") && len(ts) > 1 && ts[1].is("not")
		if not {
			ts = ts[1:]
		}
		name, args, rest := called(ts)
		switch {
		case t.is("|") && (filters[name] == nil || len(rest) > 0 && rest[0].is(".", "[")):
			refuse("the filter %s, or a member of its result, is not supported", name)
		case t.is("|"):
			x = "f_" + name + "(" + list_(with(x, args), argument) + ")"
		case t.is("is") && (tests[name] == nil || len(rest) > 0 && !rest[0].is("|", "is")):
			refuse("the test %s, or its value without brackets, is not supported", name)
		case t.is("is"):
			x = fmt.Sprintf("is_(%t, %q, %s)", !not, name, list_(with(x, args), value))
		case args == nil && ts[1].kind == isInt:
			x = "at_(" + x + ", " + name + ")"
		case args == nil:
			x = fmt.Sprintf("at_(%s, %q)", x, name)
		case name == "cycle" && x == "loop":
			x = "loop.cycle(" + list_(args, value) + ")"
		case methods[name] == nil:
			refuse("the method %s is not supported", name)
		default:
			x = "m_" + name + "(" + list_(with(x, args), argument) + ")"
		}
		ts = rest
	}
	return x, ts
}

// with returns arguments after a translated value.
func with(x string, args []token) []token {
	return slices.Concat([]token{{kind: isName, text: x}, {kind: isSign, text: ","}}, args)
}

// called returns the name or number after a sign, the tokens in the brackets after it, nil if there
// are none, and what follows.
func called(ts []token) (name string, args, rest []token) {
	if len(ts) < 2 || ts[1].kind != isName && ts[1].kind != isInt {
		refuse("a name is missing after %s", ts[0].text)
	}
	name, rest = ts[1].text, ts[2:]
	if len(rest) > 0 && rest[0].is("(") {
		return name, rest[0].inner, rest[1:]
	}
	return name, nil, rest
}

// bounds translates FROM:TO:STEP.
func bounds(ts []token) string {
	i, from := level(ts, ":"), ""
	if i > 0 {
		from = value(ts[:i])
	}
	if i == len(ts) {
		return from
	}
	return from + ":" + bounds(ts[i+1:])
}
