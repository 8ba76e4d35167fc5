package man

import (
	"fmt"
	"io"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
)

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
			b.WriteString("\nWords are in the [glossary](glossary.md). Every command has:\n")
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
