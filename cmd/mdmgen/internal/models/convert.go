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

// Convert returns the command convert.
func Convert() *kit.Command {
	var out, format string
	var weights checkpoint.Weights
	dtype := graph.Float32
	force := false
	var overrides []string
	var runtime setup.Runtime
	set := append(kit.Set{
		setup.WeightsFlag(&weights), setup.FactsFlag(&overrides),
		setup.DtypeFlag(&dtype, "dtype", "how matrices are stored and multiplied, as `TYPE`"),
		kit.Text(&out, kit.Flag{Name: "output", Alias: "o", Category: kit.CatOutput, Writes: true, Usage: "write `FOLDER`, which must not exist"}),
		kit.Bool(&force, kit.Flag{Name: "force", Category: kit.CatOutput, Usage: "write even if the disk seems too small"}),
		runtime.OfflineFlag(),
	}, kit.Format(&format, "text", "json")...)
	return &kit.Command{
		Name:      "convert",
		Usage:     "write a checkpoint as an ONNX folder",
		Arguments: "MODEL",
		Description: "Reads a checkpoint (the name of a hub repository, a folder with config.json and weights, or a trainer's .ckpt or\n" +
			".pth file) and writes a folder with model.onnx, model.onnx_data, the tokenizer and, if rows can be kept between\n" +
			"calls, model_kept.onnx; docs/onnx.md lists inputs and outputs. Memory does not grow with the model. The folder\n" +
			"is written whole or not at all. Its mdmgen.manifest.json has digests, and it does not open if its weights or\n" +
			"graph change.",
		Flags: set,
		Run: func(ctx context.Context, s kit.Streams, args []string) error {
			w, err := convert(ctx, s, &runtime, args, out, weights, overrides, graph.Options{Dtype: dtype, Force: force})
			if err != nil {
				return err
			}
			return kit.Print(s.Out, format, w, fmt.Sprintf("%s: %s, %s parameters as %s, %s\n", printable.String(w.Folder), w.Family, humanize.Comma(w.Parameters), w.Dtype, humanize.IBytes(w.Bytes)))
		},
	}
}

func convert(ctx context.Context, s kit.Streams, runtime *setup.Runtime, args []string, out string, weights checkpoint.Weights, overrides []string, o graph.Options) (w written, err error) {
	if len(args) != 1 {
		return w, exit.Usagef("convert: expected one folder, got %d arguments: mdmgen convert FOLDER -o NEW", len(args))
	}
	if out == "" {
		return w, exit.Usagef("convert: name the folder to write with -o")
	}
	if _, err := os.Lstat(out); err == nil {
		return w, fault.Usage("%v %s: exists already; name a folder that does not", kit.OutputTerm, out)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Clean(out))); err != nil {
		return w, fault.Advise("%v %s: cannot write there: %w", kit.OutputTerm, out, plainfile.Cause(err))
	}
	if err := o.Dtype.Check(); err != nil {
		return w, exit.Usagef("--dtype: %w", err)
	}
	override, err := setup.Overrides(overrides)
	if err != nil {
		return w, err
	}
	ref, err := setup.LocalFolder(ctx, s, runtime.Offline(), args[0], hub.Model)
	if err != nil {
		return w, err
	}
	ck, err := setup.OpenCheckpoint(ref, weights)
	if err != nil {
		return w, err
	}
	defer kit.Closing(ck, &err)
	f, err := ck.Undigested().Tell(setup.KnownFacts(args[0]))
	if err == nil {
		f, err = facts.Apply(ctx, f, "", override)
	}
	if err != nil {
		return w, fmt.Errorf("model %s: %w", args[0], err)
	}
	o.Facts = &f
	var end func()
	o.Watch, end = s.Watch()
	err = graph.Write(ctx, ck, o, out)
	end()
	if full := (*graph.DiskFullError)(nil); errors.As(err, &full) {
		return w, fmt.Errorf("%w; --force writes it anyway", err)
	}
	if err != nil {
		return w, err
	}
	w = written{convertSchema, out, f.Family, f.Parameters, 0, o.Dtype}
	files, err := os.ReadDir(out)
	for _, f := range files {
		if info, failed := f.Info(); failed == nil {
			w.Bytes += uint64(info.Size())
		}
	}
	return w, err
}
