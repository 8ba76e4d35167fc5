package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/ort"
)

// catGeneral is the category of the flags that every command has, configFlag the one that
// names the config file.
const (
	catGeneral = "General"
	configFlag = "config"
)

// commonFlags are those of every command.
func commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: catGeneral, Usage: "no notices and no progress on standard error, errors only"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: catGeneral, Usage: "more notices: model, library, cache, tokenizer, and how long opening them took"},
		&cli.StringFlag{Name: configFlag, Category: catGeneral, DefaultText: "mdmgen/config.toml in the user's folder for settings",
			Usage: "`FILE` with defaults of flags [$" + envConfig + "]"},
	}
}

// voice is how much a run says on standard error besides errors and what was asked for.
type voice struct{ quiet, verbose bool }

// listen reads the flags.
func (v *voice) listen(c *cli.Context) error {
	if c.Bool("quiet") && c.Bool("verbose") {
		if err := exclude(c, [][2]string{{"quiet", "verbose"}}, apartFlags); err != nil {
			return err
		}
	}
	v.quiet, v.verbose = c.Bool("quiet"), c.Bool("verbose")
	return nil
}

// hushed says that nothing but errors is to be told.
func (s streams) hushed() bool { return s.voice != nil && s.voice.quiet }

// notice prints one line for the user on standard error.
func (s streams) notice(line string) {
	if !s.hushed() {
		fmt.Fprintf(s.err, "mdmgen: %s\n", printable.String(line))
	}
}

// detail is a notice for those who asked for more.
func (s streams) detail(format string, args ...any) {
	if s.voice != nil && s.voice.verbose {
		s.notice(fmt.Sprintf(format, args...))
	}
}

// open opens a model. Those who asked for more are told which it is, what runs it, and how
// long that took.
func (s streams) open(ctx context.Context, ref string, o model.Options) (model.Model, error) {
	begin := time.Now()
	m, err := model.Open(ctx, ref, o)
	if d, ok := m.(model.Describer); ok && err == nil {
		o := d.Origin()
		s.detail("model %s: %s, %s, opened in %.3g s", o.Reference, o.Family, o.Digest, time.Since(begin).Seconds())
		s.detail("it runs with %s on %s, threads: %d", o.Runtime, o.Provider, o.Threads)
		if l := ort.InUse(); l.Path != "" {
			cache, _ := ort.CacheDir()
			s.detail("library %s, found: %s; cache folder %s", l.Path, l.Source, cache)
		}
	}
	return m, err
}
