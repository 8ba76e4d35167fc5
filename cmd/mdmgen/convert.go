package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
)

func convertCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "convert",
		Usage:     "write a checkpoint as an ONNX folder",
		ArgsUsage: "DIR",
		Description: "Reads the MDLM, RADD or SEDD checkpoint in DIR (config.json, model.safetensors) and writes a folder\n" +
			"with model.onnx, model.onnx_data and the tokenizer, which any ONNX Runtime opens: inputs input_ids\n" +
			"[B,L], positions [B,K] and, for a time-conditioned network, sigma [B], and for each of three heads a list,\n" +
			"which may be empty, of the wanted rows that it takes: take_rows gives logits [R,V], take_given with\n" +
			"targets [G] log_mu and log_mass [G], which is what score asks for, take_best a token drawn with uniforms\n" +
			"[M], its log-probability, the best few tokens and the entropy.\n" +
			"The folder is written whole or not at all, with mdmgen.manifest.json, which says what its files hold: a\n" +
			"folder whose weights or graph were changed afterwards is not opened.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FOLDER` to write (must not exist)"},
		},
		Action: func(c *cli.Context) error { return convert(c, s) },
	}
}

func convert(c *cli.Context, s streams) (err error) {
	if c.NArg() != 1 {
		return usagef("convert: expected one folder, got %d arguments", c.NArg())
	}
	out := c.String("output")
	if out == "" {
		return usagef("convert: name the folder to write with -o")
	}
	if _, err := os.Lstat(out); err == nil {
		return usagef("-o %s: exists already; name a folder that does not", out)
	}
	ref := c.Args().First()
	ck, err := openCheckpoint(ref)
	if err != nil {
		return err
	}
	defer closing(ck, &err)
	if err := graph.Write(c.Context, ck, out); err != nil {
		return err
	}
	f, err := ck.Facts(c.Context)
	if err != nil {
		return err
	}
	size, err := folderSize(out)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: %s, %s parameters, %s\n", printable.String(out), f.Family, humanize.Comma(f.Parameters), humanize.IBytes(size))
	return nil
}

// openCheckpoint opens the checkpoint that ref names, for a command that reads
// no other kind of model.
func openCheckpoint(ref string) (*checkpoint.Checkpoint, error) {
	kind, path, err := model.Resolve(ref, builtins())
	if err != nil {
		return nil, err
	}
	switch kind {
	case model.KindBuiltin:
		return checkpoint.OpenFS(builtins()[0].FS, ref)
	case model.KindCheckpoint:
		return checkpoint.Open(path)
	}
	return nil, fmt.Errorf("%s: is not a checkpoint: expected a folder with config.json and model.safetensors", strings.TrimSuffix(ref, string(filepath.Separator)))
}

// folderSize adds up the files of a folder, in bytes.
func folderSize(dir string) (uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		n += uint64(info.Size())
	}
	return n, nil
}
