package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/printable"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/hub"
	"mdmgen/model/ort"
)

// convertSchema names the layout of convert's record.
const convertSchema = "mdmgen.convert/1"

// written is the output of convert.
type written struct {
	Schema     string `json:"schema"`
	Folder     string `json:"folder"`
	Family     string `json:"family"`
	Parameters int64  `json:"parameters"`
	Bytes      uint64 `json:"bytes"`
	// Dtype is the type of the weights in the folder.
	Dtype graph.Dtype `json:"dtype"`
}

// converting holds the flags of convert.
type converting struct {
	out, format string
	weights     checkpoint.Weights
	graph.Options
	overrides []string
	runtime   setup.Runtime
}

// Convert returns the command convert.
func Convert() *kit.Command {
	o := &converting{Options: graph.Options{Dtype: graph.Float32}}
	set := append(kit.Set{
		setup.WeightsFlag(&o.weights), setup.FactsFlag(&o.overrides),
		setup.DtypeFlag(&o.Dtype, "dtype", "how matrices are stored and multiplied, as `TYPE`"),
		kit.Text(&o.out, kit.Flag{Name: "output", Alias: "o", Category: kit.CatOutput, Writes: true, Usage: "write `FOLDER`, which must not exist"}),
		kit.Bool(&o.Force, kit.Flag{Name: "force", Category: kit.CatOutput, Usage: "write even if the disk seems too small"}),
		o.runtime.LibraryFlag(), o.runtime.OfflineFlag(),
	}, kit.Format(&o.format, "text", "json")...)
	return &kit.Command{
		Name:      "convert",
		Usage:     "write a checkpoint as an ONNX folder",
		Arguments: "MODEL",
		Description: "Reads a checkpoint (the name of a hub repository, a folder with config.json and weights, or a trainer's .ckpt or\n" +
			".pth file) and writes a folder with model.onnx, model.onnx_data, the tokenizer and, if rows can be kept between\n" +
			"calls, model_kept.onnx; docs/onnx.md lists inputs and outputs. Memory does not grow with the model, but\n" +
			"BERT in int8 runs once, as float32. The folder is written whole or not at all. Its mdmgen.manifest.json has\n" +
			"digests, and it does not open if its weights or graph change.",
		Flags: set,
		Run: func(ctx context.Context, s kit.Streams, args []string) error {
			search, err := o.runtime.Fetching(s, set)
			if err != nil {
				return err
			}
			o.Survey = ort.Config{Search: search}.Survey
			return o.run(ctx, s, args)
		},
	}
}

func (o *converting) run(ctx context.Context, s kit.Streams, args []string) (err error) {
	if len(args) != 1 {
		return exit.Usagef("convert: expected one folder, got %d arguments: mdmgen convert FOLDER -o NEW", len(args))
	}
	if o.out == "" {
		return exit.Usagef("convert: name the folder to write with -o")
	}
	if _, err := os.Lstat(o.out); err == nil {
		return fault.Usage("%v %s: exists already; name a folder that does not", kit.OutputTerm, o.out)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Clean(o.out))); err != nil {
		return fault.Advise("%v %s: cannot write there: %w", kit.OutputTerm, o.out, plainfile.Cause(err))
	}
	if err := o.Dtype.Check(); err != nil {
		return exit.Usagef("--dtype: %w", err)
	}
	override, err := setup.Overrides(o.overrides)
	if err != nil {
		return err
	}
	ref, err := setup.LocalFolder(ctx, s, o.runtime.Offline(), args[0], hub.Model)
	if err != nil {
		return err
	}
	ck, err := setup.OpenCheckpoint(ref, o.weights)
	if err != nil {
		return err
	}
	defer kit.Closing(ck, &err)
	f, err := ck.Undigested().Tell(setup.KnownFacts(args[0]))
	if err == nil {
		f, err = facts.Apply(ctx, f, "", override)
	}
	if err != nil {
		return fmt.Errorf("model %s: %w", args[0], err)
	}
	o.Facts = &f
	var end func()
	o.Watch, end = s.Watch()
	err = graph.Write(ctx, ck, o.Options, o.out)
	end()
	if full := (*graph.DiskFullError)(nil); errors.As(err, &full) {
		return fmt.Errorf("%w; --force writes it anyway", err)
	}
	if err != nil {
		return err
	}
	files, err := os.ReadDir(o.out)
	if err != nil {
		return err
	}
	w := written{convertSchema, o.out, f.Family, f.Parameters, 0, o.Dtype}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			w.Bytes += uint64(info.Size())
		}
	}
	return kit.Print(s.Out, o.format, w, fmt.Sprintf("%s: %s, %s parameters as %s, %s\n", printable.String(w.Folder), w.Family, humanize.Comma(w.Parameters), w.Dtype, humanize.IBytes(w.Bytes)))
}
