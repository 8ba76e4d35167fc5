package man

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// group holds the flags of a category.
type group struct {
	title string
	flags flags.Set
}

// groups sorts flags by category; rare ones come last.
func groups(set flags.Set) (out []group) {
	for _, category := range flags.Categories {
		g := group{title: category}
		for _, f := range set {
			if f.Category == category && !f.Rare {
				g.flags = append(g.flags, f)
			}
		}
		out = append(out, g)
	}
	rare := group{title: "Settings, as --set KEY=VALUE"}
	for _, f := range set {
		if f.Rare {
			rare.flags = append(rare.flags, f)
		}
	}
	return slices.DeleteFunc(append(out, rare), func(g group) bool { return len(g.flags) == 0 })
}

// typed is a flag with its names and the name of its value: --output, -o FILE.
func typed(f *flags.Flag) string {
	if f.Alias == "" {
		return strings.TrimPrefix(f.Form(), "--set ")
	}
	return flags.Dashed(f.Name) + ", " + strings.Replace(f.Form(), f.Typed(), flags.Dashed(f.Alias), 1)
}

// sentence is the help of a flag, with its default.
func sentence(f *flags.Flag) string {
	if f.GetDefaultText() == "" || !f.Takes() {
		return f.Plain()
	}
	return f.Plain() + " (default: " + f.GetDefaultText() + ")"
}

// page is the text of a command, or of the program.
type page struct {
	name, usage, synopsis string
	examples, paragraphs  []string
	groups                []group
}

// pageOf divides a description into paragraphs and the command lines that stand first. c is nil
// for the program.
func pageOf(app *cli.App, c *cli.Command) page {
	p := page{name: app.Name, usage: app.Usage, synopsis: "mdmgen COMMAND [FLAGS] [ARGUMENTS]"}
	text := app.Description
	if c != nil {
		text = c.Description
		p = page{name: app.Name + " " + c.Name, usage: c.Usage, groups: groups(flags.Of(c)),
			synopsis: strings.TrimSpace("mdmgen " + c.Name + " [FLAGS] " + c.ArgsUsage)}
	}
	for i, paragraph := range strings.Split(text, "\n\n") {
		switch {
		case i == 0 && (strings.HasPrefix(paragraph, "mdmgen ") || strings.HasPrefix(paragraph, "source ")):
			p.examples = strings.Split(paragraph, "\n")
		case strings.HasPrefix(paragraph, kit.Indent):
			p.paragraphs = append(p.paragraphs, paragraph)
		case paragraph != "":
			p.paragraphs = append(p.paragraphs, strings.ReplaceAll(paragraph, "\n", " "))
		}
	}
	return p
}

// marks are what Markdown would take for its own.
var marks = strings.NewReplacer("*", `\*`, "<", `\<`, "[", `\[`, "_", `\_`)

// markdown is the page below its title; section is what stands before the titles of its parts.
func (p page) markdown(section string) string {
	var b strings.Builder
	for _, text := range slices.Concat([]string{kit.Indent + p.synopsis}, p.paragraphs) {
		if !strings.HasPrefix(text, kit.Indent) {
			text = marks.Replace(text)
		}
		b.WriteString("\n" + text + "\n")
	}
	if len(p.examples) > 0 {
		fmt.Fprintf(&b, "\nFor example\n\n    %s\n", strings.Join(p.examples, "\n    "))
	}
	for _, g := range p.groups {
		fmt.Fprintf(&b, "\n%s %s\n\n", section, g.title)
		for _, f := range g.flags {
			fmt.Fprintf(&b, "- `%s`: %s\n", typed(f), marks.Replace(sentence(f)))
		}
	}
	return b.String()
}
