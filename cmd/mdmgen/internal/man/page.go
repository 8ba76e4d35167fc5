package man

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
)

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

// flagHelp is a flag as it is typed, and what its help says. Common ones are in the short help.
type flagHelp struct {
	typed, text, otherwise string
	common                 bool
}

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
		slices.SortStableFunc(p.groups, func(a, b flagGroup) int {
			return slices.Index(flags.Categories, a.category) - slices.Index(flags.Categories, b.category)
		})
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
	h := flagHelp{typed: strings.Join(names, ", "), text: f.Plain(), common: f.Common}
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
