// Package read is the command that computes how probable tokens and texts are in the gaps of a
// canvas.
package read

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reading"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/requests"
	"mdmgen/tokenize"
)

// options holds the flags.
type options struct {
	candidates     []string
	law            reading.Law
	top            int
	keepBlank      bool
	model          setup.Model
	tokenizer      setup.Tokenizer
	format, output string
	all            kit.Set
}

func (o *options) flags() kit.Set {
	o.top, o.law = reading.DefaultTop, reading.FirstHitting
	o.all = append(append(kit.Set{
		kit.Texts(&o.candidates, kit.Flag{Name: "candidate", Category: kit.CatInput, Usage: "compute the probability of `TEXT` in every gap; may be repeated"}),
		kit.Words(&o.law, []reading.Law{reading.FirstHitting, reading.LeftToRight}, kit.Flag{Name: "law", Category: kit.CatInput, Usage: "reveal the tokens of a candidate by `LAW`: first-hitting (uniform order) or left-to-right"}),
		kit.Int(&o.top, 0, reading.MaxTop, kit.Flag{Name: "top", Category: kit.CatInput, Usage: "print the `K` most probable tokens at each masked position"}),
		kit.OutputFlag(&o.output),
		kit.KeepBlank(&o.keepBlank),
	}, kit.Format(&o.format, "text", "json")...), append(o.model.Flags(), o.tokenizer.Flag())...)
	return o.all.Common("candidate", "law", "top", "format", "output", "model", "tokenizer")
}

// Command is the command read.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "read",
		Usage:     "show how probable tokens and texts are in the gaps of a text",
		Arguments: "[TEMPLATE]",
		Description: "mdmgen read 'Once upon a{{1}}, there was a little{{1}}.'\n" +
			"mdmgen read 'There was a little{{1}} called Tom.' --candidate ' boy' --candidate ' hedgehog'\n\n" +
			"TEMPLATE is a text with {{N}} for N masks, as in generate --infill; most tokens include the blank before them. Without\n" +
			"candidates it prints the most probable tokens at each masked position while all are masked, one network row each. With a\n" +
			"candidate a gap has as many masks as the candidate has tokens, up to " + fmt.Sprint(reading.MaxTokens) + ", and it prints the exact joint probability of\n" +
			"filling them one by one, while all other masks stay, from a row for each canvas on the way. Logarithms are\n" +
			"natural. Without TEMPLATE it reads lines from standard input: templates, or {\"infill\":TEMPLATE,\"candidates\":[TEXT…]} or\n" +
			"{\"ids\":[5,null,17],\"candidate_ids\":[[4],[9]]}, optionally with \"gap\", \"law\" and \"top\".",
		Flags: o.flags(),
		Run:   o.run,
	}
}

// Record is the JSON output of read.
type Record struct {
	Schema     string            `json:"schema"`
	Provenance kit.Provenance    `json:"provenance"`
	Readings   []*reading.Answer `json:"readings"`
}

func (o *options) run(ctx context.Context, s kit.Streams, args []string) (err error) {
	if len(args) > 0 && len(o.candidates) == 0 {
		if err := o.all.Unused("without --candidate", "law"); err != nil {
			return err
		}
	}
	words, lacks := o.tokenizer.Open(ctx, s, &o.model)
	if lacks != nil && !setup.Lacks(lacks) {
		return lacks
	}
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	if err := setup.Fit(words, m.Facts()); err != nil {
		return err
	}
	build, err := requests.New(ctx, requests.Config{Network: m, Words: requests.OpenWords(func() (*tokenize.Tokenizer, error) {
		return words, setup.NeedTokenizer(lacks, "a text", "")
	})})
	if err != nil {
		return err
	}
	e, err := likelihood.New(m, likelihood.Options{Batch: setup.BatchOf(m.Facts())})
	if err != nil {
		return err
	}
	r := Record{Schema: "mdmgen.read/1", Provenance: kit.NewProvenance(m, words)}
	ask := reading.Asker{Evaluator: e, Words: words, Piece: words.Piece(), Requests: build}
	in := s.In
	if len(args) > 0 {
		line, err := json.Marshal(map[string]string{"infill": args[0]})
		if err != nil {
			return err
		}
		in = bytes.NewReader(line)
	} else if kit.IsTerminal(in) {
		s.Notice("reading lines from standard input, up to Ctrl-D")
	}
	told := false // that a blank moved
	for l, err := range kit.Lines(in, "standard input") {
		q := reading.Request{Top: new(o.top), Candidates: slices.Clone(o.candidates), Law: o.law, Canvas: reading.Canvas{KeepBlank: o.keepBlank}}
		if text := strings.TrimSpace(string(l.Text)); len(args) == 0 && text != "" && (text[0] != '{' || strings.HasPrefix(text, "{{")) {
			l.Text, _ = json.Marshal(map[string]string{"infill": text}) // A text cannot fail.
		}
		if err == nil {
			err = kit.DecodeObject(l.Text, &q, `{"infill":"Once upon a{{1}}","candidates":[" time"]}`)
		}
		var a *reading.Answer
		if err == nil {
			a, err = ask.Answer(ctx, q)
		}
		_, none := os.Stat(strings.Join(args, ""))
		switch {
		case err == nil:
			if r.Readings = append(r.Readings, a); a.Blanks > 0 && !told {
				told = true
				s.BlankMoved()
			}
		case ctx.Err() != nil || exit.Coded(err):
			return cmp.Or(ctx.Err(), err)
		case none == nil:
			return exit.Usagef("read: %s: is a template here, not a file: \"$(cat %[1]s)\" takes a text from it", args[0])
		case len(args) > 0:
			return o.all.Refuse("read", err)
		default:
			return fmt.Errorf("standard input:%d: %s", l.N, fault.Plain(err))
		}
	}
	if len(r.Readings) == 0 {
		return errors.New(`standard input: nothing to read: name a template, or write a JSON object in each line, such as {"infill":"Once upon a{{1}}"}`)
	}
	return kit.PrintLine(s.Results, o.format, r, r.text())
}

func (r *Record) text() string {
	var b strings.Builder
	line := func(text string, ids []int, logP float64) {
		shown := fmt.Sprint(ids)
		if text != "" {
			shown = strconv.Quote(text)
		}
		fmt.Fprintf(&b, "  %9.4f  %-9.4g  %s\n", logP, math.Exp(logP), shown)
	}
	for _, a := range r.Readings {
		for g, gap := range a.Gaps {
			for _, p := range gap.Positions {
				fmt.Fprintf(&b, "gap %d, position %d: entropy %.4g nats\n", g+1, p.Position, p.Entropy)
				for _, t := range p.Top {
					line(t.Text, []int{t.ID}, t.LogP)
				}
			}
			if len(gap.Candidates) > 0 {
				fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("gap %d, candidates %s", g+1, a.Law)))
			}
			for _, c := range gap.Candidates {
				line(c.Text, c.IDs, float64(c.LogP))
			}
		}
	}
	return b.String()
}
