// Package config is the command that shows the values of flags and where they come from.
package config

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/printable"
)

// schema names the layout of config's record.
const schema = "mdmgen.config/1"

// Command is the command config.
func Command(s kit.Streams) *cli.Command {
	format := ""
	return &cli.Command{
		Name:      "config",
		Usage:     "show the value of each flag, and where it comes from",
		ArgsUsage: "[COMMAND]",
		Description: "A flag's value is the one on the command line, else that of its environment variable, else that of the config\n" +
			"file, else the program's own default. The file is the one that --config names, else $" + flags.EnvConfig + ", else\n" +
			"$XDG_CONFIG_HOME/mdmgen/config.toml, or ~/.config/mdmgen/config.toml where that variable is not set (on macOS and\n" +
			"Windows, the system's own configuration folder). An empty file sets nothing. Few flags have a\n" +
			"variable; their help names it ($MDMGEN_MODEL, say), and a variable that nothing reads, such as $MDMGEN_STEPS, is pointed\n" +
			"out. The file is TOML:\n\n" +
			kit.Indent + "model = \"~/models/mdlm-owt\"\n" +
			kit.Indent + "tokenizer = \"~/models/gpt2\"\n" +
			kit.Indent + "threads = 2\n" +
			kit.Indent + "[generate]\n" +
			kit.Indent + "sampler = \"tweedie\"\n" +
			kit.Indent + "steps = 64\n\n" +
			"A key is the long name of a flag. At the top of the file it sets the default for every command that has the flag;\n" +
			"in a table such as [generate] for that command alone, and there it wins. A flag that names a file to write can\n" +
			"only stand in a table.\n\n" +
			"A default that a command has no use for, or that a flag on the command line excludes, is ignored without a\n" +
			"message, where the flag itself would be refused: steps with the sampler fhs, say, or threads for a world. Like\n" +
			"$" + setup.EnvTokenizer + ", the key tokenizer is for models without one of their own. An unknown key, a value that the flag cannot have\n" +
			"or a file that is no TOML ends every command with status 2 and names the line; a value that only the command can\n" +
			"judge, such as a length, ends those that use it.",
		Flags:  flags.Format(&format, "text", "json").CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error { return show(s, args, format) }),
	}
}

// Record is what config prints as JSON.
type Record struct {
	Schema string  `json:"schema"`
	File   string  `json:"file"`
	Found  bool    `json:"found"`
	Values []Shown `json:"values"`
}

// Shown is a flag's value. Default says that Value is the program's own, in the words
// of the help; else From is an environment variable or FILE:LINE.
type Shown struct {
	Command string `json:"command"`
	Flag    string `json:"flag"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"`
	From    string `json:"from,omitempty"`
}

func show(s kit.Streams, args []string, format string) error {
	if err := kit.AtMostOne("config", args, "name one command"); err != nil {
		return err
	}
	commands := s.App.Commands
	if len(args) == 1 {
		one := s.App.Command(args[0])
		if one == nil {
			return exit.Usagef("config: no command is called %q", args[0])
		}
		commands = []*cli.Command{one}
	}
	path, named := flags.ConfigPath(s.Verbosity.Config)
	file, err := flags.ReadConfig(path, named, s.App.Commands)
	if err != nil {
		return err
	}
	r := Record{Schema: schema, File: path}
	if _, err := os.Stat(path); err == nil {
		r.Found = true
	}
	for _, cmd := range commands {
		for _, f := range flags.Of(cmd) {
			if f.Name == flags.ConfigFlag || f.Name == flags.Settings {
				continue // The file stands above, and settings in lines of their own.
			}
			v := Shown{Command: cmd.Name, Flag: f.Name}
			if f.From() == flags.Line {
				v.Value, v.From = f.Text(), "command line"
			} else {
				v.Value, v.From = f.Shown(cmd, file)
				v.Default = v.From == ""
			}
			r.Values = append(r.Values, v)
		}
	}
	if format == "json" {
		return kit.JSON(s.Out, r)
	}
	return print(s, r)
}

func print(s kit.Streams, r Record) error {
	switch {
	case r.File == "":
		fmt.Fprintln(s.Out, "# no config file: neither --config nor the environment says where")
	case r.Found:
		fmt.Fprintf(s.Out, "# %s\n", printable.String(r.File))
	default:
		fmt.Fprintf(s.Out, "# %s, which is not there\n", printable.String(r.File))
	}
	t := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	last := ""
	for _, v := range r.Values {
		if v.Command != last {
			fmt.Fprintf(t, "\n[%s]\n", v.Command)
			last = v.Command
		}
		from := v.From
		if v.Default {
			from = "default"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Flag, printable.String(cmp.Or(v.Value, "-")), printable.String(from))
	}
	return t.Flush()
}
