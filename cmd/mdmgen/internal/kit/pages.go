package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// The size of a picture in a file, in points.
const (
	plotWidth  = 480
	plotHeight = 360
)

// Pages are where the page and the pictures go, opened before the work begins so that
// what cannot be written is found then.
type Pages struct {
	// HTML is nil where no page is asked for; dir is "" where no pictures are.
	HTML *Output
	dir  string
	// The flags.
	html, plots string
	// made says that the folder was made for them.
	made bool
}

// Flags are --html and --plots.
func (p *Pages) Flags() flags.Set {
	return flags.Set{
		flags.Name(&p.html, "name a file", flags.Flag{Name: "html", Category: flags.CatOutput, Writes: true, Usage: "write the report with its pictures to `FILE`, a page that stands alone"}),
		flags.Name(&p.plots, "name a folder", flags.Flag{Name: "plots", Category: flags.CatOutput, Writes: true, Usage: "write the pictures to the folder `DIR`, each as .svg and .pdf"}),
	}
}

// File is what --html names.
func (p *Pages) File() NamedFile { return NamedFile{"--html", p.html} }

// Wanted says that there are pages or pictures to make.
func (p *Pages) Wanted() bool { return p.html != "" || p.plots != "" }

// Open finds out whether the files can be written.
func (p *Pages) Open(ctx context.Context, s Streams) (err error) {
	if p.html == "-" {
		return exit.Usagef("--html -: name a file")
	}
	if p.html != "" {
		if p.HTML, err = NewOutput(ctx, "--html", p.html, s.Out); err != nil {
			return err
		}
	}
	if p.Wanted() {
		s.Out.Patient = true
	}
	dir := p.plots
	if dir == "" {
		return nil
	}
	_, statErr := os.Stat(dir)
	p.made = errors.Is(statErr, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--plots %s: %w", dir, plainfile.Cause(err))
	}
	p.dir = dir
	trial, err := Temporary(filepath.Join(dir, "picture"), 0o666)
	if err != nil {
		return fmt.Errorf("--plots %s: cannot write there: %w", dir, plainfile.Cause(err))
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// Close leaves nothing behind that was not finished.
func (p *Pages) Close() {
	if p.HTML != nil {
		p.HTML.Discard()
	}
	if p.made {
		os.Remove(p.dir) // fails where pictures are in it
	}
}

// Pictures writes plots, each as .svg and .pdf.
func (p *Pages) Pictures(plots []report.Plot, s Streams) error {
	if p.dir == "" {
		return nil
	}
	for _, plot := range plots {
		for _, format := range []string{"svg", "pdf"} {
			var b bytes.Buffer
			if err := plot.Draw(&b, format, plotWidth, plot.Height(plotHeight)); err != nil {
				s.Notice(fmt.Sprintf("no picture of %s: %v", plot.Name, err))
				break
			}
			if err := writeWhole("the picture", filepath.Join(p.dir, plot.Name+"."+format), b.Bytes(), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWhole writes a file that appears whole or not at all. The name is ours: there is no pipe
// to wait for.
func writeWhole(what, path string, content []byte, s Streams) error {
	out, err := NewOutput(context.Background(), what, path, s.Out)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := out.Write(content); err != nil {
		return err
	}
	return out.Commit()
}
