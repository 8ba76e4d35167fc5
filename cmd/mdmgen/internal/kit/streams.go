package kit

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// Streams holds the three standard streams of a run, so that tests can run the program in process,
// and what all commands share.
type Streams struct {
	In  io.Reader
	Out *StandardOutput
	Err io.Writer
	// Results is the destination of the results of a command with -o, which are committed if it does not
	// fail.
	Results *Output
	// Verbosity controls what is written to Err; nil means notices without details.
	Verbosity *Verbosity
	// Command is the command line, quoted for a shell.
	Command string
	// Network is model.Open or a stand-in.
	Network func(ctx context.Context, ref string, o model.Options) (model.Model, error)
	// App is the program, for commands that describe commands.
	App *App
}

// Verbosity is how much a run writes to standard error in addition to errors.
type Verbosity struct{ Level string }

// The levels.
const (
	Quiet   = "quiet"   // errors alone
	Normal  = "normal"  // notices too
	Verbose = "verbose" // details too
)

// Flags returns the flags that every command has.
func (v *Verbosity) Flags() Set {
	v.Level = Normal
	return Set{
		Words(&v.Level, []string{Quiet, Normal, Verbose}, Flag{Name: "verbosity", Category: CatGeneral,
			Usage:    "report at `LEVEL`: quiet (-q), normal or verbose (-v)",
			Synonyms: []Synonym{{Name: "quiet", Value: Quiet}, {Name: "q", Value: Quiet}, {Name: "verbose", Value: Verbose}, {Name: "v", Value: Verbose}}}),
	}
}

// maxText is the maximum size of a text on standard input that is read as a whole, in bytes.
const maxText = 1 << 20

// TextArgument returns the text that a command is given as its argument, or on standard input for -,
// without a newline at its end. given is false if there is none.
func (s Streams) TextArgument(args []string) (text string, given bool, err error) {
	if len(args) == 0 || args[0] != "-" {
		return strings.Join(args, ""), len(args) > 0, nil
	}
	all, err := plainfile.ReadAll(s.In, maxText)
	if err != nil {
		return "", true, fmt.Errorf("standard input: %w", err)
	}
	return strings.TrimRight(string(all), "\r\n"), true, nil
}

// hushed reports whether nothing but errors is printed.
func (s Streams) hushed() bool { return s.Verbosity != nil && s.Verbosity.Level == Quiet }

// Notice prints one line for the user on standard error.
func (s Streams) Notice(line string) {
	if !s.hushed() {
		fmt.Fprintf(s.Err, "mdmgen: %s\n", printable.String(line))
	}
}

// Detail prints a notice if details are asked for.
func (s Streams) Detail(format string, args ...any) {
	if s.Detailed() {
		s.Notice(fmt.Sprintf(format, args...))
	}
}

// Detailed reports whether details are printed.
func (s Streams) Detailed() bool { return s.Verbosity != nil && s.Verbosity.Level == Verbose }

// Open opens a model. It prints details: the model, its runtime and the time that opening it took.
func (s Streams) Open(ctx context.Context, ref string, o model.Options) (model.Model, error) {
	begin := time.Now()
	var end func()
	o.Watch, end = s.Watch()
	m, err := s.Network(ctx, ref, o)
	end()
	if d, ok := m.(model.Describer); ok && err == nil {
		o := d.Origin()
		s.Detail("model %s: %s, %s, opened in %.3g s", o.Reference, o.Family, o.Digest, time.Since(begin).Seconds())
		s.Detail("it runs with %s on %s, threads: %d", o.Runtime, o.Provider, o.Threads)
		if l := ort.InUse(); l.Path != "" {
			cache, _ := cachedir.Path()
			s.Detail("library %s, found: %s; cache folder %s", l.Path, l.Source, cache)
		}
	}
	return m, err
}

// StandardOutput is where results are printed. It keeps its first error, and prints nothing after
// it. A command that does not fail otherwise fails with that error.
type StandardOutput struct {
	W   io.Writer
	Err error
	// before is called before anything is printed, nil for nothing.
	before atomic.Pointer[func()]
}

// Write implements [io.Writer].
func (o *StandardOutput) Write(p []byte) (n int, err error) {
	if f := o.before.Load(); f != nil && *f != nil {
		(*f)()
	}
	if o.Err == nil {
		if n, err = o.W.Write(p); err != nil {
			o.Err = fmt.Errorf("standard output: %w", plainfile.Cause(err))
		}
	}
	return n, o.Err
}

// Before sets the function that is called before anything is printed, nil for none.
func (o *StandardOutput) Before(f func()) { o.before.Store(&f) }
