// Package read is the command that reads a canvas without writing it.
package read

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/reading"
	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/samplers"
)

// options are the flags.
type options struct {
	lines      generate.Lines
	candidates []string
	top        int
	fit        bool
	law        reading.Law
	input      string
	format     string
	output     string
	all        flags.Set
}

func (o *options) flags() flags.Set {
	o.top, o.law = reading.DefaultTop, reading.FirstHitting
	o.all = append(flags.Set{
		flags.Texts(&o.candidates, flags.Flag{Name: "candidate", Category: flags.CatInput, Usage: "`TEXT` whose probability in every gap is wanted; may be repeated"}),
		flags.Bool(&o.fit, flags.Flag{Name: "fit", Category: flags.CatInput, Usage: "give each candidate a gap of as many masks as it has tokens"}),
		flags.Words(&o.law, reading.Laws(), flags.Flag{Name: "law", Category: flags.CatInput, Usage: "`ORDER` in which the tokens of a candidate are put there: first-hitting, uniform, or left-to-right"}),
		flags.Int(&o.top, 0, reading.MostTop, flags.Flag{Name: "top", Category: flags.CatInput, Usage: "`K` most probable tokens at each masked position"}),
		flags.Name(&o.input, "name a file, or - for standard input", flags.Flag{Name: "input", Category: flags.CatInput, Usage: "`FILE` of JSON lines, a canvas with its candidates each; - for standard input"}),
	}, append(append(flags.Format(&o.format, "text", "json"), kit.OutputFlag(&o.output)), o.lines.Flags().Without("cache", "cache-memory")...)...)
	return o.all.Common("candidate", "fit", "law", "top", "input", "format", "output", "model", "tokenizer")
}

// Command is the command read.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "read",
		Usage:     "how probable tokens and texts are in the gaps of a text",
		ArgsUsage: "[TEMPLATE]",
		Description: "mdmgen read 'Once upon a{{1}}, there was a little{{1}}.'\n" +
			"mdmgen read 'There was a little{{1}} called Tom.' --candidate ' boy' --candidate ' girl'\n\n" +
			"TEMPLATE is a text with {{N}} for N masks, as in generate --infill; most tokens bring the blank before them. One row of the network a masked position gives the\n" +
			"most probable tokens there, all others being masked. A candidate of several tokens has the joint probability of\n" +
			"filling its positions one by one, in uniform order (first-hitting, up to " + fmt.Sprint(reading.MostTokens) + " tokens) or from left to right, while all\n" +
			"other masks stay: exactly, from a row for every part of it that may stand there before. It takes the first\n" +
			"positions of its gap, or with --fit the gap is as long as it is. Logarithms are natural.",
		Flags:  o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return read(ctx, s, o, args) }),
	}
}

// Record is what read prints as JSON.
type Record struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Readings   []Reading      `json:"readings"`
}

// Reading is a canvas, null where it is masked, with what was read there.
type Reading struct {
	IDs []*int `json:"ids"`
	*reading.Answer
}

const schema = "mdmgen.read/1"

// example is a line of --input, for error messages.
const example = `{"infill":"Once upon a{{1}}","candidates":[" time"]}`

// question is a request with where it came from.
type question struct {
	reading.Request
	line int
}

// questions are those of the command line or of --input.
func (o *options) questions(ctx context.Context, s kit.Streams, args []string) (list []question, err error) {
	if o.input == "" {
		q := question{Request: reading.Request{Top: &o.top, Fit: o.fit, Law: o.law}}
		if q.Infill, err = json.Marshal(args[0]); err != nil {
			return nil, err
		}
		for _, text := range o.candidates {
			raw, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			q.Candidates = append(q.Candidates, raw)
		}
		return []question{q}, nil
	}
	in, name := s.In, canvas.InputName(o.input)
	if o.input != "-" {
		f, err := plainfile.OpenNamed(ctx, o.input)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", o.input, err)
		}
		defer f.Close()
		in = f
	}
	for l, err := range kit.Lines(in, name) {
		if err != nil {
			return nil, err
		}
		q := question{Request: reading.Request{Top: &o.top, Fit: o.fit, Law: o.law}, line: l.N}
		if len(strings.TrimSpace(string(l.Text))) == 0 {
			continue
		}
		if err := kit.DecodeObject(l.Text, &q.Request, example); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, l.N, err)
		}
		list = append(list, q)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no lines: write a JSON object in each, such as %s", name, example)
	}
	return list, nil
}

// check refuses what can be refused before anything is opened.
func (o *options) check(args []string) error {
	if err := kit.AtMostOne("read", args, "give one template"); err != nil {
		return err
	}
	switch {
	case o.input == "" && len(args) == 0:
		return exit.Usagef("read: give a text with gaps, as in mdmgen read 'Once upon a{{1}}', or --input FILE")
	case o.input != "" && len(args) > 0:
		return exit.Usagef("read: the template and --input both name canvases; give one")
	}
	if err := o.all.Exclude([2]string{"input", "candidate"}); err != nil {
		return err
	}
	return kit.Apart("read", nil, o.all, kit.NamedFile{Flag: "-o", Path: o.output})
}

func read(ctx context.Context, s kit.Streams, o *options, args []string) (err error) {
	if err := o.check(args); err != nil {
		return err
	}
	list, err := o.questions(ctx, s, args)
	if err != nil {
		return err
	}
	if err := o.lines.Open(ctx, s); err != nil {
		return err
	}
	m := o.lines.Model()
	defer kit.Closing(m, &err)
	out, err := kit.NewResults(ctx, o.output, s.Out)
	if err != nil {
		return err
	}
	defer out.Discard()
	engine, err := samplers.NewEngine(m, o.lines.Batch())
	if err != nil {
		return err
	}
	defer engine.Close()
	r := Record{Schema: schema, Provenance: kit.NewProvenance(m, o.lines.Words())}
	for _, q := range list {
		answered, err := o.answer(ctx, engine, m.Spec(), q)
		switch {
		case err == nil:
		case ctx.Err() != nil || exit.Coded(err):
			return cmp.Or(ctx.Err(), err)
		case q.line > 0:
			return fmt.Errorf("%s:%d: %s", canvas.InputName(o.input), q.line, fault.Plain(err))
		default:
			return exit.Usagef("read: %s", fault.Plain(err))
		}
		r.Readings = append(r.Readings, answered)
	}
	if o.format == "text" {
		r.print(out)
	} else if err := kit.WriteRecord(out, o.format, r); err != nil {
		return err
	}
	return out.Commit()
}

// answer answers one question.
func (o *options) answer(ctx context.Context, engine *samplers.Engine, spec samplers.Spec, q question) (r Reading, err error) {
	line, err := q.Line()
	if err != nil {
		return r, err
	}
	job, err := o.lines.Job(line, 0)
	if err != nil {
		return r, err
	}
	asked, err := q.Question(job.Canvas, spec.Mask, o.encode)
	if err != nil {
		return r, err
	}
	for _, id := range asked.Canvas {
		if r.IDs = append(r.IDs, nil); id != spec.Mask {
			r.IDs[len(r.IDs)-1] = &id
		}
	}
	if r.Answer, err = reading.Read(ctx, engine, spec, asked); err == nil && o.lines.Words() != nil {
		r.Spell(o.lines.Piece())
	}
	return r, err
}

// encode turns a candidate into ids.
func (o *options) encode(text string) ([]int, error) {
	if o.lines.Words() == nil {
		return nil, exit.Missingf("a text needs a tokenizer: give one with --tokenizer, or ids with --input")
	}
	return o.lines.Words().EncodePlain(text)
}
