// Package man is the command that prints the manual.
package man

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/cli/exit"
	"mdmgen/internal/cli/flags"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/plainfile"

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
		return exit.Usagef("man: no command is called %q", command)
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

// manPage is what the manual says of the program, or of a command.
type manPage struct {
	// command is "" for the program.
	command, usage, synopsis string
	// paragraphs are the description; examples command lines.
	paragraphs, examples []string
	groups               []flagGroup
	// list are the commands, of the program's page alone.
	list []*cli.Command
}

// flagGroup are the flags of a category, in the order in which the command has them.
type flagGroup struct {
	category string
	flags    []flagHelp
}

// flagHelp is a flag as it is typed, and what its help says.
type flagHelp struct{ typed, text, otherwise string }

// pagesOf are the pages of the program and its commands.
func pagesOf(app *cli.App) []manPage {
	first := manPage{usage: app.Usage, synopsis: "mdmgen COMMAND [FLAGS] [ARGUMENTS]", list: app.Commands}
	first.describe(app.Description)
	first.paragraphs = append(first.paragraphs, "Flags and arguments of a command may stand in any order; what follows -- is an argument.")
	pages := []manPage{first}
	for _, c := range app.Commands {
		p := manPage{command: c.Name, usage: c.Usage, synopsis: strings.TrimSpace("mdmgen " + c.Name + " [FLAGS] " + strings.TrimSpace(c.ArgsUsage))}
		p.describe(c.Description)
		for _, f := range flags.Of(c) {
			p.add(f)
		}
		pages = append(pages, p)
	}
	return pages
}

// describe divides a description into paragraphs and the commands that stand first as examples.
func (p *manPage) describe(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if i == 0 && !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "mdmgen ") && !strings.HasPrefix(l, "source ") }) {
			p.examples = lines
		} else if strings.HasPrefix(paragraph, kit.Indent) {
			p.paragraphs = append(p.paragraphs, paragraph)
		} else if paragraph != "" {
			p.paragraphs = append(p.paragraphs, strings.Join(lines, " "))
		}
	}
}

func (p *manPage) add(f *flags.Flag) {
	var names []string
	for _, name := range f.Names() {
		names = append(names, flags.Dashed(name))
	}
	h := flagHelp{typed: strings.Join(names, ", "), text: f.Plain()}
	if f.Takes() {
		h.typed += " " + cmp.Or(f.ValueName(), "VALUE")
		h.otherwise = f.GetDefaultText()
	}
	category := f.Category
	i := slices.IndexFunc(p.groups, func(g flagGroup) bool { return g.category == category })
	if i < 0 {
		i = len(p.groups)
		p.groups = append(p.groups, flagGroup{category: category})
	}
	p.groups[i].flags = append(p.groups[i].flags, h)
}

// name is the page's, as man finds it.
func (p manPage) name() string { return strings.TrimSuffix("mdmgen-"+p.command, "-") }

// writePages writes each page into a file of its own.
func writePages(ctx context.Context, dir string, pages []manPage) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--output %s: %w", dir, plainfile.Cause(err))
	}
	for _, p := range pages {
		out, err := kit.NewOutput(ctx, "--output", filepath.Join(dir, p.name()+".1"), nil)
		if err != nil {
			return err
		}
		defer out.Discard()
		if err := writeRoff(out, p); err != nil {
			return err
		}
		if err := out.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// roff escapes a text: a backslash and a point or quote at the beginning of a line mean
// something there, and a plain - may be broken or drawn as a hyphen.
var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// escaped is a text for roff.
func escaped(text string) string { return strings.TrimPrefix(roff.Replace("\n"+text), "\n") }

// writeRoff writes a page for man.
func writeRoff(w io.Writer, p manPage) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q \"User Commands\"\n", strings.ToUpper(p.name()), "mdmgen "+kit.Version())
	// Not hyphenated, and ragged: names and flags stay whole.
	fmt.Fprintf(&b, ".nh\n.ad l\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", escaped(p.name()), escaped(p.usage), escaped(p.synopsis))
	for i, paragraph := range p.paragraphs {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, kit.Indent) {
			paragraph = ".nf\n" + escaped(paragraph) + "\n.fi"
		} else {
			paragraph = escaped(paragraph)
		}
		b.WriteString(paragraph + "\n")
	}
	if len(p.list) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range p.list {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escaped(c.Name), escaped(c.Usage))
		}
	}
	for _, g := range p.groups {
		fmt.Fprintf(&b, ".SH FLAGS: %s\n", strings.ToUpper(escaped(g.category)))
		for _, f := range g.flags {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escaped(f.typed), escaped(f.sentence()))
		}
	}
	if len(p.examples) > 0 {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for _, e := range p.examples {
			b.WriteString(escaped(e) + "\n")
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH SEE ALSO\n")
	if p.command != "" {
		b.WriteString(".BR mdmgen (1)\n")
	}
	for i, c := range p.list {
		end := ","
		if i == len(p.list)-1 {
			end = ""
		}
		fmt.Fprintf(&b, ".BR mdmgen\\-%s (1)%s\n", escaped(c.Name), end)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence is a flag's help with its default.
func (f flagHelp) sentence() string {
	if f.otherwise == "" {
		return f.text
	}
	return f.text + " (default: " + f.otherwise + ")"
}

// markdown escapes what Markdown would take for its own.
var markdown = strings.NewReplacer("*", `\*`, "<", `\<`, "|", `\|`, "[", `\[`)

// writeMarkdown writes all pages as one.
func writeMarkdown(w io.Writer, pages []manPage) error {
	var b strings.Builder
	b.WriteString("<!-- Written by go generate ./builtin: it is what the program's own help says. -->\n# The command line\n")
	for _, p := range pages {
		if p.command != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s.\n", p.command, markdown.Replace(upperFirst(p.usage)))
		}
		fmt.Fprintf(&b, "\n    %s\n", p.synopsis)
		if len(p.examples) > 0 {
			fmt.Fprintf(&b, "\nFor example\n\n    %s\n", strings.Join(p.examples, "\n    "))
		}
		for _, paragraph := range p.paragraphs {
			if !strings.HasPrefix(paragraph, kit.Indent) {
				paragraph = markdown.Replace(paragraph)
			}
			fmt.Fprintf(&b, "\n%s\n", paragraph)
		}
		if len(p.list) > 0 {
			b.WriteString("\n| command | |\n| --- | --- |\n")
			for _, c := range p.list {
				fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.Name, c.Name, markdown.Replace(c.Usage))
			}
		}
		groups := p.groups
		if p.command == "" {
			groups = pages[1].groups
			b.WriteString("\nEvery command has:\n")
		}
		for _, g := range groups {
			if (g.category == flags.CatGeneral) != (p.command == "") {
				continue // they are the same for all commands
			}
			fmt.Fprintf(&b, "\n| %s | | default |\n| --- | --- | --- |\n", g.category)
			for _, f := range g.flags {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(f.typed, "|", `\|`), markdown.Replace(f.text), markdown.Replace(f.otherwise))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// upperFirst writes the first letter large.
func upperFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
