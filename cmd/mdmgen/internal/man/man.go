// Package man is the command that prints the manual.
package man

import (
	"context"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"

	"github.com/urfave/cli/v2"
)

// options are the flags.
type options struct {
	format, output string
	all            flags.Set
}

func (o *options) flags() flags.Set {
	o.all = append(flags.Format(&o.format, "roff", "markdown"),
		flags.Name(&o.output, "name a folder", flags.Flag{Name: "output", Alias: "o", Category: flags.CatOutput, Writes: true, Usage: "write a page for each command into the folder `DIR`, which is made where there is none"}))
	o.all.Find("format").Usage = "`FORMAT` of the page: roff for man, or markdown, one page of all commands"
	return o.all
}

// Command is the command man.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command",
		ArgsUsage: "[COMMAND]",
		Description: "mdmgen man generate | man -l -\n" +
			"mdmgen man --output ~/.local/share/man/man1\n\n" +
			"Prints a page for man. With --output all pages are written, mdmgen.1 and one for each command; with --format\n" +
			"markdown the same is printed as one Markdown page.",
		Flags:  o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return manual(ctx, s, o, args) }),
	}
}

func manual(ctx context.Context, s kit.Streams, o *options, args []string) error {
	if err := kit.AtMostOne("man", args, "name one command"); err != nil {
		return err
	}
	pages, command := pagesOf(s.App), strings.Join(args, "")
	one := slices.IndexFunc(pages, func(p manPage) bool { return p.command == command })
	if one < 0 {
		return exit.Usagef("man: no command is called %q; `mdmgen --help` lists the commands", command)
	}
	markdown := o.format == "markdown"
	if markdown && o.output != "" {
		if err := o.all.LeaveOut(exit.Usagef("--format markdown is one page: it does not go with --output"), "format", "output"); err != nil {
			return err
		}
		markdown = o.format == "markdown"
	}
	switch {
	case command == "" && markdown:
		return writeMarkdown(s.Out, pages)
	case command == "" && o.output != "":
		return writePages(ctx, o.output, pages)
	case o.all.Given("format") && markdown, o.all.Given("output"):
		return exit.Usagef("man: --output and --format markdown are for all pages; leave %s out", command)
	}
	return writeRoff(s.Out, pages[one])
}
