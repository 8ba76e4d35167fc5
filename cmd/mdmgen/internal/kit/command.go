package kit

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
)

// Command is a command of the program.
type Command struct {
	Name, Usage string
	// Arguments is the form of the arguments: "" if there are none, [WHAT] for at most one.
	Arguments string
	// Description begins with command lines, if there are any. Paragraphs are apart by an empty line.
	Description string
	Flags       Set
	// Check, if not nil, returns the errors that can be found before anything is opened; Run does the
	// work, after the flags have been read.
	Check, Run func(ctx context.Context, s Streams, args []string) error
}

// App is the program, whose own command has the flags that every command has.
type App struct {
	Command
	Commands []*Command
}

// Find returns the command of a name, nil for none.
func (a *App) Find(name string) *Command {
	for _, c := range a.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names returns the names of the commands.
func (a *App) Names() (names []string) {
	for _, c := range a.Commands {
		names = append(names, c.Name)
	}
	return names
}

// Run runs a command of the program with its arguments, once [Arrange] has read the flags of its command
// line. The library's own help and version would take -h and -v, and its handler ends the process.
func (a *App) Run(ctx context.Context, s Streams, c *Command, args []string) error {
	app := &cli.App{Name: a.Name + " " + c.Name, Usage: c.Usage, ArgsUsage: c.Arguments, Description: c.Description, HideHelp: true, HideVersion: true,
		ExitErrHandler: func(*cli.Context, error) {}, Action: func(x *cli.Context) error { return c.do(x.Context, s, x.Args().Slice()) }}
	for _, f := range c.Flags {
		app.Flags = append(app.Flags, f)
	}
	return app.RunContext(ctx, append([]string{app.Name, "--"}, args...))
}

// do runs a command with its arguments.
func (c *Command) do(ctx context.Context, s Streams, args []string) error {
	c.Flags.Fill()
	if err := c.check(args); err != nil {
		return err
	}
	if model := c.Flags.Find("model"); c.Arguments == "[MODEL]" && len(args) > 0 {
		if model.given {
			return exit.Usagef("%s: the model is given twice, as %s and by --model", c.Name, args[0])
		}
		if err := model.Set(args[0]); err != nil {
			return err
		}
		args = nil
	}
	// A text in place of a file has a blank, and nothing has its name.
	if c.Arguments == "[FILE or TEXT]" && len(args) > 0 && strings.ContainsAny(args[0], " \t\n") {
		if _, err := os.Lstat(args[0]); err != nil {
			s.In, args = strings.NewReader(args[0]), nil
		}
	}
	var files []string
	if strings.Contains(c.Arguments, "FILE") || strings.Contains(c.Arguments, "PART") {
		files = args
	}
	err := cmp.Or(FormatByEnding(c.Flags), c.Flags.Apart(c.Name, files))
	if err == nil && c.Check != nil {
		err = c.Check(ctx, s, args)
	}
	if err != nil {
		return err
	}
	out := c.Flags.Find(OutputTerm.Name)
	if out == nil || out.IsFolder() {
		return c.Run(ctx, s, args)
	}
	path := out.File()
	if c.Flags.Given("shard") {
		path = "" // The part is a file of its own.
	}
	if s.Results, err = NewOutput(ctx, OutputTerm, path, s); err != nil {
		return err
	}
	defer s.Results.Discard()
	if err := c.Run(ctx, s, args); err != nil {
		return err
	}
	return s.Results.Commit()
}

// check returns an error for an argument that a command does not take, and for an empty one.
func (c *Command) check(args []string) error {
	what, one := strings.CutPrefix(c.Arguments, "[")
	what, _, _ = strings.Cut(strings.ToLower(strings.TrimSuffix(what, "]")), " ")
	if what = "name one " + what; c.Arguments == "[TEXT]" || c.Arguments == "[TEMPLATE]" {
		what = "quote the text"
	}
	switch {
	case c.Arguments == "" && len(args) > 0:
		return exit.Usagef("%s: unexpected argument %q; it takes flags only", c.Name, args[0])
	case one && len(args) > 1:
		return exit.Usagef("%s: unexpected argument %q; %s", c.Name, args[1], what)
	case one && len(args) == 1 && args[0] == "":
		return exit.Usagef("%s: the argument is empty: %s, or leave it out", c.Name, what)
	}
	return nil
}
