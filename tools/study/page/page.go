// Package page reads the commands that stand in documents, and what they printed.
package page

import (
	"regexp"
	"strings"
)

// Path is the page of the study, from the repository's root; Choosing is one that shows some of
// its rows.
const (
	Path     = "docs/research/benchmarks.md"
	Choosing = "docs/choosing.md"
)

// A Block is a block of shell.
type Block struct {
	// Tag is the word after sh: what the block needs besides the program and its repository,
	// "" for nothing.
	Tag string
	// Command is what is typed: the whole block, or where that begins with "$ " the line after
	// it, with those that a backslash at its end goes on to.
	Command string
	// Shown says that the block begins with "$ ", and that Output is what the command printed.
	Shown  bool
	Output string
}

var block = regexp.MustCompile("(?ms)^(```sh ?([a-z]*)\n)(.*?)^```\n")

// Read returns the blocks of a page in their order.
func Read(text string) []Block {
	var out []Block
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		out = append(out, read(m))
	}
	return out
}

// read takes a match apart.
func read(m []string) Block {
	b := Block{Tag: m[2], Command: m[3]}
	if b.Command, b.Shown = strings.CutPrefix(b.Command, "$ "); !b.Shown {
		return b
	}
	lines := strings.SplitAfter(b.Command, "\n")
	n := 1
	for n < len(lines) && strings.HasSuffix(lines[n-1], "\\\n") {
		n++
	}
	b.Command, b.Output = strings.TrimSuffix(strings.Join(lines[:n], ""), "\n"), strings.Join(lines[n:], "")
	return b
}

// Replace puts other outputs below those commands that printed has.
func Replace(text string, printed map[string]string) string {
	return block.ReplaceAllStringFunc(text, func(found string) string {
		m := block.FindStringSubmatch(found)
		b := read(m)
		if output, ok := printed[b.Command]; ok && b.Shown {
			b.Output = output
		}
		return b.String()
	})
}

// String is the block as it stands in a page.
func (b Block) String() string {
	head := "```" + strings.TrimSpace("sh "+b.Tag) + "\n"
	if b.Shown {
		return head + "$ " + b.Command + "\n" + b.Output + "```\n"
	}
	return head + b.Command + "```\n"
}
