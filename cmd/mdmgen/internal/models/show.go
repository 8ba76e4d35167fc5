package models

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/printable"
	"mdmgen/model"
)

// showing holds the flags of show.
type showing struct {
	model   setup.Model
	tensors bool
	format  string
	all     kit.Set
}

// shown is the record of show.
type shown struct {
	Schema string `json:"schema"`
	// Reference is the requested name, with the commit for a name on the hub.
	Reference string `json:"reference"`
	model.Description
	// Profile is the cached file with the network's Interactions, omitted if there is none.
	Profile      string               `json:"profile,omitempty"`
	Interactions *interaction.Profile `json:"interactions,omitempty"`
}

// Show returns the command show.
func Show() *kit.Command {
	o := &showing{}
	o.all = append(append(o.model.FileFlags(),
		kit.Bool(&o.tensors, kit.Flag{Name: "tensors", Category: kit.CatOutput, Usage: "also list the name, type and shape of each tensor; for an ONNX graph, its inputs and outputs"}),
	), kit.Format(&o.format, "text", "json")...)
	return &kit.Command{
		Name:      "show",
		Usage:     "describe a model: facts, digest, files and tensors",
		Arguments: "[MODEL]",
		Description: "Prints the model's facts (after --fact and --sidecar), its digest and files, and how many tensors of a\n" +
			"checkpoint fill a parameter of the network. It runs and fetches nothing. MODEL is as for --model.",
		Flags: o.all,
		Run:   o.run,
	}
}

func (o *showing) run(ctx context.Context, s kit.Streams, _ []string) error {
	d, err := o.model.Describe(ctx)
	if err != nil {
		return err
	}
	if !o.tensors {
		d.Tensors = nil
	}
	out := shown{Schema: "mdmgen.show/1", Reference: o.model.Ref, Description: d}
	if in, path := setup.KeptInteractions(ctx, d.Facts.Digest, d.Facts.Digested()); in != nil {
		out.Interactions, out.Profile = in, path
	}
	return kit.Print(s.Out, o.format, out, out.text())
}

func (d *shown) text() string {
	f, t := d.Facts, kit.NewTable(false)
	row := t.Row
	row("model", "%s", d.Reference)
	row("kind", "%s", d.Kind)
	row("family", "%s", f.Family)
	parameters := "unknown"
	if f.Parameters > 0 {
		parameters = humanize.Comma(f.Parameters)
	}
	row("parameters", "%s", parameters)
	row("columns", "%d, of which %d are tokens", f.Columns, f.Columns-len(f.Excluded()))
	row("mask id", "%d", f.MaskID)
	length := "at most"
	if f.FixedLength {
		length = "exactly"
	}
	row("length", "%s %d positions", length, f.Length)
	if f.Frame != nil {
		row("frame", "id %d before every text and %d after it", f.Frame[0], f.Frame[1])
	}
	row("noise", "%s", f.Noise)
	row("time conditioned", "%t", f.TimeConditioned)
	row("shifted", "%t", f.Shift)
	if f.Causal {
		row("causal", "and in blocks, of %d positions in training", f.BlockSize)
	} else if f.BlockSize > 0 {
		row("block-causal", "in blocks of %d positions", f.BlockSize)
	}
	row("output", "%s", f.Output)
	if f.Decoder != "" {
		row("answers by", "%s", f.Decoder)
	}
	row("dtype", "%s", cmp.Or(f.Dtype, "unknown"))
	row("digest", "%s", f.Digest)
	for _, file := range d.Files {
		row("file", "%s, %s", file.Name, humanize.IBytes(uint64(file.Bytes)))
	}
	if f.Weights != "" {
		row("weights", "%s", f.Weights)
	}
	if in := d.Interactions; in != nil {
		row("interactions", "%.2g nats between neighbours, %.2g at distance 8, %.2g at 64, half of the positions masked", in.At(0.5, 1), in.At(0.5, 8), in.At(0.5, 64))
		row("measured", "%s; asymmetry %s", in, in.Asymmetry)
		row("profile", "%s", d.Profile)
	}
	if d.Kind == "checkpoint" {
		row("tensors", "%d used, %d unused", d.Used, len(d.Unused))
	}
	t.Break()
	for _, x := range d.Tensors {
		use := x.Role
		if x.Parameter != "" {
			use = "fills " + x.Parameter
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", printable.String(x.Name), x.Dtype, strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ","), use)
	}
	return t.String()
}
