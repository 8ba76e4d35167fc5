package generate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/match"
)

// encodeOptions adds the texts of negative and bad-words, as ids, to the sampler's options.
func (g *generation) encodeOptions(l requests.Layout, o *catalog.Options) error {
	encode := func(flag, text, between string) (string, error) {
		ids, err := l.Encode(text)
		if err != nil {
			if exit.Coded(err) {
				return "", err
			}
			return "", cmp.Or(g.ctx.Err(), exit.Usagef("%s %.40q: %v", g.all.Typed(flag), text, err))
		}
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", between), nil
	}
	var words []string
	if o.BadWordsIDs != "" {
		words = append(words, o.BadWordsIDs)
	}
	for _, text := range g.badWords {
		if strings.TrimSpace(text) == "" {
			return exit.Usagef("%s: the value is empty", g.all.Typed("bad-words"))
		}
		alone, err := encode("bad-words", text, " ")
		if err != nil {
			return err
		}
		words = append(words, alone)
		if inside, err := encode("bad-words", " "+text, " "); err == nil && inside != alone {
			words = append(words, inside)
		}
	}
	o.BadWordsIDs = strings.Join(words, ",")
	if g.negative == "" {
		return nil
	}
	var err error
	o.NegativeTokens, err = encode("negative", g.negative, ",")
	return err
}

// checkSampler returns an error for flags that the sampler does not use, and replaces the text of a
// token in --stop by its id.
func (o *options) checkSampler(ctx context.Context, s kit.Streams) error {
	text := o.stop
	o.sampler.Answers = o.chat != ""
	if err := o.sampler.Check(ctx, "generate", o.all); err != nil || text == "" {
		return err
	}
	words, err := o.tokenizer.Open(ctx, s, &o.model)
	if err != nil {
		return setup.NeedTokenizer(err, "a text of --stop", ", or give an id")
	}
	ids, err := words.Encode(text)
	if err != nil || len(ids) != 1 {
		return exit.Usagef("%s %.40q: is %d tokens: must be the text or the id of one", o.all.Typed("stop"), text, len(ids))
	}
	return o.all.Find("stop").Set(strconv.Itoa(ids[0]))
}

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
