package man

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// width is that of help, in columns, and hang where the texts of flags begin.
const (
	width = 100
	hang  = 26
)

// Help prints the help of a command, or of the program where c is nil: the first paragraph of
// its description, and its flags, those that are rare apart. Without all they are the common ones.
func Help(w io.Writer, app *cli.App, c *cli.Command, all bool) error {
	p := pageOf(app, c)
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s\n", kit.Wrap(p.name+": "+p.usage, width, ""), kit.Indent, p.synopsis)
	for _, e := range p.examples {
		b.WriteString(kit.Indent + e + "\n")
	}
	if c != nil && len(p.paragraphs) > 1 && len(p.groups) > 0 {
		p.paragraphs = p.paragraphs[:1]
	}
	for _, paragraph := range p.paragraphs {
		if !strings.HasPrefix(paragraph, kit.Indent) {
			paragraph = strings.TrimSuffix(kit.Wrap(paragraph, width, ""), "\n")
		}
		b.WriteString("\n" + paragraph + "\n")
	}
	if c == nil {
		b.WriteString("\nCommands\n")
		for _, c := range app.Commands {
			b.WriteString(hung(c.Name, c.Usage))
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("\n")
	more := writeFlags(&b, flags.Of(c), p.groups, all)
	if more > 0 {
		fmt.Fprintf(&b, "\n%d more flags: `mdmgen %s --help-all`. ", more, c.Name)
	}
	fmt.Fprintf(&b, "The manual: `mdmgen man %s`.\n", c.Name)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFlags writes groups of flags, and returns how many it left out that are no settings.
func writeFlags(b *strings.Builder, set flags.Set, groups []group, all bool) (left int) {
	all = all || !slices.ContainsFunc(set, func(f *flags.Flag) bool { return f.Common })
	for _, g := range groups {
		title := g.title + "\n"
		for _, f := range g.flags {
			switch {
			case f.Rare:
			case !all && !f.Common:
				left++
			default:
				b.WriteString(title + hung(typed(f), sentence(f)))
				title = ""
			}
		}
	}
	return left
}

// hung is a name with its text beside it, on lines of its own where the name is long.
func hung(name, text string) string {
	lines := kit.Wrap(text, width, strings.Repeat(" ", hang))
	if name = "  " + name; len(name) < hang-1 {
		return name + lines[len(name):]
	}
	return name + "\n" + lines
}
