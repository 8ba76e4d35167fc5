package generate

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
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
