package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/requests"
	"mdmgen/samplers/match"
)

// matching holds the patterns that texts must match.
type matching struct {
	texts    [3][]string // of the flags regex, json-schema and choices
	patterns []requests.Pattern
}

func (m *matching) flags() kit.Set {
	return kit.Set{
		kit.Texts(&m.texts[0], kit.Flag{Name: "regex", Category: kit.CatSample, Usage: "make sampled text match `PATTERN`; or NAME=PATTERN for a gap {{NAME:N}}"}),
		kit.Texts(&m.texts[1], kit.Flag{Name: "json-schema", Category: kit.CatSample, Usage: "make sampled text fit the JSON schema in `FILE`, or typed as {…}; or NAME=FILE"}),
		kit.Texts(&m.texts[2], kit.Flag{Name: "choices", Category: kit.CatSample, Usage: "make sampled text one of `LIST`, comma-separated or JSON; or NAME=LIST"}),
	}
}

// maxPatternFile is the maximum size of the file of a schema, in bytes.
const maxPatternFile = 1 << 20

// readPatterns reads the flags. gaps are the named gaps of the canvas.
func (g *generation) readPatterns(gaps map[string]requests.Gap) error {
	m := &g.matching
	for i, flag := range []string{"regex", "json-schema", "choices"} {
		for _, text := range m.texts[i] {
			p := requests.Pattern{Kind: strings.ReplaceAll(flag, "-", "_"), Text: text}
			if name, rest, ok := strings.Cut(text, "="); ok {
				if _, named := gaps[name]; named {
					p.Gap, p.Text = name, rest
				}
			}
			switch {
			case p.Text == "":
				return exit.Usagef("--%s: the value is empty", flag)
			case flag == "json-schema":
				data := []byte(p.Text)
				if data[0] != '{' {
					var err error
					if data, err = plainfile.Named(g.ctx, p.Text, maxPatternFile); err != nil {
						return fmt.Errorf("--%s %s: %w", flag, p.Text, err)
					}
				}
				data = bytes.TrimPrefix(data, []byte("\ufeff")) // Editors on Windows write a byte order mark.
				if _, err := match.Schema(data); err != nil {
					return fmt.Errorf("--%s %s: %w", flag, p.Text, fault.WithoutName(err))
				}
				p.Text = string(data)
			case flag == "choices" && p.Text[0] != '[':
				list, _ := json.Marshal(strings.Split(p.Text, ",")) // Encoding texts cannot fail.
				p.Text = string(list)
			}
			m.patterns = append(m.patterns, p)
		}
	}
	return nil
}

// matchLaw describes, for the record, the distribution of texts that must match; "" for other runs.
func (g *generation) matchLaw() string {
	if g.patterns == nil && !slices.ContainsFunc(g.jobs, func(j job) bool { return j.Patterns != nil }) {
		return ""
	}
	return match.Law
}
