// Package replay is the command that shows traces of generate as a page or an animated picture, and
// compares them with the same runs repeated.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/internal/exit"
	"mdmgen/serve/frame"
)

// options holds the flags.
type options struct {
	check  bool
	output string
	all    kit.Set
}

func (o *options) flags() kit.Set {
	o.all = kit.Set{
		kit.Bool(&o.check, kit.Flag{Name: "check", Category: kit.CatInput, Usage: "repeat each traced run and compare it, call by call"}),
		kit.Name(&o.output, "name a file, or - for standard output", kit.Flag{Name: "output", Alias: "o", Category: kit.CatOutput, Writes: true,
			Usage: "write the page to `FILE`; FILE.svg is an animated picture (default: standard output)"}),
	}
	return o.all
}

// Command is the command replay.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "replay",
		Usage:     "show how a text was sampled, on a page or in a picture",
		Arguments: "FILE…",
		Description: "mdmgen generate --seed 3 --trace fhs.jsonl\n" +
			"mdmgen generate --seed 3 --calls 16 --trace spread.jsonl\n" +
			"mdmgen replay fhs.jsonl spread.jsonl -o page.html\n" +
			"mdmgen replay --check fhs.jsonl\n\n" +
			"The page is self-contained: it needs no network and sends nothing. It shows traces side by side, in step by\n" +
			"calls, by share of calls or by seconds, and marks the tokens that differ from the first trace.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

// maxTraces is the number of traces for which a page has room.
const maxTraces = 8

func (o *options) run(ctx context.Context, s kit.Streams, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Usagef("replay: name a trace, a file of mdmgen generate --trace")
	case len(args) > maxTraces:
		return exit.Usagef("replay: %d traces: at most %d fit side by side", len(args), maxTraces)
	case o.check && o.all.Given("output"):
		return exit.Usagef("--check and -o exclude each other: a check writes no page")
	}
	var traces []*trace.Trace
	for _, path := range args {
		t, err := trace.Read(ctx, path)
		if err != nil {
			return err
		}
		traces = append(traces, t)
	}
	if o.check {
		return check(ctx, s, traces)
	}
	var runs []*run
	for _, t := range traces {
		runs = append(runs, newRun(t))
	}
	write := webpage
	if strings.EqualFold(filepath.Ext(o.output), ".svg") {
		write = picture
	}
	return write(s.Results, runs)
}

// errCompared ends a run that is longer than its trace.
var errCompared = errors.New("the trace ends here")

// check runs traces again and compares every frame except its time.
func check(ctx context.Context, s kit.Streams, traces []*trace.Trace) error {
	silent := s
	silent.Out, silent.Verbosity = &kit.StandardOutput{W: io.Discard}, &kit.Verbosity{Level: kit.Quiet}
	for _, t := range traces {
		next, bad := 0, error(nil)
		whole := t.End != nil && !t.End.Interrupted
		err := generate.Again(ctx, silent, t.Header, func(f frame.Frame) error {
			if bad != nil || next == len(t.Frames) && !whole {
				return errCompared
			}
			if next == len(t.Frames) {
				bad = fmt.Errorf("sequence %d, call %d is missing", f.Sequence, f.Call)
				return errCompared
			}
			if what := differs(t.Frames[next], f); what != "" {
				bad = fmt.Errorf("line %d: sequence %d, call %d: %s", next+2, t.Frames[next].Sequence, t.Frames[next].Call, what)
				return errCompared
			}
			next++
			return nil
		})
		switch {
		case bad != nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !errors.Is(err, context.Canceled):
			return fmt.Errorf("%s: cannot be run again: %w", t.Path, err)
		case next < len(t.Frames):
			bad = fmt.Errorf("line %d: sequence %d, call %d does not recur", next+2, t.Frames[next].Sequence, t.Frames[next].Call)
		}
		if bad != nil {
			return exit.Invalidf("%s: %w", t.Path, bad)
		}
		part := ""
		if !whole {
			part = ", of a run that did not end"
		}
		fmt.Fprintf(s.Out, "%s: the same %d frames%s\n", t.Path, len(t.Frames), part)
	}
	return nil
}

// differs describes the difference of a frame from the one in the trace, "" for none.
func differs(was, is frame.Frame) string {
	for i := range min(len(was.Positions), len(is.Positions)) {
		if a, b := draw(was, i), draw(is, i); a != b {
			return a + ", now " + b
		}
	}
	// Texts depend on the tokenizer, which a run need not open.
	was.Pieces, is.Pieces, was.Seconds, is.Seconds = nil, nil, 0, 0
	for _, tokens := range slices.Concat(was.Alternatives, is.Alternatives) {
		for j := range tokens {
			tokens[j].Piece = ""
		}
	}
	if !reflect.DeepEqual(was, is) {
		return "its positions, time or end differ"
	}
	return ""
}

// draw describes the i-th draw of a frame, with all digits.
func draw(f frame.Frame, i int) string {
	if i >= len(f.LogP) {
		return fmt.Sprintf("position %d is given token %d", f.Positions[i], f.Tokens[i])
	}
	return fmt.Sprintf("position %d: token %d, log-probability %v", f.Positions[i], f.Tokens[i], f.LogP[i])
}
