package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/samplers"
)

func samplersCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "samplers",
		Usage:     "list the samplers with their laws, costs, flags and sources",
		ArgsUsage: "[NAME]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}},
		Action:    func(c *cli.Context) error { return describeSamplers(c, s) },
	}
}

func describeSamplers(c *cli.Context, s streams) error {
	list := samplers.Descriptors()
	if c.NArg() > 1 {
		return usagef("samplers: expected one name, got %d arguments", c.NArg())
	}
	if c.NArg() == 1 {
		d, ok := samplers.Describe(c.Args().First())
		if !ok {
			return usagef("samplers: no sampler is called %q; `mdmgen samplers` lists them", c.Args().First())
		}
		list = []samplers.Descriptor{d}
	}
	if c.Bool("json") {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"schema": "mdmgen.samplers/1", "samplers": list})
	}
	if c.NArg() == 1 {
		return printSampler(s, list[0])
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, d := range list {
		fmt.Fprintf(t, "%s\t%s\n", d.Name, d.Summary)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, "\n`mdmgen samplers NAME` tells one's law, cost, flags and source.")
	return err
}

// width is that of a terminal on which a paragraph reads well.
const width = 90

func printSampler(s streams, d samplers.Descriptor) error {
	var b strings.Builder
	head := d.Name
	if len(d.Aliases) > 0 {
		head += " (" + strings.Join(d.Aliases, ", ") + ")"
	}
	fmt.Fprintf(&b, "%s: %s\n", head, d.Summary)
	for _, p := range [][2]string{{"Law", d.Law}, {"Cost", d.Cost}, {"Source", d.Source}, {"Flags", "--" + strings.Join(d.Flags, " --")}} {
		fmt.Fprintf(&b, "\n%s\n%s", p[0], wrap(p[1], width, "  "))
	}
	_, err := fmt.Fprint(s.out, b.String())
	return err
}

// wrap breaks a paragraph into lines of at most n characters, each indented.
func wrap(text string, n int, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > n {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}
