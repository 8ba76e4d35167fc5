package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/plainfile"
)

// streams are the three standard streams of one run, so that tests can run the
// program in process.
type streams struct {
	in  io.Reader
	out *standardOutput
	err io.Writer
	// voice says how much is told on err; nil for notices and no details.
	voice *voice
}

// newApp builds the command tree.
func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:  "mdmgen",
		Usage: "generate text from masked diffusion language models, and measure what their samplers cost",
		Description: "Results go to standard output, everything else to standard error. Exit status: 0 success, 1 failure,\n" +
			"2 usage, 3 a validation failed, 4 a model, tokenizer or library is missing, 130 interrupted.\n" +
			"`mdmgen COMMAND --help` explains a command.",
		// The library's own flag would take -v.
		HideVersion:     true,
		Flags:           []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}},
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
			configCommand(s),
			completionCommand(s),
			manCommand(s),
			versionCommand(s),
		},
	}
	for _, c := range app.Commands {
		action := c.Action
		c.OnUsageError = app.OnUsageError
		c.HideHelpCommand = true
		c.Flags = append(c.Flags, commonFlags()...)
		c.Action = func(c *cli.Context) error {
			if err := s.voice.listen(c); err != nil {
				return err
			}
			return action(c)
		}
	}
	return app
}

// runApp arranges the command line and runs it. Unknown commands and flags are
// refused here, before the library sees them: it would print its help on
// standard output and leave with status 3.
func runApp(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	s := streams{plainfile.Interruptible(ctx, stdin), &standardOutput{w: stdout}, stderr, &voice{}}
	defer func() {
		if err == nil {
			err = s.out.err
		}
	}()
	app := newApp(s)
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
		case "help", "h":
			return app.RunContext(ctx, []string{app.Name, args[0]})
		case "version":
			_, err := fmt.Fprintf(s.out, "%s version %s\n", app.Name, version())
			return err
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
	rest, given, err := arrange(cmd, args[1:])
	if err != nil {
		return err
	}
	values := &configured{}
	if given != nil { // Help tells the program's own defaults.
		if values, err = readDefaults(app, cmd, given); err != nil {
			return err
		}
	}
	return values.locate(app.RunContext(ctx, append([]string{app.Name, cmd.Name}, rest...)))
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
