package tools

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/samplers/catalog"
)

// shells lists the shells. Each has a short script that asks this program for the completions at
// the cursor, so that all three offer the same.
var shells = []string{"bash", "zsh", "fish"}

//go:embed shell
var shellScripts embed.FS

// Completion returns the command completion.
func Completion() *kit.Command {
	return &kit.Command{
		Name:      "completion",
		Usage:     "print a shell's completion script for commands, flags and values",
		Arguments: "bash|zsh|fish [-- WORDS]",
		Description: "source <(mdmgen completion bash)\n" +
			"source <(mdmgen completion zsh)\n" +
			"mdmgen completion fish > ~/.config/fish/completions/mdmgen.fish\n\n" +
			"Put the first line into ~/.bashrc, or the second into ~/.zshrc after compinit. With WORDS, a command line up to\n" +
			"the cursor, it prints the possible words.",
		Run: func(_ context.Context, s kit.Streams, args []string) error {
			if len(args) == 0 || !slices.Contains(shells, args[0]) {
				return exit.Usagef("completion: name a shell: %s", strings.Join(shells, ", "))
			}
			if len(args) > 1 {
				kind, words := complete(s.App, rejoined(args[0], args[1:]))
				_, err := fmt.Fprintln(s.Out, strings.Join(append([]string{kind}, words...), "\n"))
				return err
			}
			script, err := shellScripts.ReadFile("shell/" + args[0])
			if err == nil {
				_, err = s.Out.Write(script)
			}
			return err
		},
	}
}

// rejoined rejoins "--flag", "=" and "value", which are three words in bash.
func rejoined(shell string, words []string) (out []string) {
	for i, w := range words {
		n := len(out)
		if shell == "bash" && n > 0 && (w == "=" || words[i-1] == "=") {
			out[n-1] += w
			continue
		}
		out = append(out, w)
	}
	return out
}

// What a shell completes in addition to the words.
const (
	files   = "files"
	folders = "folders"
	words   = "words"
)

// complete returns the completions of the last word of a command line, which may be partial or
// empty; after = those of the value. typed does not include the program's name.
func complete(app *kit.App, typed []string) (kind string, out []string) {
	before, cur := typed[:len(typed)-1], typed[len(typed)-1]
	names := append([]string{"help", "--help", "--version"}, app.Names()...)
	if len(before) == 0 {
		return words, beginning(names, cur)
	}
	c := app.Find(before[0])
	if c == nil {
		return words, beginning(names[3:], cur)
	}
	set := c.Flags
	var open *kit.Flag // waits for its value
	for _, w := range before[1:] {
		name, _, inline := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch f := set.Named(name); {
		case open != nil:
			open = nil
		case w == "--":
			return argument(c, names[3:], cur)
		case strings.HasPrefix(w, "-") && f != nil && f.Takes() && !inline:
			open = f
		}
	}
	if name, value, inline := strings.Cut(cur, "="); inline && open == nil && strings.HasPrefix(cur, "-") {
		if open, cur = set.Named(strings.TrimLeft(name, "-")), value; open == nil {
			return words, nil
		}
	}
	switch {
	case open != nil && open.Name == kit.Settings:
		return setting(set, cur)
	case open != nil:
		return value(open, cur)
	case !strings.HasPrefix(cur, "-"):
		return argument(c, names[3:], cur)
	}
	for _, f := range set {
		if !f.Rare {
			for _, name := range f.Names() {
				out = append(out, kit.Dashed(name))
			}
		}
	}
	return words, beginning(append(out, "--help"), cur)
}

// setting completes the KEY= or the value of --set.
func setting(set kit.Set, cur string) (kind string, out []string) {
	if key, text, valued := strings.Cut(cur, "="); valued && set.Find(key) != nil {
		return value(set.Find(key), text)
	}
	for _, f := range set {
		switch {
		case f.Rare && f.Takes():
			out = append(out, f.Name+"=")
		case f.Rare:
			out = append(out, f.Name)
		}
	}
	return words, beginning(out, cur)
}

// value completes the value of a flag, or the last item of a list.
func value(f *kit.Flag, cur string) (kind string, out []string) {
	kind, list := words, slices.Clone(f.Words)
	if f.IsFolder() {
		kind = folders
	} else if f.IsPath() {
		kind = files
	}
	if at := strings.LastIndex(cur, ","); at >= 0 && f.IsList() {
		for i := range list {
			list[i] = cur[:at+1] + list[i]
		}
	}
	return kind, beginning(list, cur)
}

// argument completes an argument of a command.
func argument(c *kit.Command, commands []string, cur string) (kind string, out []string) {
	switch lists := map[string][]string{"samplers": catalog.Names(), "completion": shells, "man": commands}; {
	case lists[c.Name] != nil:
		return words, beginning(lists[c.Name], cur)
	case c.Arguments != "":
		return files, nil
	}
	return words, nil
}

// beginning returns the words with the prefix cur.
func beginning(list []string, cur string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return !strings.HasPrefix(w, cur) })
}
