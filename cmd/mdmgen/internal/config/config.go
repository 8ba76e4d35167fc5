// Package config is the command that shows the values of flags and their sources.
package config

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
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
		Usage:     "show the value of each flag and its origin",
		ArgsUsage: "[COMMAND]",
		Description: "A flag takes its value from the command line, else from its environment variable, else from the config file, else its\n" +
			"default. The config file is --config, else $" + flags.EnvConfig + ", else mdmgen/config.toml in the user's\n" +
			"configuration folder ($XDG_CONFIG_HOME or ~/.config on Linux). The help of a command names its variables.\n\n" +
			kit.Indent + "model = \"~/models/mdlm-owt\"\n" +
			kit.Indent + "threads = 2\n" +
			kit.Indent + "[generate]\n" +
			kit.Indent + "sampler = \"remdm\"\n" +
			kit.Indent + "eta = 0.1\n\n" +
			"A key is the long name of a flag or setting. At the top it applies to every command that has the flag; in a table such\n" +
			"as [generate] it applies to that command and takes precedence. Keys of output files must be in a table. A default is\n" +
			"ignored if the command does not use it or a flag on the command line excludes it; the key tokenizer is for models\n" +
			"without a tokenizer of their own. An unknown key or an invalid value ends every command with status 2 and a message\n" +
			"that names the line.",
		Flags:  flags.Format(&format, "text", "json").CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error { return show(s, args, format) }),
	}
}

// Record is the JSON output of config.
type Record struct {
	Schema string  `json:"schema"`
	File   string  `json:"file"`
	Found  bool    `json:"found"`
	Values []Shown `json:"values"`
}

// Shown is a flag's value. If Default is set, Value is the program's own default as in the help;
// otherwise From is "command line", an environment variable or FILE:LINE.
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
	_, err = os.Stat(path)
	r := Record{Schema: schema, File: path, Found: err == nil}
	for _, cmd := range commands {
		for _, f := range flags.Of(cmd).Without(flags.ConfigFlag, flags.Settings) {
			v := Shown{Command: cmd.Name, Flag: f.Name, Value: f.Text(), From: "command line"}
			if f.From() != flags.Line {
				v.Value, v.From = f.Shown(cmd, file)
				v.Default = v.From == ""
			}
			r.Values = append(r.Values, v)
		}
	}
	return kit.Print(s.Out, format, r, r.text())
}

func (r *Record) text() string {
	head := "# " + printable.String(cmp.Or(r.File, "no config file"))
	if !r.Found {
		head += " (does not exist)"
	}
	t := kit.NewTable(false)
	last := ""
	for _, v := range r.Values {
		if v.Command != last {
			fmt.Fprintf(t, "\n[%s]\n", v.Command)
			last = v.Command
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Flag, printable.String(cmp.Or(v.Value, "-")), printable.String(cmp.Or(v.From, "default")))
	}
	return head + "\n" + t.String()
}
