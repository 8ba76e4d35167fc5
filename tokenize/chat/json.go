package chat

import (
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/go-json-experiment/json/jsontext"
)

// maxIndent is the maximum indentation that tojson may use for a level.
const maxIndent = 16

// encode is tojson of transformers, which is Python's json.dumps with ensure_ascii=False.
func encode(r *run, a args) jinja.Value {
	p := a.take("", "ensure_ascii", "indent", "separators", "sort_keys")
	indent := limit(p[2])
	if p[1].IsTruthy() || p[3].IsTruthy() || p[4].IsTruthy() || indent > maxIndent {
		refuse("tojson with ensure_ascii, separators, sort_keys, or an indent above %d is not supported", maxIndent)
	}
	n := 0
	var write func(v jinja.Value, depth int) string
	write = func(v jinja.Value, depth int) string {
		if n += size(v, r.most) * max(1, indent); n > 64*r.most {
			refuse("it writes more than %d bytes", r.most)
		}
		var all []string
		open, end := "[", "]"
		switch {
		case v.IsNone():
			return "null"
		case v.IsBool():
			return strconv.FormatBool(v.AsBool())
		case v.IsString():
			return quotedJSON(v.AsString())
		case v.IsNumber():
			return show(v)
		case v.IsList():
			for _, x := range v.AsList().Items {
				all = append(all, write(x, depth+1))
			}
		default:
			open, end = "{", "}"
			for _, k := range asObject(v).Keys {
				all = append(all, quotedJSON(k)+": "+write(v.AsDict().Data[k], depth+1))
			}
		}
		if indent < 0 || all == nil {
			return open + strings.Join(all, ", ") + end
		}
		line := "\n" + strings.Repeat(" ", indent*depth)
		return open + line + strings.Repeat(" ", indent) + strings.Join(all, ","+line+strings.Repeat(" ", indent)) + line + end
	}
	return jinja.NewString(write(a.list[0], 0))
}

// quotedJSON returns a text in JSON as Python writes it: it leaves all but quotes and controls.
func quotedJSON(s string) string {
	q, _ := jsontext.AppendQuote(nil, s) // Invalid UTF-8 becomes U+FFFD.
	return string(q)
}
