// Package completion is the command that completes command lines for shells.
package completion

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/samplers/catalog"

	"github.com/urfave/cli/v2"
)

// shells are those that have a script: a few lines each, which ask this program what may
// stand at the cursor, so that all three offer the same.
var shells = []string{"bash", "zsh", "fish"}

//go:embed shell
var shellScripts embed.FS

// Command is the command completion.
func Command(s kit.Streams) *cli.Command {
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
		Action: kit.Do(func(_ context.Context, args []string) error {
			if len(args) == 0 || !slices.Contains(shells, args[0]) {
				return exit.Usagef("completion: name a shell: %s", strings.Join(shells, ", "))
			}
			shell := args[0]
			if len(args) > 1 {
				return printCompletions(s.Out, shell, complete(s.App.Commands, rejoined(shell, args[1:])))
			}
			script, err := shellScripts.ReadFile("shell/" + shell)
			if err == nil {
				_, err = s.Out.Write(script)
			}
			return err
		}),
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
	set := flags.Of(c)
	var open *flags.Flag // waits for its value
	used := make(map[*flags.Flag]bool)
	for _, w := range before[1:] {
		name, _, inline := strings.Cut(strings.TrimLeft(w, "-"), "=")
		f := set.Named(name)
		switch {
		case open != nil:
			open = nil
		case w == "--":
			return argument(c, argumentValues(commands, c.Name), cur)
		case strings.HasPrefix(w, "-") && f != nil:
			used[f] = true
			if f.Takes() && !inline {
				open = f
			}
		}
	}
	if name, value, inline := strings.Cut(strings.TrimLeft(cur, "-"), "="); inline && open == nil && strings.HasPrefix(cur, "-") {
		open, cur = set.Named(name), value
		if open == nil {
			return listed(nil)
		}
	}
	switch {
	case open != nil:
		return flagValue(open, cur)
	case strings.HasPrefix(cur, "-"):
		out := completions{paths: "words"}
		for _, f := range set {
			if used[f] && !f.Repeats() {
				continue
			}
			for _, name := range f.Names() {
				out.words = append(out.words, completionWord{flags.Dashed(name), f.Plain()})
			}
		}
		out.words = append(out.words, completionWord{"--help", "explain the command"})
		return out.from(cur)
	}
	return argument(c, argumentValues(commands, c.Name), cur)
}

// flagValue completes the value of a flag. Of a list it is the last item.
func flagValue(f *flags.Flag, cur string) completions {
	out := listed(f.Words)
	if f.IsFolder() {
		out.paths = "folders"
	} else if f.IsPath() {
		out.paths = "files"
	}
	if at := strings.LastIndex(cur, ","); at >= 0 && f.IsList() {
		for i := range out.words {
			out.words[i].word = cur[:at+1] + out.words[i].word
		}
	}
	return out.from(cur)
}

// argumentValues are the words that a command takes as arguments.
func argumentValues(commands []*cli.Command, command string) []string {
	switch command {
	case "samplers":
		return catalog.Names()
	case "completion":
		return shells
	case "man", "config", "help":
		var names []string
		for _, c := range commands {
			names = append(names, c.Name)
		}
		return names
	}
	return nil
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
