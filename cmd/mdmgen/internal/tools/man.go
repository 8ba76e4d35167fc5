package tools

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/samplers/catalog"
)

// Man returns the command man.
func Man() *kit.Command {
	format := ""
	set := kit.Format(&format, "roff", "markdown")
	set.Find("format").Usage = "`FORMAT` of the page: roff for man, or markdown"
	return &kit.Command{
		Name:      "man",
		Usage:     "print the manual page of the program or of a command",
		Arguments: "[COMMAND]",
		Description: "mdmgen man generate --format roff | man -l -\n" +
			"mdmgen man generate > ~/.local/share/man/man1/mdmgen-generate.1\n\n" +
			"Prints the page for man, or in Markdown; the program's page in Markdown has all commands. On a terminal, without\n" +
			"--format, it prints the complete help.",
		Flags: set,
		Run: func(_ context.Context, s kit.Streams, args []string) error {
			command := strings.Join(args, "")
			text, err := manual(s.App, command, format == "markdown")
			if err != nil {
				return err
			}
			if !set.Given("format") && kit.IsTerminal(s.Out) {
				return Help(s.Out, s.App, s.App.Find(command), true)
			}
			_, err = io.WriteString(s.Out, text)
			return err
		},
	}
}

// manual returns the page of a command, or of the program if command is "".
func manual(app *kit.App, command string, markdown bool) (string, error) {
	c := app.Find(command)
	switch {
	case c == nil && command != "":
		return "", exit.Usagef("man: no command is called %q; `mdmgen --help` lists the commands", command)
	case markdown && c != nil:
		return section(app, c, make(map[string]bool)), nil
	}
	p, written := pageOf(app, c), make(map[string]bool)
	text := p.markdown(top, written)
	var commands, sections strings.Builder
	if c == nil {
		commands.WriteString("\n## Commands\n\n")
		if markdown {
			commands.WriteString("Words are in the [glossary](glossary.md). A flag or setting of several commands is described with the first.\n" +
				"A command has the settings of its samplers and of its models.\n\n")
		}
		for _, c := range app.Commands {
			name := "**mdmgen-" + c.Name + "**(1)"
			if markdown {
				name = fmt.Sprintf("[%s](#%[1]s)", c.Name)
			}
			fmt.Fprintf(&commands, "- %s: %s\n", name, marks.Replace(c.Usage))
			sections.WriteString(section(app, c, written))
		}
	}
	if markdown {
		return "<!-- Written by go generate ./builtin: it is the program's own help. -->\n# The command line\n" + text + commands.String() + sections.String(), nil
	}
	name := strings.ReplaceAll(p.name, " ", "-")
	title := fmt.Sprintf("# %s 1 \"\" %q \"User Commands\"\n\n## NAME\n\n%s - %s\n\n## SYNOPSIS\n", strings.ToUpper(name), "mdmgen "+kit.Version(), name, p.usage)
	return string(md2man.Render([]byte(title + text + commands.String()))), nil
}

// section returns a command's section of the reference, and adds its flags to those written.
func section(app *kit.App, c *kit.Command, written map[string]bool) string {
	p := pageOf(app, c)
	return fmt.Sprintf("\n## %s\n\n%s%s.\n%s", c.Name, strings.ToUpper(p.usage[:1]), marks.Replace(p.usage[1:]), p.markdown("###", written))
}

// page is the text about a command, or about the program.
type page struct {
	name, usage string
	// lines are the synopsis and the example command lines.
	lines, paragraphs []string
	groups            []group
}

// group holds the flags of a category, the rare ones last.
type group struct {
	title string
	flags kit.Set
}

// add puts a flag into the group of its category. A flag that fewer than two of five samplers have is in the
// group of those that do.
func (p *page) add(f *kit.Flag) {
	title := f.Category
	if users := catalog.Users(f.Name); title == kit.CatSample && len(users) > 0 && 5*len(users) < 2*len(catalog.Names()) {
		title += " by " + strings.Join(users, ", ")
	}
	i := slices.IndexFunc(p.groups, func(g group) bool { return g.title == title })
	if i < 0 {
		i = len(p.groups)
		p.groups = append(p.groups, group{title: title})
	}
	p.groups[i].flags = append(p.groups[i].flags, f)
}

// pageOf splits a description into its leading command lines and its paragraphs. c is nil for the
// program.
func pageOf(app *kit.App, c *kit.Command) page {
	name, form := app.Name, " COMMAND [FLAGS] "
	if c == nil {
		c = &app.Command
	} else {
		name, form = name+" "+c.Name, " [FLAGS] "
	}
	p := page{name: name, usage: c.Usage}
	p.lines = []string{strings.TrimSpace(p.name + form + c.Arguments)}
	for i, text := range strings.Split(c.Description, "\n\n") {
		switch {
		case i == 0 && (strings.HasPrefix(text, "mdmgen ") || strings.HasPrefix(text, "source ")):
			p.lines = append(p.lines, strings.Split(text, "\n")...)
		case strings.HasPrefix(text, kit.Indent):
			p.paragraphs = append(p.paragraphs, text)
		case text != "":
			p.paragraphs = append(p.paragraphs, strings.ReplaceAll(text, "\n", " "))
		}
	}
	for _, category := range kit.Categories {
		for _, rare := range []bool{false, true} {
			for _, f := range c.Flags {
				if f.Category == category && f.Rare == rare {
					p.add(f)
				}
			}
		}
	}
	return p
}

// typed returns a flag with its names and the name of its value: --output, -o FILE.
func typed(f *kit.Flag) string {
	if f.Alias == "" {
		return f.Form()
	}
	return strings.Replace(f.Form(), f.Typed(), f.Typed()+", "+kit.Dashed(f.Alias), 1)
}

// marks escapes the characters that Markdown would interpret.
var marks = strings.NewReplacer("*", `\*`, "<", `\<`, "[", `\[`, "_", `\_`)

// top precedes the titles of the parts of a whole page. All commands have the flags of the
// program's.
const top = "##"

// markdown returns the page below its title; section precedes the titles of its parts. written has
// the flags whose meaning is on the page already, and whether they are named again.
func (p page) markdown(section string, written map[string]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n    %s\n", strings.Join(p.lines, "\n    "))
	for _, text := range p.paragraphs {
		if !strings.HasPrefix(text, kit.Indent) {
			text = marks.Replace(text)
		}
		b.WriteString("\n" + text + "\n")
	}
	var above []string
	for _, g := range p.groups {
		lines := ""
		for _, f := range g.flags {
			meaning := f.Name + ": " + f.Help()
			if named, known := written[meaning]; !known {
				lines += fmt.Sprintf("- `%s`: %s\n", typed(f), marks.Replace(f.Help()))
				written[meaning] = section != top
			} else if named && !f.Rare && f.Name != kit.Settings {
				above = append(above, "`"+f.Typed()+"`")
			}
		}
		if lines != "" {
			fmt.Fprintf(&b, "\n%s %s\n\n%s", section, g.title, lines)
		}
	}
	if above != nil {
		b.WriteString("\nAs above: " + strings.Join(above, ", ") + ".\n")
	}
	return b.String()
}

// width is the width of the help in columns; the texts of flags begin at column hang.
const width, hang = 100, 26

// Help prints the help of a command, or of the program if c is nil: the first paragraph of the
// description, and the flags. Unless all is set, it prints only the common flags, or those that are
// not rare if none is common.
func Help(w io.Writer, app *kit.App, c *kit.Command, all bool) error {
	p := pageOf(app, c)
	b := &strings.Builder{}
	b.WriteString(kit.Wrap(p.lines[0]+": "+p.usage, width, ""))
	for _, line := range p.lines[1:] {
		b.WriteString(kit.Indent + line + "\n")
	}
	if c != nil && len(p.groups) > 1 {
		p.paragraphs = p.paragraphs[:min(1, len(p.paragraphs))]
	}
	for _, text := range p.paragraphs {
		if !strings.HasPrefix(text, kit.Indent) {
			text = strings.TrimSuffix(kit.Wrap(text, width, ""), "\n")
		}
		b.WriteString("\n" + text + "\n")
	}
	if c == nil {
		b.WriteString("\nCommands\n")
		for _, c := range app.Commands {
			b.WriteString(hung(c.Name, c.Usage))
		}
	} else {
		writeFlags(b, c, p.groups, all)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFlags(b *strings.Builder, c *kit.Command, groups []group, all bool) {
	left := 0
	short := slices.ContainsFunc(c.Flags, func(f *kit.Flag) bool { return f.Common })
	for _, g := range groups {
		title := kit.Wrap(g.title, width, "")
		for _, f := range g.flags {
			if !all && (f.Rare || short && !f.Common) {
				left++
				continue
			}
			b.WriteString(title + hung(typed(f), f.Help()))
			title = ""
		}
	}
	if left > 0 {
		b.WriteString(kit.Wrap(fmt.Sprintf("%d more: `mdmgen %s --help-all`, or the manual: `mdmgen man %[2]s`.", left, c.Name), width, ""))
	}
}

// hung returns a name with its text to the right, or below a long name.
func hung(name, text string) string {
	lines := kit.Wrap(text, width, strings.Repeat(" ", hang))
	if name = "  " + name; len(name) < hang-1 {
		return name + lines[len(name):]
	}
	return name + "\n" + lines
}
