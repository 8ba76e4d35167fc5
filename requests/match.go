package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
	"mdmgen/tokenize"
)

// Pattern is what the text of a gap must match. If Gap is "", it applies from the first mask to the
// last.
type Pattern struct {
	Gap string `json:"gap,omitempty"`
	// Kind is regex, json_schema or choices; for choices, Text is a JSON list.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// patternKinds are the keys of a request for patterns.
var patternKinds = []string{"regex", "json_schema", "choices"}

// readPatterns reads the value of such a key: a pattern or, except for schemas, an object of
// patterns by the name of the gap.
func readPatterns(kind string, raw json.RawMessage) ([]Pattern, error) {
	gaps := make(map[string]json.RawMessage)
	if kind == "json_schema" || json.Unmarshal(raw, &gaps) != nil {
		gaps = map[string]json.RawMessage{"": raw}
	}
	var out []Pattern
	for _, gap := range slices.Sorted(maps.Keys(gaps)) {
		p := Pattern{gap, kind, string(gaps[gap])}
		var text *string
		switch {
		case kind == "json_schema":
		case kind == "choices":
			if _, err := texts(p.Text); err != nil {
				return nil, err
			}
		case json.Unmarshal(gaps[gap], &text) != nil || text == nil:
			return nil, fmt.Errorf("%s must be a text, or an object with a text of each gap", kind)
		default:
			p.Text = *text
		}
		out = append(out, p)
	}
	return out, nil
}

// texts parses a list of texts.
func texts(list string) (out []string, err error) {
	var all []*string
	if json.Unmarshal([]byte(list), &all) != nil || len(all) == 0 || slices.Contains(all, nil) {
		return nil, errors.New("choices must be a list of texts, or an object with such a list of each gap")
	}
	for _, text := range all {
		out = append(out, *text)
	}
	return out, nil
}

// regexp returns the pattern as a regular expression.
func (p Pattern) regexp() (string, error) {
	switch p.Kind {
	case "json_schema":
		return match.Schema([]byte(p.Text))
	case "choices":
		list, err := texts(p.Text)
		return match.Choices(list), err
	}
	return p.Text, nil
}

// matched returns the options with the languages of patterns.
func (b *Builder) matched(ctx context.Context, patterns []Pattern, gaps map[string]Gap, o catalog.Options) (catalog.Options, error) {
	o.Match = nil
	for i, p := range patterns {
		gap, ok := gaps[p.Gap]
		switch {
		case p.Gap != "" && !ok:
			return o, wrong(p.Kind, fmt.Errorf("%s: no gap has the name %q: write {{%[2]s:N}} in the template", p.Kind, p.Gap))
		case len(patterns) > 1 && (p.Gap == "" || slices.ContainsFunc(patterns[:i], func(q Pattern) bool { return q.Gap == p.Gap })):
			return o, wrong(p.Kind, fmt.Errorf("%s: several patterns need named gaps: {{NAME:N}} in the template and NAME=… before each pattern", p.Kind))
		}
		l, err := b.language(ctx, o.SuppressTokens, p)
		if err != nil {
			return o, err
		}
		o.Match = append(o.Match, match.Rule{Language: l, From: gap.From, To: gap.To})
	}
	return o, nil
}

// language is the language of a pattern, in tokens that are not suppressed.
type language struct{ suppressed, kind, text string }

// maxKept bounds the languages that are kept, in bytes: requests choose them.
const maxKept = 64 << 20

// language returns the language of a pattern: a kept one, or a new one, which is kept unless it takes
// all the room.
func (b *Builder) language(ctx context.Context, suppressed string, p Pattern) (*match.Language, error) {
	key := language{suppressed, p.Kind, p.Text}
	b.mu.Lock()
	l := b.languages[key]
	b.mu.Unlock()
	if l != nil {
		return l, nil
	}
	if b.Compile != nil {
		done, err := b.Compile(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
	}
	text, err := p.regexp()
	if err != nil {
		return nil, wrong(p.Kind, err)
	}
	v, err := b.vocabulary(suppressed)
	if err != nil {
		return nil, err
	}
	if l, err = v.Language(ctx, text); err != nil {
		return nil, wrong(p.Kind, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if size := l.Bytes(); size <= maxKept && b.languages[key] == nil { // else another request kept it meanwhile
		if b.kept += size; b.kept > maxKept {
			clear(b.languages)
			b.kept = size
		}
		b.languages[key] = l
	}
	return l, nil
}

// vocabulary returns the tokens that may be drawn. Only one vocabulary is kept, the last: its texts
// take more than most languages.
func (b *Builder) vocabulary(suppressed string) (*match.Vocabulary, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil && b.suppressed == suppressed {
		return b.last, nil
	}
	words, err := b.Words.Tokenizer()
	if err != nil {
		return nil, err
	}
	texts, err := words.Texts()
	if err != nil {
		return nil, err
	}
	spec := b.Network.Spec()
	never, err := draw.IDs("suppress-tokens", suppressed, spec.Columns)
	if err != nil {
		return nil, wrong("suppress_tokens", err)
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
	b.last, b.suppressed = match.NewVocabulary(texts, end), suppressed
	return b.last, nil
}
