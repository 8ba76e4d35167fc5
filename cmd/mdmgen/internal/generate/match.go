package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
	"mdmgen/tokenize"
)

// matching holds the patterns that texts must match, and the vocabularies for them.
type matching struct {
	texts        [3][]string // of the flags regex, json-schema and choices
	patterns     []canvas.Pattern
	mu           *sync.Mutex                  // guards vocabularies: several goroutines may read lines
	vocabularies map[string]*match.Vocabulary // by the tokens that are never drawn
}

func (m *matching) flags() flags.Set {
	m.mu = new(sync.Mutex)
	return flags.Set{
		flags.Texts(&m.texts[0], flags.Flag{Name: "regex", Category: flags.CatSample, Usage: "make sampled text match `PATTERN`; or NAME=PATTERN for a gap {{NAME:N}}"}),
		flags.Texts(&m.texts[1], flags.Flag{Name: "json-schema", Category: flags.CatSample, Usage: "make sampled text fit the JSON schema in `FILE`; or NAME=FILE"}),
		flags.Texts(&m.texts[2], flags.Flag{Name: "choices", Category: flags.CatSample, Usage: "make sampled text one of `LIST`, comma-separated or JSON; or NAME=LIST"}),
	}
}

// maxPatternFile is the maximum size of the file of a schema, in bytes.
const maxPatternFile = 1 << 20

// readPatterns reads the flags. gaps are the named gaps of the canvas.
func (g *generation) readPatterns(gaps map[string]canvas.Gap) error {
	m := &g.matching
	for i, flag := range []string{"regex", "json-schema", "choices"} {
		for _, text := range m.texts[i] {
			p := canvas.Pattern{Kind: strings.ReplaceAll(flag, "-", "_"), Text: text}
			if name, rest, ok := strings.Cut(text, "="); ok {
				if _, named := gaps[name]; named {
					p.Gap, p.Text = name, rest
				}
			}
			switch {
			case p.Text == "":
				return exit.Usagef("--%s: the value is empty", flag)
			case flag == "json-schema":
				data, err := plainfile.Named(g.ctx, p.Text, maxPatternFile)
				if err != nil {
					return fmt.Errorf("--%s %s: %w", flag, p.Text, err)
				}
				p.Text = strings.TrimPrefix(string(data), "\ufeff") // Editors on Windows write a byte order mark.
			case flag == "choices" && p.Text[0] != '[':
				list, _ := json.Marshal(strings.Split(p.Text, ",")) // Encoding texts cannot fail.
				p.Text = string(list)
			}
			m.patterns = append(m.patterns, p)
		}
	}
	return nil
}

// restrict adds the languages of the flags to the sampler's options: for the gaps of a single
// canvas, or from the first mask to the last of every line.
func (g *generation) restrict(jobs []canvas.Job, o catalog.Options) (catalog.Options, error) {
	only := canvas.Job{}
	if g.input == "" && len(jobs) == 1 {
		only = jobs[0]
	}
	if err := g.readPatterns(only.Gaps); err != nil || g.patterns == nil {
		return o, err
	}
	o, err := g.matched(g.ctx, only, o)
	if err != nil && !exit.Coded(err) {
		err = cmp.Or(g.ctx.Err(), exit.Usagef("generate: %s", fault.Plain(err)))
	}
	return o, err
}

// matched adds the languages of a job to the options: those of its line's own patterns, else those
// of the flags.
func (g *generation) matched(ctx context.Context, j canvas.Job, o catalog.Options) (catalog.Options, error) {
	patterns := g.patterns
	if j.Own.Patterns != nil {
		patterns = j.Own.Patterns
	}
	o.Match = nil
	for i, p := range patterns {
		gap, ok := j.Gaps[p.Gap]
		switch {
		case p.Gap != "" && !ok:
			return o, fmt.Errorf("%s: no gap has the name %q: write {{%[2]s:N}} in the template", p.Kind, p.Gap)
		case len(patterns) > 1 && (p.Gap == "" || slices.ContainsFunc(patterns[:i], func(q canvas.Pattern) bool { return q.Gap == p.Gap })):
			return o, fmt.Errorf("%s: several patterns need named gaps: {{NAME:N}} in the template and NAME=… before each pattern", p.Kind)
		}
		v, err := g.vocabulary(o.SuppressTokens)
		if err != nil {
			return o, err
		}
		text, err := p.Regexp()
		if err != nil {
			return o, err
		}
		l, err := v.Language(ctx, text)
		if err != nil {
			return o, err
		}
		o.Match = append(o.Match, match.Rule{Language: l, From: gap.From, To: gap.To})
	}
	return o, nil
}

// vocabulary returns the tokens that may be drawn.
func (g *generation) vocabulary(suppressed string) (*match.Vocabulary, error) {
	m := &g.matching
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.vocabularies[suppressed]; v != nil {
		return v, nil
	}
	words, err := g.encoder()
	if err != nil {
		return nil, err
	}
	texts, err := words.Texts()
	if err != nil {
		return nil, err
	}
	spec := g.network.Spec()
	never, err := draw.IDs("suppress-tokens", suppressed, spec.Columns)
	if err != nil {
		return nil, err
	}
	never = append(never, append(spec.Excluded, spec.Mask)...)
	texts = texts[:min(len(texts), spec.Columns)]
	for _, id := range never {
		if id < len(texts) {
			texts[id] = nil
		}
	}
	_, end, err := words.Frame()
	if err != nil || end >= spec.Columns || slices.Contains(never, end) {
		end = tokenize.None
	}
	if m.vocabularies == nil {
		m.vocabularies = make(map[string]*match.Vocabulary)
	}
	m.vocabularies[suppressed] = match.NewVocabulary(texts, end)
	return m.vocabularies[suppressed], nil
}

// textOf returns the decoder for the samples of a job. It drops the end tokens that pad a text that
// must match.
func (g *generation) textOf(j *job) canvas.Decoder {
	if rules := j.method.Settings().Match; rules != nil && rules[0].Language.End() != tokenize.None {
		return endless{g.words, rules[0].Language.End()}
	}
	return g.words
}

// endless decodes ids without their end tokens.
type endless struct {
	words *tokenize.Tokenizer
	end   int
}

func (e endless) Decode(ids []int) (string, error) {
	return e.words.Decode(slices.DeleteFunc(slices.Clone(ids), func(id int) bool { return id == e.end }))
}

// matchLaw describes, for the record, the distribution of texts that must match; "" for other runs.
func (g *generation) matchLaw() string {
	if g.patterns == nil && !slices.ContainsFunc(g.jobs, func(j job) bool { return j.Own.Patterns != nil }) {
		return ""
	}
	return match.Law
}
