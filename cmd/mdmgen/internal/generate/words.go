package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize/chat"
)

// encodeOptions adds the texts of negative and bad-words, as ids, to the sampler's options.
func (g *generation) encodeOptions(l *canvas.Layout, o *catalog.Options) error {
	encode := func(flag, text, between string) (string, error) {
		ids, err := l.IDs(text)
		if err != nil {
			if exit.Coded(err) {
				return "", err
			}
			return "", cmp.Or(g.ctx.Err(), exit.Usagef("--set %s=%.40q: %v", flag, text, err))
		}
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", between), nil
	}
	var words []string
	if o.BadWordsIDs != "" {
		words = append(words, o.BadWordsIDs)
	}
	for _, text := range g.badWords {
		if strings.TrimSpace(text) == "" {
			return exit.Usagef("--set bad-words=%q: give a word", text)
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
	if err := o.sampler.Check(ctx, "generate", o.all); err != nil || text == "" {
		return err
	}
	words, err := o.tokenizer.Open(ctx, s, &o.model)
	if err != nil {
		return setup.NeedTokenizer(err, "a text of --stop", ", or give an id")
	}
	ids, err := words.Encode(text)
	if err != nil || len(ids) != 1 {
		return exit.Usagef("--stop %.40q: is %d tokens: must be the text or the id of one", text, len(ids))
	}
	return o.all.Find("stop").Replace(strconv.Itoa(ids[0]))
}

// prompt converts messages to tokens by the chat template next to the tokenizer.
func (g *generation) prompt(messages []chat.Message) ([]int, error) {
	words, err := g.encoder()
	if err != nil {
		return nil, err
	}
	if g.template == nil {
		if words.Folder() == "" {
			return nil, exit.Missingf("messages need a chat template, and %s has none: give the text as a prefix", g.model.Ref)
		}
		t, err := chat.Open(words.Folder())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exit.Missingf("messages need a chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json is in %s: give the text as a prefix", words.Folder())
		}
		if err != nil {
			return nil, failed(err)
		}
		g.template = t
	}
	ids, err := g.template.Prompt(words, messages)
	return ids, failed(err)
}

// asked returns the single message of --chat.
func asked(text string) []chat.Message { return []chat.Message{{Role: "user", Content: text}} }

// failed marks an error of the template as a failure rather than a usage error.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &exit.Error{Code: exit.Failure, Err: fault.WithoutName(err)}
}

// templateDigest returns the digest of the chat template, "" if none was needed.
func (g *generation) templateDigest() string {
	if g.template == nil {
		return ""
	}
	return g.template.Digest()
}

// told returns how many positions of a canvas hold its text. The continuation of a text ends before
// the first special token, as an answer does; any other canvas is text as a whole.
func (g *generation) told(j *job, ids []int) int {
	from := slices.Index(j.Canvas, g.facts.MaskID)
	if from < 0 || slices.ContainsFunc(j.Canvas[from:], func(id int) bool { return id != g.facts.MaskID }) {
		return len(ids)
	}
	if text, err := g.words.DecodeText(j.Canvas[:from]); j.Prompt == 0 && (text == "" || err != nil) {
		return len(ids)
	}
	return from + g.words.End(ids[from:])
}
