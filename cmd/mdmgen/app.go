package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/printable"
)

// streams are the three standard streams of one run, so that tests can run the
// program in process.
type streams struct {
	in  io.Reader
	out *standardOutput
	err io.Writer
}

// notice prints one line for the user on standard error.
func (s streams) notice(line string) { fmt.Fprintf(s.err, "mdmgen: %s\n", printable.String(line)) }

// newApp builds the command tree.
func newApp(s streams) *cli.App {
	return &cli.App{
		Name:  "mdmgen",
		Usage: "generate text from masked diffusion language models, and measure what their samplers cost",
		Description: "Results go to standard output, everything else to standard error. Exit status: 0 success, 1 failure,\n" +
			"2 usage, 3 a validation failed, 4 a model, tokenizer or library is missing, 130 interrupted.\n" +
			"`mdmgen COMMAND --help` explains a command.",
		Version:         version(),
		Reader:          s.in,
		Writer:          s.out,
		ErrWriter:       s.err,
		HideHelpCommand: true,
		// A list of padding columns has commas.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usagef("%s", err) },
		Commands: []*cli.Command{
			generateCommand(s),
			scoreCommand(s),
			boundCommand(s),
			benchCommand(s),
			scheduleCommand(s),
			samplersCommand(s),
			tokenizeCommand(s),
			convertCommand(s),
			verifyCommand(s),
			doctorCommand(s),
		},
	}
}

// runApp arranges the command line and runs it. Unknown commands and flags are
// refused here, before the library sees them: it would print its help on
// standard output and leave with status 3.
func runApp(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	s := streams{plainfile.Interruptible(ctx, stdin), &standardOutput{w: stdout}, stderr}
	defer func() {
		if err == nil {
			err = s.out.err
		}
	}()
	app := newApp(s)
	for _, c := range app.Commands {
		c.OnUsageError = app.OnUsageError
		c.HideHelpCommand = true
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "help" {
		// "help COMMAND" is "COMMAND --help".
		args = args[1:]
		if len(args) == 0 {
			args = []string{"--help"}
		} else {
			args = append(args[:1:1], "--help")
		}
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if strings.HasPrefix(args[0], "-") {
		switch strings.TrimLeft(args[0], "-") {
		case "help", "h", "version", "v":
			return app.RunContext(ctx, []string{app.Name, args[0]})
		}
		return usagef("unknown flag %s before a command; flags follow the command", args[0])
	}
	cmd := app.Command(args[0])
	if cmd == nil {
		hint := ""
		if c := suggestion(app.Commands, args[0]); c != "" {
			hint = "; did you mean " + c + "?"
		}
		return usagef("unknown command %q%s", args[0], hint)
	}
	rest, err := arrange(cmd, args[1:])
	if err != nil {
		return err
	}
	return app.RunContext(ctx, append([]string{app.Name, cmd.Name}, rest...))
}

// suggestion returns the name of the command that is most like name, "" where
// none is.
func suggestion(commands []*cli.Command, name string) string {
	// The library's answer is a sentence with the name in quotes.
	_, rest, _ := strings.Cut(cli.SuggestCommand(commands, name), "\"")
	suggested, _, _ := strings.Cut(rest, "\"")
	return suggested
}

// noArguments refuses arguments that a command does not read.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s: unexpected argument %q; it takes flags only", c.Command.Name, c.Args().First())
	}
	return nil
}
