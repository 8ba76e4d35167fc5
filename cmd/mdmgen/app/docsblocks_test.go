package app

import (
	"regexp"
	"strings"
)

// A shellBlock is a block of shell in a document.
type shellBlock struct {
	// Tag is the word after sh: what the block needs besides the program and its repository, "" for
	// nothing.
	Tag string
	// Command is the typed text: the whole block or, if that begins with "$ ", the rest of the
	// line, with its continuation lines.
	Command string
	// Shown reports whether the block begins with "$ ". Output is then the output of the command.
	Shown  bool
	Output string
}

var shellForm = regexp.MustCompile("(?ms)^(```sh ?([a-z]*)\n)(.*?)^```\n")

// shellBlocks returns the blocks of a page in their order.
func shellBlocks(text string) []shellBlock {
	var out []shellBlock
	for _, m := range shellForm.FindAllStringSubmatch(text, -1) {
		out = append(out, shellBlockOf(m))
	}
	return out
}

// shellBlockOf returns the block of a match.
func shellBlockOf(m []string) shellBlock {
	b := shellBlock{Tag: m[2], Command: m[3]}
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

// replaceOutputs replaces the outputs of the commands in printed.
func replaceOutputs(text string, printed map[string]string) string {
	return shellForm.ReplaceAllStringFunc(text, func(found string) string {
		m := shellForm.FindStringSubmatch(found)
		b := shellBlockOf(m)
		if output, ok := printed[b.Command]; ok && b.Shown {
			b.Output = output
		}
		return b.String()
	})
}

// String returns the block as written in a page.
func (b shellBlock) String() string {
	head := "```" + strings.TrimSpace("sh "+b.Tag) + "\n"
	if b.Shown {
		return head + "$ " + b.Command + "\n" + b.Output + "```\n"
	}
	return head + b.Command + "```\n"
}
