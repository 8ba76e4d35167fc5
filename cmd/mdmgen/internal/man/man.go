// Package man is the command that prints the manual, and the help of all commands.
package man

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
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
		Description: "mdmgen man generate\n" +
			"mdmgen man generate > ~/.local/share/man/man1/mdmgen-generate.1\n\n" +
			"Opens the page with man at a terminal, and prints it elsewhere or with --format: for man, or for readers of Markdown,\n" +
			"where the page of the program has all commands.",
		Flags: set.CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error {
			if err := kit.AtMostOne("man", args, "name one command"); err != nil {
				return err
			}
			command := strings.Join(args, "")
			text, err := manual(s.App, command, format == "markdown")
			if err != nil {
				return err
			}
			if !set.IsSet("format") && kit.IsTerminal(s.Out) {
				if pager, err := exec.LookPath("man"); err == nil {
					return open(s, pager, text)
				}
				return Help(s.Out, s.App, s.App.Command(command), true)
			}
			_, err = io.WriteString(s.Out, text)
			return err
		}),
	}
}

// open shows a page with the system's program for it, which has the terminal and its Ctrl-C.
func open(s kit.Streams, pager, text string) error {
	dir, err := os.MkdirTemp("", "mdmgen-man-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	page := filepath.Join(dir, "mdmgen.1")
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt)
	defer signal.Reset(os.Interrupt)
	cmd := exec.Command(pager, page)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, s.Out.W, s.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("man: %s: %w: --format roff prints the page", pager, err)
	}
	return nil
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
