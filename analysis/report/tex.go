package report

import (
	"bytes"
	"slices"
	"strings"

	"mdmgen/internal/printable"
)

// tex replaces characters that LaTeX interprets or that its fonts lack.
var tex = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "%", `\%`, "#", `\#`, "_", `\_`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
	"<", "$<$", ">", "$>$", "|", "$|$", "±", `$\pm$`, "≤", `$\leq$`, "≥", `$\geq$`, "−", "$-$", "×", `$\times$`, "‖", `$\|$`, "–", "--", "λ", `$\lambda$`, "θ", `$\theta$`)

// TeX writes the table as a tabular of LaTeX's package booktabs, with its title as a comment before
// it. Units of columns, after " (", are on a second line of the head, and graphicx shrinks a table
// that is wider than a line.
func (t Table) TeX(b *bytes.Buffer) {
	b.WriteString("% " + printable.String(t.Title) + "\n")
	b.WriteString("\\noindent\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
	b.WriteString(`\begin{tabular}{@{}` + strings.Repeat("l", t.Numbers) + strings.Repeat("r", len(t.Head)-t.Numbers) + "@{}}\n\\toprule\n")
	row := func(cells []string) {
		for j, text := range cells {
			if j > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(tex.Replace(printable.String(text)))
		}
		b.WriteString(" \\\\\n")
	}
	names, units := slices.Clone(t.Head), make([]string, len(t.Head))
	for j, head := range t.Head {
		if name, unit, ok := strings.Cut(head, " ("); ok {
			names[j], units[j] = name, "("+unit
		}
	}
	row(names)
	if strings.Join(units, "") != "" {
		row(units)
	}
	b.WriteString("\\midrule\n")
	for _, cells := range t.Rows {
		row(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}}\n")
}
