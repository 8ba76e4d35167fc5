// Package chat is the command that talks with a model: turns with a history, on a terminal or line by
// line.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
)

// options holds the flags.
type options struct {
	model     setup.Model
	sampler   setup.Sampler
	tokenizer setup.Tokenizer
	requests.Length
	kwargs       map[string]any
	system, load string
	colors       string
	// cacheMemory limits the memory of --cache, in bytes; 0 means half of the free memory.
	cacheMemory uint64
	keep        uint64
	all         kit.Set
}

func (o *options) flags() kit.Set {
	o.colors, o.sampler.Answers = "state", true
	o.all = slices.Concat(o.sampler.Flags().Without("batch"), kit.Set{o.sampler.CallsFlag()}, o.sampler.CallFlags(), kit.Set{
		kit.Parsed(&o.Length, requests.ParseLength, requests.Length.String, kit.Flag{Name: "length", Category: kit.CatInput, Default: "+256",
			Usage: "use `N` positions for history and answer, or +N for each answer (--max-new-tokens N)"}),
		kit.Text(&o.system, kit.Flag{Name: "system", Category: kit.CatInput, Usage: "begin with `TEXT` as the system's message"}),
		kit.Name(&o.load, "name a file", kit.Flag{Name: "load", Category: kit.CatInput, Usage: "continue the chat in `FILE`, that /save wrote"}),
		setup.KwargsFlag(&o.kwargs),
		kit.Words(&o.colors, []string{"state", "confidence"}, kit.Flag{Name: "colors", Category: kit.CatOutput, Rare: true, Usage: "colour tokens by `WHAT`: state or confidence"}),
		setup.CacheMemoryFlag(&o.cacheMemory), setup.KeepFlag(&o.keep, 64<<20),
	}, o.model.Flags(), kit.Set{o.tokenizer.Flag(), o.sampler.Profile.Flag()})
	return o.all.Common("system", "load", "length", "sampler", "calls", "steps", "seed", "temperature", "top-p", "model", "tokenizer")
}

// Command is the command chat.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "chat",
		Usage:     "talk with a model, on the terminal or line by line",
		Arguments: "[MODEL]",
		Description: "mdmgen chat inclusionAI/LLaDA2.1-mini --system \"Be brief.\"\n" +
			"printf 'Hello\\nAnd you?\\n' | mdmgen chat GSAI-ML/LLaDA-8B-Instruct --seed 1\n\n" +
			"Each line is a message, and the model answers by its chat template; Ctrl-C stops an answer and keeps its text up to\n" +
			"the first mask, Ctrl-D leaves. If standard input or output is no terminal, only answers are printed. A model without\n" +
			"a chat template continues a story instead: each line is appended to it.\n\n" + kit.Indent + strings.ReplaceAll(help, "\n", "\n"+kit.Indent),
		Flags: o.flags(),
		Run:   o.run,
	}
}

// run opens the model and reads messages.
func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	if err := o.sampler.Check(ctx, "chat", o.all); err != nil {
		return err
	}
	c := &session{options: o, streams: s, store: setup.Store(o.keep), seed: setup.SeedOr(o.sampler.Seed), set: make(map[string]json.RawMessage)}
	if c.words, err = o.tokenizer.Open(ctx, s, &o.model); err != nil {
		return setup.NeedTokenizer(err, "a chat", "")
	}
	c.texts = requests.WordsOf(c.words)
	talks, err := c.texts.Talks(o.kwargs)
	if c.story = !talks; err != nil {
		return c.wrong(err)
	}
	if c.story {
		if err := o.all.Unused("to a model without a chat template", "system", "chat-template-kwargs"); err != nil {
			return err
		}
	}
	if o.load != "" {
		if err := c.read(ctx, o.load); err != nil {
			return fmt.Errorf("--load %w", err)
		}
	}
	if o.Length != (requests.Length{}) {
		c.set["length"], _ = json.Marshal(o.Length.String())
	}
	if o.kwargs != nil {
		c.set["chat_template_kwargs"], _ = json.Marshal(o.kwargs)
	}
	if o.system != "" {
		c.instruction = &o.system
	}
	if c.network, err = o.model.Open(ctx, s, o.all); err != nil {
		return err
	}
	defer kit.Closing(c.network, &err)
	c.facts = c.network.Facts()
	if err := setup.Fit(c.words, c.facts); err != nil {
		return err
	}
	opts, err := o.sampler.Options(ctx, o.all)
	if err != nil {
		return err
	}
	c.builder, err = requests.New(ctx, requests.Config{Network: c.network, Words: c.texts, Options: opts, Calls: c.sampler.Solved, MaxN: 1,
		Fit: func(ctx context.Context, o *catalog.Options, canvas []int) error {
			return c.sampler.Fit(ctx, s, c.network, o, canvas)
		}})
	if err != nil {
		return c.wrong(err)
	}
	if columns, _ := kit.Size(s.Out); columns > 0 && kit.IsTerminal(os.Stdin) && os.Getenv("TERM") != "dumb" {
		return c.show(ctx)
	}
	return c.lines(ctx)
}

// greeting says what the chat is.
func (c *session) greeting() string {
	if c.story {
		return c.model.Ref + " has no chat template and continues a story: each line is appended to it; /help lists commands"
	}
	return "chat with " + c.model.Ref + ": /help lists commands"
}

// lines answers the lines of standard input. It prints only answers; the first error ends it.
func (c *session) lines(ctx context.Context) error {
	c.tell = func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			c.streams.Notice(line)
		}
	}
	if c.story || kit.IsTerminal(c.streams.In) {
		c.tell(c.greeting())
	}
	for line, err := range kit.Lines(c.streams.In, "standard input") {
		if err != nil {
			return err
		}
		answers, err := c.line(ctx, string(line.Text))
		if err == errLeave {
			break
		}
		text := ""
		if err == nil && answers {
			text, err = c.answer(ctx)
		}
		if err != nil {
			return err
		}
		if answers {
			fmt.Fprintln(c.streams.Out, text)
		}
	}
	c.sampler.ShowSeed(c.streams, c.seed)
	return ctx.Err()
}

// wrong returns the error of a request with the flags or options at fault.
func (c *session) wrong(err error) error {
	if errors.As(err, new(*requests.Error)) {
		return c.all.Refuse("chat", err)
	}
	return err
}
