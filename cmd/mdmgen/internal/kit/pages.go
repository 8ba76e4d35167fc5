package kit

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"mdmgen/analysis/report"
	"mdmgen/cmd/mdmgen/internal/flags"
)

// The size of a picture in a file, in points.
const (
	plotWidth  = 480
	plotHeight = 360
)

// Pages are the page and the pictures of a report. They are opened before the work begins, so that
// what cannot be written is found then.
type Pages struct {
	// HTML is nil where no page is asked for.
	HTML *Output
	// html and plots are the flags.
	html, plots string
	// made reports that the folder was not there.
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

// Wanted reports whether pages or pictures are asked for.
func (p *Pages) Wanted() bool { return p.html != "" || p.plots != "" }

// Open opens the files.
func (p *Pages) Open(ctx context.Context, s Streams) (err error) {
	if p.html != "" {
		if p.HTML, err = NewOutput(ctx, "--html", p.html, s.Out); err != nil {
			return err
		}
	}
	if p.plots == "" {
		return nil
	}
	p.made = os.Mkdir(p.plots, 0o777) == nil
	trial, err := NewOutput(ctx, "--plots", filepath.Join(p.plots, "picture"), s.Out)
	if err == nil {
		trial.Discard()
	}
	return err
}

// Close removes what was not finished.
func (p *Pages) Close() {
	if p.HTML != nil {
		p.HTML.Discard()
	}
	if p.made {
		os.Remove(p.plots) // fails where pictures are in it
	}
}

// Pictures writes plots, each as .svg and .pdf.
func (p *Pages) Pictures(plots []report.Plot, s Streams) error {
	if p.plots == "" {
		return nil
	}
	for _, plot := range report.Shown(plots...) {
		for _, format := range []string{"svg", "pdf"} {
			out, err := NewOutput(context.Background(), "the picture", filepath.Join(p.plots, plot.Name+"."+format), s.Out)
			if err != nil {
				return err
			}
			if err := out.Put(func(w io.Writer) error { return plot.Draw(w, format, plotWidth, plot.Height(plotHeight)) }); err != nil {
				return err
			}
		}
	}
	return nil
}
