package match

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// Choices returns a pattern that matches each of texts.
func Choices(texts []string) string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = regexp.QuoteMeta(text)
	}
	return "(?:" + strings.Join(out, "|") + ")"
}

// The parts of a grammar: the beginning of a rule, the elements of its body, and blanks with
// comments.
var (
	ruleBegin = regexp.MustCompile(`(?m)^[ \t]*([A-Za-z][\w-]*)[ \t]*::=`)
	rulePart  = regexp.MustCompile(`^(?:"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)+\]|[A-Za-z][\w-]*|[()|*+?.]|\{\d+(?:,\d*)?\}|\s+|#.*)`)
	comments  = regexp.MustCompile(`^(?:\s|#.*)*$`)
)

// maxPattern bounds the pattern compiled from a grammar or a schema, in bytes.
const maxPattern = 1 << 20

// Grammar returns the pattern of the rule root of a grammar in GBNF: NAME ::= "text" [class] OTHER (
// … | … ) with * + ? {m,n} and # comments. It rejects recursive rules, so every grammar is regular.
func Grammar(text string) (string, error) {
	rules := make(map[string]string)
	begins := ruleBegin.FindAllStringSubmatchIndex(text, -1)
	if len(begins) > 0 && !comments.MatchString(text[:begins[0][0]]) {
		return "", fault.Errorf("match", "grammar: %.20q precedes the first rule: begin with NAME ::=", strings.TrimSpace(text[:begins[0][0]]))
	}
	for i, b := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		name := text[b[2]:b[3]]
		if _, again := rules[name]; again {
			return "", fault.Errorf("match", "grammar: rule %q is defined twice", name)
		}
		rules[name] = text[b[1]:end]
	}
	known := make(map[string]string) // "" for a rule that is being expanded
	var expand func(name string) (string, error)
	expand = func(name string) (string, error) {
		body, ok := rules[name]
		pattern, again := known[name]
		switch {
		case !ok:
			return "", fault.Errorf("match", "grammar: no rule %q: there are %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(rules)), ", "), "none"))
		case again && pattern == "":
			return "", fault.Errorf("match", "grammar: rule %q is recursive: only regular grammars are supported; write repeats with *, + or {m,n}", name)
		case again:
			return pattern, nil
		}
		known[name] = ""
		var out strings.Builder
		for rest := body; rest != ""; {
			part := rulePart.FindString(rest)
			if part == "" {
				return "", fault.Errorf("match", "grammar: rule %q: unexpected %.20q", name, rest)
			}
			rest = rest[len(part):]
			switch c := part[0]; {
			case c == '"':
				literal, err := strconv.Unquote(part)
				if err != nil {
					return "", fault.Errorf("match", "grammar: rule %q: %.40s: write a string with Go's escapes", name, part)
				}
				out.WriteString("(?:" + regexp.QuoteMeta(literal) + ")")
			case c == '(':
				out.WriteString("(?:")
			case strings.ContainsRune("[)|*+?.{", rune(c)):
				out.WriteString(part)
			case strings.ContainsRune(" \t\r\n#", rune(c)):
			default:
				inner, err := expand(part)
				if err != nil {
					return "", err
				}
				out.WriteString(inner)
			}
			if out.Len() > maxPattern {
				return "", fault.Errorf("match", "grammar: its pattern has more than %d bytes: make it smaller", maxPattern)
			}
		}
		known[name] = "(?:" + out.String() + ")"
		return known[name], nil
	}
	return expand("root")
}
