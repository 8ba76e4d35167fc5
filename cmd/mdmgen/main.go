// Command mdmgen generates text from masked diffusion language models, and
// tells what their samplers cost and how far their laws are from exact.
//
//	mdmgen generate                 text from the built-in model, by First-Hitting
//	mdmgen generate --model DIR     text from a published MDLM, RADD or SEDD folder
//	mdmgen score FILE               how likely a text is, with intervals or exactly
//	mdmgen bench                    what samplers cost, and what their steps buy
//	mdmgen samplers                 the samplers, their laws, costs and flags
//	mdmgen verify DIR --golden F    a model's rows against reference values
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 for success, 2 for a usage error, 3 for a failed validation, 4
// for a missing model, tokenizer or library, 130 for an interrupt and 1 for any
// other failure.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	os.Exit(mainCode())
}

// mainCode runs the program with the process's own streams. The first interrupt
// cancels the context, so that what is finished can still be printed; a moment after it
// the default handling is back, and a second interrupt ends the process. Programs that end
// others, timeout for one, send the first twice, the second perhaps when all is done.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failInstead()
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second/2, stop) })
	return run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr)
}

// run runs one command line, args[0] being the program's name, and returns the
// exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := runApp(ctx, args, stdin, stdout, stderr)
	if err == nil {
		return exitOK
	}
	if msg := message(err); msg != "" {
		fmt.Fprintf(stderr, "mdmgen: %s\n", msg)
	}
	return exitCode(err)
}
