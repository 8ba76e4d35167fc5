package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/printable"
)

// configSchema names the layout of config's record.
const configSchema = "mdmgen.config/1"

func configCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "config",
		Usage:     "show the value of each flag, and where it comes from",
		ArgsUsage: "[COMMAND]",
		Description: "A flag's value is the one on the command line, else that of its environment variable, else that of the config\n" +
			"file, else the program's own default. The file is the one that --config names, else $" + envConfig + ", else\n" +
			"$XDG_CONFIG_HOME/mdmgen/config.toml, or ~/.config/mdmgen/config.toml where that variable is not set (on macOS and\n" +
			"Windows, the system's own folder for settings). An empty file sets nothing. It is TOML:\n\n" +
			indent + "model = \"~/models/mdlm-owt\"\n" +
			indent + "tokenizer = \"~/models/gpt2\"\n" +
			indent + "threads = 2\n" +
			indent + "[generate]\n" +
			indent + "sampler = \"tweedie\"\n" +
			indent + "steps = 64\n\n" +
			"A key is the long name of a flag. At the top of the file it sets the default for every command that has the flag;\n" +
			"in a table such as [generate] for that command alone, and there it wins. A flag that names a file to write can\n" +
			"only stand in a table.\n\n" +
			"A default that a command has no use for, or that a flag on the command line excludes, is ignored without a\n" +
			"message, where the flag itself would be refused: steps with the sampler fhs, say, or threads for a world. Like\n" +
			"$" + envTokenizer + ", the key tokenizer is for models without one of their own. An unknown key, a value that the flag cannot have\n" +
			"or a file that is no TOML ends every command with status 2 and names the line; a value that only the command can\n" +
			"judge, such as a length, ends those that use it.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Category: catOutput, Usage: "print JSON"}},
		Action: func(c *cli.Context) error { return showConfig(c, s) },
	}
}

// configRecord is what config prints as JSON.
type configRecord struct {
	Schema string        `json:"schema"`
	File   string        `json:"file"`
	Found  bool          `json:"found"`
	Values []configShown `json:"values"`
}

// configShown is a flag's value. Default says that Value is the program's own, in the words
// of the help; else From is an environment variable or FILE:LINE.
type configShown struct {
	Command string `json:"command"`
	Flag    string `json:"flag"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"`
	From    string `json:"from,omitempty"`
}

func showConfig(c *cli.Context, s streams) error {
	if c.NArg() > 1 {
		return usagef("config: unexpected argument %q; name one command", c.Args().Get(1))
	}
	commands := c.App.Commands
	if c.NArg() == 1 {
		one := c.App.Command(c.Args().First())
		if one == nil {
			return usagef("config: no command is called %q", c.Args().First())
		}
		commands = []*cli.Command{one}
	}
	file := c.App.Metadata[configuredKey].(*configured).file
	record := configRecord{Schema: configSchema, File: file.path}
	if _, err := os.Stat(file.path); err == nil {
		record.Found = true
	}
	for _, cmd := range commands {
		for _, f := range flagsOf(cmd) {
			if f.Names()[0] == configFlag {
				continue // the file is told once
			}
			v := shown(cmd, f, file)
			if name := f.Names()[0]; cmd.Name == c.Command.Name && given(c, name) {
				v.Value, v.Default, v.From = fmt.Sprint(c.Value(name)), false, "command line"
			}
			record.Values = append(record.Values, v)
		}
	}
	if c.Bool("json") {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(record)
	}
	return printConfig(s, record)
}

// shown is the value of a flag that is not given.
func shown(c *cli.Command, f cli.Flag, file *configFile) configShown {
	v := configShown{Command: c.Name, Flag: f.Names()[0]}
	if name := environment(f); name != "" && os.Getenv(name) != "" {
		v.Value, v.From = os.Getenv(name), name
		return v
	}
	if e := file.lookup(c, f); e != nil {
		value, _ := configValue(f, e.value) // It was checked.
		if list, ok := value.([]string); ok {
			value = strings.Join(list, ", ")
		}
		v.Value, v.From = fmt.Sprint(value), file.where(e)
		return v
	}
	v.Value, v.Default = strings.Trim(f.(cli.DocGenerationFlag).GetDefaultText(), `"`), true
	return v
}

func printConfig(s streams, r configRecord) error {
	switch {
	case r.File == "":
		fmt.Fprintln(s.out, "# no config file: neither --config nor the environment says where")
	case r.Found:
		fmt.Fprintf(s.out, "# %s\n", printable.String(r.File))
	default:
		fmt.Fprintf(s.out, "# %s, which is not there\n", printable.String(r.File))
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(t, "%s\t%s\t%s\n", v.Flag, printable.String(or(v.Value, "-")), printable.String(from))
	}
	return t.Flush()
}
