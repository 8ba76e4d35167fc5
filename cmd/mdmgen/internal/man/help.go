package man

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/kit"
)

// width is that of help, in columns, and hang where the texts of flags begin.
const (
	width = 100
	hang  = 28
)

// Help prints the help of a command, or of the program where that is "". all is every flag and the
// whole description; else they are the first paragraph and the common flags.
func Help(w io.Writer, app *cli.App, command string, all bool) error {
	pages := pagesOf(app)
	p := pages[slices.IndexFunc(pages, func(p manPage) bool { return p.command == command })]
	var b strings.Builder
	b.WriteString(kit.Wrap(strings.ReplaceAll(p.name(), "-", " ")+": "+p.usage, width, ""))
	fmt.Fprintf(&b, "\n%s%s\n", kit.Indent, p.synopsis)
	for _, e := range p.examples {
		b.WriteString(kit.Indent + e + "\n")
	}
	short := !all && p.shortens()
	for i, paragraph := range p.paragraphs {
		if short && i > 0 {
			break
		}
		b.WriteString("\n")
		if strings.HasPrefix(paragraph, kit.Indent) {
			b.WriteString(paragraph + "\n")
		} else {
			b.WriteString(kit.Wrap(paragraph, width, ""))
		}
	}
	if len(p.list) > 0 {
		b.WriteString("\nCommands\n")
		for _, c := range p.list {
			b.WriteString(hung(c.Name, c.Usage))
		}
	}
	flags, shown := 0, 0
	for _, g := range p.groups {
		title := "\n" + g.category + "\n"
		for _, f := range g.flags {
			flags++
			if short && !f.common {
				continue
			}
			shown++
			b.WriteString(title + hung(f.typed, f.sentence()))
			title = ""
		}
	}
	if short {
		fmt.Fprintf(&b, "\n%d more flags: `mdmgen %s --help-all`. The manual: `mdmgen man %s`.\n", flags-shown, p.command, p.command)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortens says that some of the flags are common, and others are not.
func (p manPage) shortens() bool {
	return slices.ContainsFunc(p.groups, func(g flagGroup) bool { return slices.ContainsFunc(g.flags, func(f flagHelp) bool { return f.common }) })
}

// hung is a name with its text beside it, on lines of its own where the name is long.
func hung(name, text string) string {
	lines := kit.Wrap(text, width, strings.Repeat(" ", hang))
	if name = "  " + name; len(name) < hang-1 {
		return name + lines[len(name):]
	}
	return name + "\n" + lines
}
