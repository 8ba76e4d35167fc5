// Package show is the command that tells what a checkpoint is.
package show

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/cli/flags"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/cli/setup"
	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
)

// schema names the layout of show's record.
const schema = "mdmgen.show/1"

// shown is what show prints.
type shown struct {
	Schema string      `json:"schema"`
	Facts  model.Facts `json:"facts"`
	// Used counts the tensors of the files that fill a parameter or table of the network, each
	// one; Unused names the others.
	Used    int      `json:"used"`
	Unused  []string `json:"unused"`
	Tensors []tensor `json:"tensors,omitempty"`
}

// tensor is a tensor of a checkpoint's files.
type tensor struct {
	Name  string           `json:"name"`
	Dtype checkpoint.Dtype `json:"dtype"`
	Shape []int            `json:"shape"`
	// Parameter is what it fills, "" where it is not used.
	Parameter string `json:"parameter,omitempty"`
}

// Command is the command show.
func Command(s kit.Streams) *cli.Command {
	var weights checkpoint.Weights
	var tensors bool
	var format string
	set := append(flags.Set{
		setup.WeightsFlag(&weights),
		flags.Bool(&tensors, flags.Flag{Name: "tensors", Category: flags.CatOutput, Usage: "list every tensor of the files, too"}),
	}, flags.Format(&format, "text", "json")...)
	return &cli.Command{
		Name:      "show",
		Usage:     "show what a checkpoint is, and which of its tensors are used",
		ArgsUsage: "[MODEL]",
		Description: "Prints the facts of a checkpoint and how many tensors of its files the network has; every other tensor\n" +
			"is unused, and none is used twice. With --tensors each is listed: name, type, shape and the parameter that\n" +
			"it fills, or unused. No network runs.",
		Flags: set.CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if err := kit.AtMostOne("show", args, "name one model"); err != nil {
				return err
			}
			ref := setup.BuiltinName
			if len(args) == 1 {
				ref = args[0]
			}
			w, err := show(ctx, ref, weights)
			if err != nil {
				return err
			}
			if !tensors {
				w.Tensors = nil
			}
			if format == "json" {
				return kit.JSON(s.Out, w)
			}
			return printShown(s.Out, w)
		}),
	}
}

func show(ctx context.Context, ref string, weights checkpoint.Weights) (w shown, err error) {
	ck, err := setup.OpenCheckpoint(ref, weights)
	if err != nil {
		return w, err
	}
	defer kit.Closing(ck, &err)
	ck.Stamps = ort.Stamps(false)
	w = shown{Schema: schema, Unused: []string{}}
	if w.Facts, err = ck.Facts(ctx); err != nil {
		return w, err
	}
	for _, e := range ck.Entries() {
		w.Tensors = append(w.Tensors, tensor{e.Name, e.Dtype, e.Shape, e.Parameter})
		if e.Parameter == "" {
			w.Unused = append(w.Unused, e.Name)
		} else {
			w.Used++
		}
	}
	return w, nil
}

func printShown(out io.Writer, w shown) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, printable.String(fmt.Sprintf(format, args...)))
	}
	f := w.Facts
	row("name", "%s", f.Name)
	row("family", "%s", f.Family)
	row("columns", "%d, MASK is %d", f.Columns, f.MaskID)
	row("length", "%d", f.Length)
	row("time-conditioned", "%v", f.TimeConditioned)
	row("noise", "%s", f.Noise)
	row("parameters", "%s, %s", humanize.Comma(f.Parameters), f.Dtype)
	if f.Weights != "" {
		row("weights", "%s", f.Weights)
	}
	row("digest", "%s", f.Digest)
	row("tensors", "%d used, %d unused", w.Used, len(w.Unused))
	for _, x := range w.Tensors {
		use := "unused"
		if x.Parameter != "" {
			use = "fills " + x.Parameter
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", printable.String(x.Name), x.Dtype, strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ","), use)
	}
	return t.Flush()
}
