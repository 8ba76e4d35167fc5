// Package app implements the command line: it finds the requested command, reads its flags and runs
// it. What commands share is in packages kit and setup.
package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/tools"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/suggest"
	"mdmgen/model"
)

// Main runs the program with the process's streams and returns its exit status. A failure to print
// the results is an error, too. The first interrupt cancels the run, so that finished results can
// still be printed. Half a second later the default handling is restored, and a second interrupt
// ends the process. The delay is for programs that send the first interrupt twice, such as timeout,
// the second perhaps when all is done.
func Main() int {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	failInstead()
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second/2, stop) })
	var stdout io.Writer = os.Stdout
	if stdoutClosed() {
		stdout = noOutput{}
	}
	return Run(ctx, os.Args, os.Stdin, stdout, os.Stderr)
}

// noOutput is a closed standard output.
type noOutput struct{}

func (noOutput) Write([]byte) (int, error) { return 0, syscall.EBADF }

// collectLate delays the first garbage collection until the heap has 32 MB instead of 4 MB. Most
// commands end before that, which saves them a tenth of their time or more. Later collections are
// as usual.
func collectLate() {
	if os.Getenv("GOGC") == "" {
		runtime.AddCleanup(new([64]byte), func(usual int) { debug.SetGCPercent(usual) }, debug.SetGCPercent(800))
	}
}

// Run runs a command line, args[0] being the program's name, and returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &kit.StandardOutput{W: stdout}
	err := cmp.Or(runApp(ctx, args[1:], kit.Streams{In: stdin, Out: out, Err: stderr}), out.Err)
	if err == nil {
		return exit.OK
	}
	if msg := exit.Message(err); msg != "" {
		fmt.Fprintf(stderr, "mdmgen: %s\n", msg)
	}
	return exit.Code(err)
}

// openModel opens the models of a run. Tests replace it to keep models open between runs.
var openModel = model.Open

// newApp builds the command tree.
func newApp(v *kit.Verbosity) *kit.App {
	app := &kit.App{Command: kit.Command{
		Name:      "mdmgen",
		Usage:     "generate text from masked diffusion language models, and measure what their samplers cost",
		Arguments: "[ARGUMENTS]",
		Description: "Results go to standard output, everything else to standard error. Exit status: 0 success, 1 failure,\n" +
			"2 usage, 3 a validation failed, 4 a model, tokenizer or library is missing, 130 interrupted, 141 closed pipe.\n" +
			"`mdmgen COMMAND --help` explains a command; docs/glossary.md in the repository explains terms.\n\n" +
			kit.Indent + "which sampler, for 16 network calls?     mdmgen generate --calls 16\n" +
			kit.Indent + "what do 8 or 16 calls lose?              mdmgen schedule --calls 8,16\n" +
			kit.Indent + "perplexity as MDLM or SEDD report it?    mdmgen score TEXT --protocol mdlm\n" +
			kit.Indent + "how far from exact are 8 calls' texts?   mdmgen bench --calls 8 --quality certificate",
		Flags: v.Flags(),
	}}
	for _, command := range commands {
		c := command()
		c.Flags = append(c.Flags, v.Flags()...).WithSettings()
		app.Commands = append(app.Commands, c)
	}
	return app
}

// runApp parses the command line and runs it.
func runApp(ctx context.Context, args []string, s kit.Streams) error {
	s.In, s.Verbosity, s.Command, s.Network = plainfile.Interruptible(ctx, s.In), &kit.Verbosity{}, kit.CommandLine(args), openModel
	app := newApp(s.Verbosity)
	s.App = app
	if len(args) > 1 && args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	if len(args) == 0 || args[0] == "help" {
		args = []string{"--help"}
	}
	if strings.HasPrefix(args[0], "-") {
		switch strings.TrimLeft(args[0], "-") {
		case "help", "h", "help-all":
			return tools.Help(s.Out, app, nil, true)
		case "version":
			_, err := fmt.Fprintf(s.Out, "%s version %s\n", app.Name, kit.Version())
			return err
		}
		return exit.Usagef("unknown flag %s before a command; flags follow the command", args[0])
	}
	words := kit.ForeignCommand(args)
	cmd := cmp.Or(app.Find(args[0]), app.Find(words))
	if cmd == nil && words != "" {
		return exit.Usagef("unknown command %q: write %s", args[0], words)
	}
	if cmd == nil {
		hint := suggest.Ending(args[0], app.Names())
		return exit.Usagef("unknown command %q%s", args[0], cmp.Or(hint, "; `mdmgen --help` lists the commands"))
	}
	rest, help, err := kit.Arrange(cmd, args[1:])
	switch {
	case err != nil:
		return err
	case help != "":
		return tools.Help(s.Out, app, cmd, help == "help-all")
	}
	return fault.Spelled(app.Run(ctx, s, cmd, rest), cmd.Flags.Spell)
}
