// Package replay is the command that shows traces of generate as a page or an animated picture, and
// compares them with the same runs repeated.
package replay

import (
	"context"
	"path/filepath"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/internal/exit"
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
