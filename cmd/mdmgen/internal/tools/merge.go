package tools

import (
	"context"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/internal/exit"
)

// merger prints the results of a run as its command does. format is "" for the format of the parts.
type merger func(ctx context.Context, p *chunks.Parts, format string, out *kit.Output) error

// mergers maps the schemas of parts to their commands.
var mergers = map[string]struct {
	command string
	print   merger
}{
	bound.Schema:         {"bound", bound.Merge},
	generate.ChunkSchema: {"generate", generate.Merge},
	score.Schema:         {"score", score.Merge},
}

// merging holds the flags of merge.
type merging struct {
	format, output string
	force          bool
	all            kit.Set
}

func (o *merging) flags() kit.Set {
	o.all = kit.Set{
		kit.Words(&o.format, []string{"text", "ids", "json", "jsonl"}, kit.Flag{Name: "format", Category: kit.CatOutput, Default: "the parts' format", Usage: "write `FORMAT`: text, ids, json or jsonl, whichever the command has"}),
		kit.OutputFlag(&o.output),
		kit.Bool(&o.force, kit.Flag{Name: "force", Category: kit.CatOutput, Usage: "merge parts even if machine, device or build differ; the record lists the differences"}),
	}
	return o.all
}

// Merge returns the command merge.
func Merge() *kit.Command {
	o := &merging{}
	return &kit.Command{
		Name:      "merge",
		Usage:     "merge the parts that --shard wrote",
		Arguments: "PARTS…",
		Description: "mdmgen score long.txt --seed 1 --shard 1/2 --format json -o part-1.jsonl\n" +
			"mdmgen score long.txt --seed 1 --shard 2/2 --format json -o part-2.jsonl\n" +
			"mdmgen merge part-*.jsonl -o result.json\n\n" +
			"Prints what a single process would have printed for the whole run, byte for byte except times, in the format of\n" +
			"the parts or of --format. It reads neither model nor input.\n\n" +
			"All parts must belong to one run: the same model, input, settings and seed, from the same build, on the same\n" +
			"kind of device and CPU, with the same number of threads. A finished file of --resume is a part with the whole\n" +
			"run.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

func (o *merging) run(ctx context.Context, s kit.Streams, paths []string) error {
	if len(paths) == 0 {
		return exit.Usagef("merge: name the parts, as in `mdmgen merge part-1.jsonl part-2.jsonl`")
	}
	if err := o.all.Apart("merge", paths, kit.NamedFile{Flag: "the record beside -o", Path: generate.Beside(o.output)}); err != nil {
		return err
	}
	parts, err := chunks.Read(s, paths, o.force)
	if err != nil {
		return err
	}
	defer parts.Close()
	m, ok := mergers[parts.Schema]
	if !ok {
		return chunks.OtherVersion(paths[0])
	}
	formats := s.App.Find(m.command).Flags.Find("format").Words
	if o.format != "" && !slices.Contains(formats, o.format) {
		return exit.Usagef("merge: the format %s: %s has %s", o.format, m.command, strings.Join(formats, ", "))
	}
	return m.print(ctx, parts, o.format, s.Results)
}
