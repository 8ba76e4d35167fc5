package chat

import (
	"fmt"
	"slices"
	"strings"
)

// statement translates a statement.
func (t *translator) statement(tokens []token) {
	if len(tokens) == 0 || tokens[0].kind != isName {
		refuse("a statement has no name")
	}
	name, rest := tokens[0].text, tokens[1:]
	switch name {
	case "if":
		t.open = append(t.open, block{name: name})
		t.out += "{% if check_(" + operation(rest, 0) + ") %}"
	case "for":
		t.loop(rest)
	case "set":
		t.set(rest)
	case "elif":
		t.top("if")
		t.out += "{% elif check_(" + operation(rest, 0) + ") %}"
	case "else":
		t.top("if", "for")
		t.out += "{% else %}"
	case "endif", "endset", "endgeneration":
		t.top(name[3:])
		if t.open = t.open[:len(t.open)-1]; name != "endgeneration" {
			t.out += "{% " + name + " %}"
		}
	case "endfor":
		t.endLoop()
	case "break", "continue":
		if t.around("for") == nil || t.around("generation") != nil {
			refuse("%s outside a loop or in generation is not supported", name)
		}
		t.out += "{% " + name + " %}"
	case "generation": // It marks answers, and has no effect on them.
		t.open = append(t.open, block{name: name})
	case "raw":
		refuse("raw does not end")
	default:
		refuse("the statement %s is not supported", name)
	}
	if len(rest) > 0 && !slices.Contains([]string{"if", "for", "set", "elif"}, name) {
		refuse("%s after %s is not supported", rest[0].text, name)
	}
}

// top requires that the innermost statement is one of the named.
func (t *translator) top(names ...string) {
	if n := len(t.open); n == 0 || !slices.Contains(names, t.open[n-1].name) {
		refuse("%s does not begin", names[0])
	}
}

// around returns the innermost statement of a name, nil for none.
func (t *translator) around(name string) *block {
	for i := range slices.Backward(t.open) {
		if t.open[i].name == name {
			return &t.open[i]
		}
	}
	return nil
}

// loop translates for TARGETS in ITEMS [if TEST].
func (t *translator) loop(ts []token) {
	in := level(ts, "in")
	targets := names(ts[:in])
	items, test := ts[min(in+1, len(ts)):], ""
	if i := level(items, "if"); i < len(items) {
		if len(targets) > 1 {
			refuse("a loop with several variables and a test is not supported")
		}
		items, test = items[:i], " if check_("+value(items[i+1:])+")"
	}
	if n := len(items); len(targets) > 2 || slices.Contains(targets, "loop") || n > 0 && items[n-1].is("recursive") {
		refuse("a recursive loop, or one with more than two variables, is not supported")
	}
	t.open = append(t.open, block{name: "for", suffix: fmt.Sprintf("_%d_", len(t.out)), at: len(t.out)})
	t.out += fmt.Sprintf("{%% for %s in items_(%s, %d)%s %%}", strings.Join(targets, ", "), value(items), len(targets), test)
	t.open[len(t.open)-1].body = len(t.out)
}

// endLoop ends a loop. In jinja2 each round has its own variables; the engine has one scope for all.
func (t *translator) endLoop() {
	t.top("for")
	b := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	var save, restore string
	for _, name := range b.sets {
		save += fmt.Sprintf("{%% set %s%s = %[1]s %%}", name, b.suffix)
		restore += fmt.Sprintf("{%% set %s = %[1]s%s %%}", name, b.suffix)
	}
	t.out = t.out[:b.at] + save + t.out[b.at:b.body] + restore + t.out[b.body:] + "{% endfor %}"
}

// set translates set TARGETS = VALUE, set NAMESPACE.NAME = VALUE, and the beginning of set NAME.
func (t *translator) set(ts []token) {
	if t.around("set") != nil || t.around("generation") != nil {
		refuse("a set in a set block or in generation is not supported")
	}
	at := level(ts, "=")
	if i := level(ts[:at], "."); i == 1 && at == 3 {
		t.out += fmt.Sprintf("{%% set %s.%s = keep_(%s) %%}", ts[0].text, ts[2].text, value(ts[at+1:]))
		return
	}
	targets := names(ts[:at])
	if b := t.around("for"); b != nil {
		for _, name := range targets {
			if !slices.Contains(b.sets, name) {
				b.sets = append(b.sets, name)
			}
		}
	}
	if at == len(ts) && len(targets) == 1 {
		t.open = append(t.open, block{name: "set"})
		t.out += "{% set " + targets[0] + " %}"
		return
	}
	if at == len(ts) {
		refuse("a set without a value is not supported")
	}
	of := ts[at+1:]
	if level(of, ",") < len(of) {
		of = []token{{isSign, "[", of}}
	}
	if len(targets) == 1 {
		t.out += fmt.Sprintf("{%% set %s = keep_(%s) %%}", targets[0], value(of))
		return
	}
	t.out += fmt.Sprintf("{%% set all_ = items_([%s], %d)[0] %%}", value(of), len(targets))
	for i, name := range targets {
		t.out += fmt.Sprintf("{%% set %s = all_[%d] %%}", name, i)
	}
}

// names returns the names in a list with commas.
func names(ts []token) (out []string) {
	for i, t := range ts {
		if i%2 == 0 && t.kind != isName || i%2 == 1 && !t.is(",") {
			refuse("%s is not a variable", t.text)
		}
		if i%2 == 0 {
			out = append(out, t.text)
		}
	}
	if out == nil {
		refuse("a variable is missing")
	}
	return out
}

// level returns the index of the first of some names or signs, else the number of tokens.
func level(ts []token, of ...string) int {
	if i := slices.IndexFunc(ts, func(t token) bool { return t.is(of...) }); i >= 0 {
		return i
	}
	return len(ts)
}
