// Package page reads the commands of docs/benchmarks.md and what they printed.
package page

import (
	"fmt"
	"regexp"
	"strings"
)

// Path is the page's, from the repository's root.
const Path = "docs/benchmarks.md"

// A Block is a command with what it printed below it.
type Block struct {
	// Command is as it stands there; a backslash at the end of a line goes on to the next.
	Command string
	// Args are its words after the program's name; those in single quotes are one.
	Args   []string
	Output string
}

var block = regexp.MustCompile("(?s)```sh\n\\$ (mdmgen .*?[^\\\\])\n(.*?)```\n")

// Read returns the blocks of a page in their order. It is an error where a block of shell
// is not a command of mdmgen, or does not close a quote.
func Read(text string) ([]Block, error) {
	var out []Block
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		b := Block{Command: m[1], Output: m[2]}
		parts := strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "'")
		if len(parts)%2 == 0 {
			return nil, fmt.Errorf("%s: a quote is not closed", m[1])
		}
		for i, part := range parts {
			if i%2 == 1 {
				b.Args = append(b.Args, part)
			} else {
				b.Args = append(b.Args, strings.Fields(part)...)
			}
		}
		b.Args = b.Args[1:]
		out = append(out, b)
	}
	if n := strings.Count(text, "```sh\n"); n != len(out) {
		return nil, fmt.Errorf("%d of %d blocks of shell are commands of mdmgen", len(out), n)
	}
	return out, nil
}

// Replace puts other outputs below those commands that printed has.
func Replace(text string, printed map[string]string) string {
	return block.ReplaceAllStringFunc(text, func(found string) string {
		command := block.FindStringSubmatch(found)[1]
		if output, ok := printed[command]; ok {
			return "```sh\n$ " + command + "\n" + output + "```\n"
		}
		return found
	})
}
