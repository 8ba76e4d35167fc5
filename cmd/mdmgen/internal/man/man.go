// Package man is the command that prints the manual, and the help of all commands.
package man

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
)

// Command is the command man.
func Command(s kit.Streams) *cli.Command {
	format := ""
	set := flags.Format(&format, "roff", "markdown")
	set.Find("format").Usage = "`FORMAT` of the page: roff for man, or markdown"
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command",
		ArgsUsage: "[COMMAND]",
		Description: "mdmgen man generate | man -l -\n" +
			"mdmgen man generate > ~/.local/share/man/man1/mdmgen-generate.1\n\n" +
			"Prints a page for man, or for readers of Markdown, where the page of the program has all commands.",
		Flags: set.CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error {
			if err := kit.AtMostOne("man", args, "name one command"); err != nil {
				return err
			}
			text, err := manual(s.App, strings.Join(args, ""), format == "markdown")
			if err != nil {
				return err
			}
			_, err = io.WriteString(s.Out, text)
			return err
		}),
	}
}

// manual is the page of a command, or of the program where command is "".
func manual(app *cli.App, command string, markdown bool) (string, error) {
	c := app.Command(command)
	switch {
	case c == nil && command != "":
		return "", exit.Usagef("man: no command is called %q; `mdmgen --help` lists the commands", command)
	case markdown && c != nil:
		return section(app, c), nil
	}
	p := pageOf(app, c)
	var commands, sections strings.Builder
	if c == nil {
		for _, c := range app.Commands {
			name := "**mdmgen-" + c.Name + "**(1)"
			if markdown {
				name = fmt.Sprintf("[%s](#%[1]s)", c.Name)
			}
			fmt.Fprintf(&commands, "- %s: %s\n", name, marks.Replace(c.Usage))
			sections.WriteString(section(app, c))
		}
	}
	if markdown {
		return "<!-- Written by go generate ./builtin: it is the program's own help. -->\n# The command line\n" + p.markdown("##") +
			"\nWords are in the [glossary](glossary.md). The commands are:\n\n" + commands.String() + sections.String(), nil
	}
	name := strings.ReplaceAll(p.name, " ", "-")
	title := fmt.Sprintf("# %s 1 \"\" %q \"User Commands\"\n\n## NAME\n\n%s - %s\n\n## SYNOPSIS\n", strings.ToUpper(name), "mdmgen "+kit.Version(), name, p.usage)
	return string(md2man.Render([]byte(title + p.markdown("##") + "\n" + commands.String()))), nil
}

// section is a command's part of the reference.
func section(app *cli.App, c *cli.Command) string {
	p := pageOf(app, c)
	return fmt.Sprintf("\n## %s\n\n%s%s.\n%s", c.Name, strings.ToUpper(p.usage[:1]), marks.Replace(p.usage[1:]), p.markdown("###"))
}
