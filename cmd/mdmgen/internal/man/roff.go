package man

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/plainfile"
)

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
