package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/suggest"
	"mdmgen/samplers/catalog"
)

// Samplers returns the command samplers.
func Samplers() *kit.Command {
	format, all := "", false
	return &kit.Command{
		Name:      "samplers",
		Usage:     "describe each sampler: distribution, cost, likelihood, flags, settings",
		Arguments: "[SAMPLER]",
		Flags:     append(kit.Format(&format, "text", "json"), kit.Bool(&all, kit.Flag{Name: "all", Category: kit.CatOutput, Usage: "list all samplers, not only those to begin with; JSON always has all"})),
		Run:       func(_ context.Context, s kit.Streams, args []string) error { return describe(s, args, format, all) },
	}
}

func describe(s kit.Streams, args []string, format string, every bool) error {
	list := catalog.Descriptors()
	if len(args) == 1 {
		d, ok := catalog.Describe(args[0])
		if !ok {
			return exit.Usagef("samplers: no sampler is called %q%s", args[0], cmp.Or(suggest.Ending(args[0], catalog.Names()), "; `mdmgen samplers --all` lists them"))
		}
		list = []catalog.Descriptor{d}
	}
	type described struct {
		catalog.Descriptor
		Likelihood string `json:"likelihood"`
	}
	var all []described
	t := kit.NewTable(false)
	for _, d := range list {
		all = append(all, described{d, d.Likelihood()})
		if d.Common || every {
			t.Row(d.Name, "%s", d.Summary)
		}
	}
	text := whole(list[0])
	if len(args) == 0 {
		text = t.String() + "\n`mdmgen samplers NAME` describes one: distribution, cost, likelihood, flags, settings and source. With temperature,\n" +
			"truncation, guidance, suppressed or banned tokens, or a minimum length, it is that of another network; records say so.\n"
		if !every {
			text += fmt.Sprintf("`mdmgen samplers --all` lists all %d.\n", len(list))
		}
	}
	return kit.Print(s.Out, format, map[string]any{"schema": "mdmgen.samplers/1", "samplers": all}, text)
}

// whole returns all that is said of a sampler.
func whole(d catalog.Descriptor) string {
	var b strings.Builder
	head := d.Name
	if len(d.Aliases) > 0 {
		head += " (" + strings.Join(d.Aliases, ", ") + ")"
	}
	fmt.Fprintf(&b, "%s: %s\n", head, d.Summary)
	for _, p := range [][2]string{{"Distribution", d.Law}, {"Cost", d.Cost}, {"Likelihood", d.Likelihood()}, {"Source", d.Source}} {
		fmt.Fprintf(&b, "\n%s\n%s", p[0], kit.Wrap(p[1], kit.Width, "  "))
	}
	b.WriteString("\nFlags\n")
	var sampler setup.Sampler
	for _, f := range append(sampler.Flags(), sampler.CallFlags()...) {
		if slices.Contains(d.Flags, f.Name) {
			b.WriteString("  " + kit.Wrap(f.Form()+": "+f.Plain(), kit.Width, "    ")[4:])
		}
	}
	return b.String()
}
