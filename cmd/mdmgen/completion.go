package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// shells are those that have a script: a few lines each, which ask this program what may
// stand at the cursor, so that all three offer the same.
var shells = []string{"bash", "zsh", "fish"}

//go:embed shell
var shellScripts embed.FS

func completionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and their values",
		ArgsUsage: "bash|zsh|fish [-- WORDS]",
		Description: "source <(mdmgen completion bash)\n" +
			"source <(mdmgen completion zsh)\n" +
			"mdmgen completion fish > ~/.config/fish/completions/mdmgen.fish\n\n" +
			"The first goes into ~/.bashrc, the second into ~/.zshrc after compinit. With WORDS, those of a command line that\n" +
			"follow the program's name, up to the cursor, it prints what the script asks for: whether files or folders may stand\n" +
			"there, and then the words that may, one a line.",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if !slices.Contains(shells, shell) {
				return usagef("completion: name a shell: %s", strings.Join(shells, ", "))
			}
			if c.NArg() > 1 {
				return printCompletions(s.out, shell, complete(c.App.Commands, rejoined(shell, c.Args().Tail())))
			}
			script, err := shellScripts.ReadFile("shell/" + shell)
			if err == nil {
				_, err = s.out.Write(script)
			}
			return err
		},
	}
}

// completions are what may stand at the cursor. Paths is "files" or "folders" where these may,
// else "words".
type completions struct {
	paths string
	words []completionWord
}

type completionWord struct{ word, meaning string }

// rejoined puts "--flag", "=" and "value" together again, which are three words for bash.
func rejoined(shell string, words []string) []string {
	if shell != "bash" {
		return words
	}
	var out []string
	for _, w := range words {
		n := len(out)
		if n > 0 && (w == "=" && strings.HasPrefix(out[n-1], "--") || strings.HasPrefix(out[n-1], "--") && strings.HasSuffix(out[n-1], "=")) {
			out[n-1] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// complete tells what the last of the words, which may be a part of one or empty, can become.
// The words are those after the program's name. Of --flag=VALUE it is VALUE.
func complete(commands []*cli.Command, words []string) completions {
	before, cur := words[:len(words)-1], words[len(words)-1]
	if len(before) == 0 {
		out := completions{paths: "words"}
		for _, c := range commands {
			out.words = append(out.words, completionWord{c.Name, c.Usage})
		}
		out.words = append(out.words, completionWord{"help", "explain a command"}, completionWord{"--help", "list the commands"}, completionWord{"--version", "print the version"})
		return out.from(cur)
	}
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == before[0] })
	if i < 0 {
		return listed(argumentValues(commands, before[0])).from(cur) // help, or nothing
	}
	c := commands[i]
	flags := make(map[string]cli.Flag)
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			flags[name] = f
		}
	}
	var open cli.Flag // waits for its value
	used := make(map[cli.Flag]bool)
	for _, w := range before[1:] {
		switch name, _, inline := strings.Cut(strings.TrimLeft(w, "-"), "="); {
		case open != nil:
			open = nil
		case w == "--":
			return argument(c, argumentValues(commands, c.Name), cur)
		case strings.HasPrefix(w, "-") && flags[name] != nil:
			used[flags[name]] = true
			if takesValue(flags[name]) && !inline {
				open = flags[name]
			}
		}
	}
	if name, value, inline := strings.Cut(strings.TrimLeft(cur, "-"), "="); inline && open == nil && strings.HasPrefix(cur, "-") {
		open, cur = flags[name], value
		if open == nil {
			return listed(nil)
		}
	}
	switch {
	case open != nil:
		return flagValue(open, flagValues(c.Name, open.Names()[0]), cur)
	case strings.HasPrefix(cur, "-"):
		out := completions{paths: "words"}
		for _, f := range flagsOf(c) {
			if _, many := f.(*cli.StringSliceFlag); used[f] && !many {
				continue
			}
			for _, name := range f.Names() {
				out.words = append(out.words, completionWord{dashed(name), plainUsage(f)})
			}
		}
		out.words = append(out.words, completionWord{"--help", "explain the command"})
		return out.from(cur)
	}
	return argument(c, argumentValues(commands, c.Name), cur)
}

// flagValue completes the value of a flag. Of a list it is the last item.
func flagValue(f cli.Flag, values []string, cur string) completions {
	out := listed(values)
	if name := valueName(f); name == "DIR" || name == "FOLDER" {
		out.paths = "folders"
	} else if takesPath(f) {
		out.paths = "files"
	}
	if at := strings.LastIndex(cur, ","); at >= 0 && isList(f) {
		for i := range out.words {
			out.words[i].word = cur[:at+1] + out.words[i].word
		}
	}
	return out.from(cur)
}

// isList says that a flag's value is a list with commas.
func isList(f cli.Flag) bool {
	return valueName(f) == "LIST" || strings.HasPrefix(f.(cli.DocGenerationFlag).GetUsage(), "list: ")
}

// argument completes an argument of a command.
func argument(c *cli.Command, values []string, cur string) completions {
	out := listed(values)
	switch {
	case values != nil:
	case strings.Contains(c.ArgsUsage, "DIR"):
		out.paths = "folders"
	case strings.TrimSpace(c.ArgsUsage) != "":
		out.paths = "files"
	}
	return out.from(cur)
}

func listed(words []string) completions {
	out := completions{paths: "words"}
	for _, w := range words {
		out.words = append(out.words, completionWord{w, ""})
	}
	return out
}

// from keeps the words that begin as cur does.
func (p completions) from(cur string) completions {
	p.words = slices.DeleteFunc(p.words, func(w completionWord) bool { return !strings.HasPrefix(w.word, cur) })
	return p
}

// plainUsage is a flag's help as plain text.
func plainUsage(f cli.Flag) string {
	return strings.ReplaceAll(f.(cli.DocGenerationFlag).GetUsage(), "`", "")
}

// printCompletions prints them as the shell's script reads them.
func printCompletions(w io.Writer, shell string, p completions) error {
	var b strings.Builder
	b.WriteString(p.paths + "\n")
	for _, x := range p.words {
		switch {
		case shell == "zsh" && x.meaning != "":
			fmt.Fprintf(&b, "%s:%s\n", strings.ReplaceAll(x.word, ":", `\:`), x.meaning)
		case shell == "fish" && x.meaning != "":
			fmt.Fprintf(&b, "%s\t%s\n", x.word, x.meaning)
		default:
			b.WriteString(x.word + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
