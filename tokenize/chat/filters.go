package chat

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

func upper(s string) string { return cases.Upper(language.Und).String(s) }
func lower(s string) string { return cases.Lower(language.Und).String(s) }

func capitalized(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return cases.Title(language.Und, cases.NoLower).String(s[:n]) + lower(s[n:])
}

// titled matches what the filter title takes for a word.
var titled = regexp.MustCompile(`[^-\s({\[<]+`)

func title(s string) string { return titled.ReplaceAllStringFunc(s, capitalized) }

// changes returns the function of a change of a text.
func changes(f func(string) string) function {
	return func(_ *run, a args) jinja.Value { return jinja.NewString(f(show(a.take("")[0]))) }
}

// strip returns the function that trims blanks or given characters from a text.
func strip(trim func(string, func(rune) bool) string) function {
	return func(_ *run, a args) jinja.Value {
		p := a.take("", "chars")
		s, in := show(p[0]), isSpace
		if set := p[1]; !set.IsUndefined() && !set.IsNone() {
			in = func(r rune) bool { return strings.ContainsRune(asText(set), r) }
		}
		return jinja.NewString(trim(s, in))
	}
}

// limit returns a count of splits or replacements, -1 for none.
func limit(v jinja.Value) int {
	n, ok := whole(v)
	if v.IsUndefined() || v.IsNone() {
		return -1
	} else if !ok {
		refuse("a count is %s", v)
	}
	return max(n, -1)
}

func split(_ *run, a args) jinja.Value {
	p := a.take("", "sep", "maxsplit")
	s, most := asText(p[0]), limit(p[2])
	var parts []string
	if p[1].IsUndefined() || p[1].IsNone() {
		if parts = strings.FieldsFunc(s, isSpace); most >= 0 && most < len(parts) {
			refuse("a number of splits at blanks is not supported")
		}
	} else if parts = strings.SplitN(s, asText(p[1]), most+min(1, most+1)); p[1].AsString() == "" {
		refuse("splitting at nothing is an error")
	}
	return textList(parts)
}

func textList(parts []string) jinja.Value {
	out := make([]jinja.Value, len(parts))
	for i, s := range parts {
		out[i] = jinja.NewString(s)
	}
	return jinja.NewList(out)
}

// affix returns the function of a test of a text and a prefix or suffix, or one of several.
func affix(has func(s, affix string) bool) function {
	return func(_ *run, a args) jinja.Value {
		p := a.take("", "")
		all := []jinja.Value{p[1]}
		if p[1].IsList() {
			all = p[1].AsList().Items
		}
		return jinja.NewBool(slices.ContainsFunc(all, func(v jinja.Value) bool { return has(asText(p[0]), asText(v)) }))
	}
}

func replace(r *run, a args) jinja.Value {
	p := a.take("", "old", "new", "count")
	s, old, by := show(p[0]), asText(p[1]), asText(p[2])
	if n := strings.Count(s, old); old == "" || len(s)+n*len(by) > r.most {
		refuse("replacing nothing, or writing more than %d bytes, is not supported", r.most)
	}
	return jinja.NewString(strings.Replace(s, old, by, limit(p[3])))
}

// join joins the items of a list.
func join(r *run, items []jinja.Value, sep string) jinja.Value {
	all, n := make([]string, len(items)), 0
	for i, v := range items {
		all[i] = show(v)
		if n += len(all[i]) + len(sep); n > 2*r.most {
			refuse("it writes more than %d bytes", r.most)
		}
	}
	return jinja.NewString(strings.Join(all, sep))
}

// asObject requires an object.
func asObject(v jinja.Value) *jinja.Dict {
	if !v.IsDict() {
		refuse("%.40s is given instead of an object", v)
	}
	return v.AsDict()
}

func pairs(_ *run, a args) jinja.Value {
	d := asObject(a.take("")[0])
	out := make([]jinja.Value, len(d.Keys))
	for i, k := range d.Keys {
		out[i] = jinja.NewList([]jinja.Value{jinja.NewString(k), d.Data[k]})
	}
	return jinja.NewList(out)
}

// methods are those of texts and objects.
var methods = map[string]function{
	"strip": strip(strings.TrimFunc), "lstrip": strip(strings.TrimLeftFunc), "rstrip": strip(strings.TrimRightFunc), "split": split, "replace": replace,
	"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix), "upper": changes(upper), "lower": changes(lower), "capitalize": changes(capitalized),
	"join": func(r *run, a args) jinja.Value {
		p := a.take("", "")
		return join(r, list(p[1]), asText(p[0]))
	},
	"items": pairs,
	"keys":  func(_ *run, a args) jinja.Value { return textList(asObject(a.take("")[0]).Keys) },
	"values": func(r *run, a args) jinja.Value {
		out := pairs(r, a)
		for i, v := range out.AsList().Items {
			out.AsList().Items[i] = v.AsList().Items[1]
		}
		return out
	},
	"get": func(_ *run, a args) jinja.Value {
		p := a.take("", "", "default")
		if v, ok := asObject(p[0]).Get(asText(p[1])); ok {
			return v
		}
		return cmp.Or(p[2], jinja.None())
	},
}

// filters are the filters that templates may use.
var filters map[string]function

func init() { // map calls filters.
	filters = map[string]function{
		"trim": strip(strings.TrimFunc), "upper": changes(upper), "lower": changes(lower), "capitalize": changes(capitalized), "title": changes(title), "replace": replace, "items": pairs,
		"string": changes(func(s string) string { return s }), "safe": changes(func(s string) string { return s }),
		"length": length, "count": length, "default": standard, "d": standard, "tojson": encode,
		"first": func(_ *run, a args) jinja.Value { return end(a.take("")[0], 0) },
		"last":  func(_ *run, a args) jinja.Value { return end(a.take("")[0], -1) },
		"list":  func(_ *run, a args) jinja.Value { return jinja.NewList(slices.Clone(list(a.take("")[0]))) },
		"join": func(r *run, a args) jinja.Value {
			p := a.take("", "d")
			return join(r, list(p[0]), show(p[1]))
		},
		"map":    mapped,
		"select": chosen(true, false), "reject": chosen(false, false), "selectattr": chosen(true, true), "rejectattr": chosen(false, true),
		"int": func(_ *run, a args) jinja.Value {
			v := a.take("")[0]
			if n, ok := whole(v); ok {
				return jinja.NewInt(int64(n))
			}
			n, err := strconv.Atoi(strings.TrimFunc(asText(v), isSpace))
			if err != nil {
				refuse("int of %.40q is not supported", v.AsString())
			}
			return jinja.NewInt(int64(n))
		},
		"abs": func(_ *run, a args) jinja.Value {
			n, ok := whole(a.take("")[0])
			if !ok {
				refuse("abs of %.40s is not supported", a.list[0])
			}
			return jinja.NewInt(int64(max(n, -n)))
		},
	}
}

func length(_ *run, a args) jinja.Value {
	return jinja.NewInt(int64(len(list(a.take("")[0]))))
}

func standard(_ *run, a args) jinja.Value {
	p := a.take("", "default_value", "boolean")
	if p[0].IsUndefined() || p[2].IsTruthy() && !p[0].IsTruthy() {
		if len(a.list)+len(a.named) == 1 {
			return jinja.NewString("")
		}
		return p[1]
	}
	return p[0]
}

// end returns the first item of a value, or for -1 the last.
func end(v jinja.Value, i int) jinja.Value {
	all := list(v)
	if len(all) == 0 {
		return jinja.Undefined()
	}
	return all[(i+len(all))%len(all)]
}

// attribute returns the attribute of an item, undefined if there is none.
func attribute(v jinja.Value, name string) jinja.Value { return asObject(v).Data[name] }

func mapped(r *run, a args) jinja.Value {
	out := slices.Clone(list(a.list[0]))
	if len(a.list) == 1 {
		p := a.take("", "attribute", "default")
		for i, v := range out {
			out[i] = cmp.Or(attribute(v, asText(p[1])), p[2])
		}
		return jinja.NewList(out)
	}
	f := filters[asText(a.list[1])]
	if f == nil {
		refuse("the filter %s is not supported", a.list[1].AsString())
	}
	for i, v := range out {
		out[i] = f(r, args{append([]jinja.Value{v}, a.list[2:]...), a.named})
	}
	return jinja.NewList(out)
}

// chosen returns the filters that keep the items for which a test, of an attribute or of the item, is
// as wanted.
func chosen(want, attr bool) function {
	return func(_ *run, a args) jinja.Value {
		p, test := a.list[1:], func(x, _ jinja.Value) bool { return x.IsTruthy() }
		name := ""
		if attr && len(p) > 0 {
			name, p = asText(p[0]), p[1:]
		}
		y := jinja.Undefined()
		if len(p) > 1 {
			y = p[1]
		}
		if len(p) > 0 {
			test = tests[asText(p[0])]
		}
		if test == nil || len(p) > 2 || len(a.named) > 0 {
			refuse("a filter by such a test is not supported")
		}
		return jinja.NewList(slices.DeleteFunc(slices.Clone(list(a.list[0])), func(v jinja.Value) bool {
			if attr {
				v = attribute(v, name)
			}
			return test(v, y) != want
		}))
	}
}
