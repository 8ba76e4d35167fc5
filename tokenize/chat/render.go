package chat

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/builtins"
	controls "github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"

	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
)

// Limits of a run: parts of a tag (names, signs and texts), time, bytes of output and of a stored
// value in addition to the contents, and numbers of a range.
const (
	maxParts = 256
	maxTime  = time.Second
	maxBytes = 64 << 10
	maxRange = 1000
)

// The features that templates may use. Excluded are those that read files (include, import,
// extends), call themselves (macro, call, recursive loops) or turn little into much (replace,
// center, format, products).
var (
	structures = []string{"for", "if", "set", "break", "continue", "raw"}
	filters    = []string{"trim", "string", "length", "count", "default", "d", "upper", "lower", "capitalize", "title",
		"first", "last", "list", "join", "items", "map", "selectattr", "rejectattr", "tojson", "int", "safe"}
	texts = []string{"strip", "lstrip", "rstrip", "startswith", "endswith", "upper", "lower", "capitalize", "title", "split"}
	dicts = []string{"get", "items", "keys", "values"}
)

// run is one rendering: its output and its limits.
type run struct {
	out   strings.Builder
	most  int
	until time.Time
	// raised is the template's message from raise_exception, or the limit that was reached: the
	// library's errors contain the whole template.
	raised error
}

var errTime = fmt.Errorf("it takes longer than %v", maxTime)

// render runs the template.
func (t *Template) render(messages []Message) (text string, err error) {
	r := &run{most: maxBytes, until: time.Now().Add(maxTime)}
	list := make([]any, len(messages))
	for i, m := range messages {
		list[i] = map[string]any{"role": m.Role, "content": m.Content}
		r.most += 4 * len(m.Content)
	}
	defer func() {
		// The library panics on some templates that it cannot run.
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			err = fault.Errorf("chat", "%s: the template fails: %s%s", t.file, line(err), reason(cmp.Or(r.raised, err)))
		}
	}()
	if err := readable(t.source); err != nil {
		return "", err
	}
	const name = "/template"
	loader, err := loaders.NewMemoryLoader(map[string]string{name: t.source})
	if err != nil {
		return "", err
	}
	parsed, err := exec.NewTemplate(name, jinja(), loader, r.environment())
	if err != nil {
		return "", err
	}
	data := map[string]any{"messages": list, "add_generation_prompt": true, "tools": nil, "documents": nil}
	for name, token := range t.tokens {
		data[name] = token
	}
	if err := parsed.Execute(r, exec.NewContext(data)); err != nil {
		return "", err
	}
	return r.out.String(), nil
}

// jinja returns the settings with which tokenizers' templates are read.
func jinja() *config.Config {
	c := config.New()
	c.TrimBlocks, c.LeftStripBlocks = true, true
	return c
}

// readable rejects products, which can turn a letter into a gigabyte, and tags with so many parts,
// such as nested brackets, that the library takes a gigabyte or minutes for them.
func readable(source string) error {
	parts := 0
	for s := tokens.LexAll(source, jinja()); !s.End(); s.Next() {
		k := s.Current()
		switch k.Type {
		case tokens.Multiply, tokens.Power:
			return fmt.Errorf("line %d: %s is not supported in templates", k.Line, k.Val)
		case tokens.Data, tokens.VariableBegin, tokens.BlockBegin:
			parts = 0
		case tokens.Whitespace:
		default:
			if parts++; parts > maxParts {
				return fmt.Errorf("line %d: a tag has more than %d parts", k.Line, maxParts)
			}
		}
	}
	return nil
}

// Write appends to the output.
func (r *run) Write(p []byte) (int, error) {
	if err := r.check(r.out.Len() + len(p)); err != nil {
		return 0, err
	}
	return r.out.Write(p)
}

// check returns an error if the time is over, or if bytes is above the limit.
func (r *run) check(bytes int) error {
	var err error
	switch {
	case time.Now().After(r.until):
		err = errTime
	case bytes > r.most:
		err = fmt.Errorf("it writes more than %d bytes", r.most)
	}
	r.raised = cmp.Or(r.raised, err)
	return err
}

// environment returns the features that the template may use.
func (r *run) environment() *exec.Environment {
	e := &exec.Environment{
		Filters: exec.NewFilterSet(r.filters()),
		Tests:   builtins.Tests,
		Methods: exec.Methods{
			Str: exec.NewMethodSet(chosen(texts, builtins.Methods.Str.Get)), Dict: exec.NewMethodSet(chosen(dicts, builtins.Methods.Dict.Get)),
			Bool: exec.NewMethodSet(map[string]exec.Method[bool]{}), Int: exec.NewMethodSet(map[string]exec.Method[int]{}),
			Float: exec.NewMethodSet(map[string]exec.Method[float64]{}), List: exec.NewMethodSet(map[string]exec.Method[[]any]{}),
		},
		Context: exec.NewContext(map[string]any{
			"range": numbers,
			"raise_exception": func(a *exec.VarArgs) (any, error) {
				r.raised = fmt.Errorf("it says %.200q", a.First().String())
				return nil, r.raised
			},
		}),
	}
	namespace, _ := builtins.GlobalFunctions.Get("namespace")
	e.Context.Set("namespace", namespace)
	parsers := chosen(structures, builtins.ControlStructures.Get)
	for name, parse := range parsers {
		parsers[name] = r.guarded(name, parse)
	}
	e.ControlStructures = exec.NewControlStructureSet(parsers)
	return e
}

// chosen returns the entries with the given names.
func chosen[T any](names []string, get func(string) (T, bool)) map[string]T {
	m := make(map[string]T)
	for _, name := range names {
		if x, ok := get(name); ok {
			m[name] = x
		}
	}
	return m
}

// numbers is range; the library's own leaks a goroutine if it is not read to its end.
func numbers(a *exec.VarArgs) (any, error) {
	from, to, step := 0, 0, 1
	for i, v := range a.Args {
		if !v.IsInteger() || len(a.Args) > 3 {
			return nil, errors.New("range takes up to three whole numbers")
		}
		switch {
		case i == 0 && len(a.Args) > 1:
			from = v.Integer()
		case i < 2:
			to = v.Integer()
		default:
			step = v.Integer()
		}
	}
	list := []any{}
	for ; step > 0 && from < to || step < 0 && from > to; from += step {
		if len(list) == maxRange {
			return nil, fmt.Errorf("range has more than %d numbers", maxRange)
		}
		list = append(list, from)
	}
	return list, nil
}

// guard is a control structure that stops at the limits of its run.
type guard struct {
	exec.ControlStructure
	run *run
	// target is the variable that it sets, "" if none.
	target string
}

// guarded wraps a parser so that its control structures stop at the limits of the run.
func (r *run) guarded(name string, parse parser.ControlStructureParser) parser.ControlStructureParser {
	return func(p, args *parser.Parser) (nodes.ControlStructure, error) {
		target := ""
		if k := args.Current(); name == "set" && k != nil {
			target = k.Val
		}
		c, err := parse(p, args)
		if err != nil {
			return nil, err
		}
		if loop, ok := c.(*controls.ForControlStructure); ok && loop.Recursive {
			return nil, errors.New("recursive loops are not supported in templates")
		}
		known, ok := c.(exec.ControlStructure)
		if !ok {
			return nil, fmt.Errorf("%s cannot be run", name)
		}
		return &guard{known, r, target}, nil
	}
}

// Execute runs the control structure, and bounds the value that it set.
func (g *guard) Execute(r *exec.Renderer, tag *nodes.ControlStructureBlock) error {
	if err := g.run.check(0); err != nil {
		return err
	}
	if err := g.ControlStructure.Execute(r, tag); err != nil || g.target == "" {
		return err
	}
	value, _ := r.Environment.Context.Get(g.target)
	return g.run.check(size(value))
}

// lines matches the line of an expression or a tag in the library's errors.
var lines = regexp.MustCompile(`(?:expression|condition|controlStructure) at line (\d+)`)

// token matches a token of a template as the library prints it.
var token = regexp.MustCompile(`<Token\[\w+\] Val=('[^']*')[^>]*>`)

// line returns the innermost line of an error, "" if it has none.
func line(err error) string {
	all := lines.FindAllStringSubmatch(err.Error(), -1)
	if all == nil {
		return ""
	}
	return "line " + all[len(all)-1][1] + ": "
}

// reason returns the innermost cause on one line: the library's own errors contain the whole
// template and its values.
func reason(err error) string {
	for {
		next := errors.Unwrap(err)
		if v, ok := err.(*exec.Value); ok {
			next, _ = v.Interface().(error)
		}
		if next == nil || next.Error() == "" {
			break
		}
		err = next
	}
	s := token.ReplaceAllString(strings.Trim(err.Error(), ": "), "$1")
	return fmt.Sprintf("%.200s", printable.String(strings.Join(strings.Fields(s), " ")))
}
