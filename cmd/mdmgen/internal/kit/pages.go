package kit

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"mdmgen/analysis/report"
)

// The size of a picture in points.
const (
	plotWidth  = 480
	plotHeight = 360
)

// Pages holds the page and the pictures of a report. They are opened before the work begins, so
// that an unwritable file is reported then.
type Pages struct {
	// HTML is nil if no page is asked for.
	HTML *Output
	// html and plots are the flags.
	html, plots string
	// made reports whether Open made the folder.
	made bool
}

// Flags returns --html and --plots.
func (p *Pages) Flags() Set {
	return Set{
		Name(&p.html, "name a file", Flag{Name: "html", Category: CatOutput, Writes: true, Usage: "write the report with its pictures to `FILE`, a self-contained page"}),
		Name(&p.plots, "name a folder", Flag{Name: "plots", Category: CatOutput, Writes: true, Usage: "write the pictures to the folder `DIR`, each as .svg and .pdf"}),
	}
}

// Wanted reports whether pages or pictures are asked for.
func (p *Pages) Wanted() bool { return p.html != "" || p.plots != "" }

// Open opens the files.
func (p *Pages) Open(ctx context.Context, s Streams) (err error) {
	if p.html != "" {
		if p.HTML, err = NewOutput(ctx, "--html", p.html, s); err != nil {
			return err
		}
	}
	if p.plots == "" {
		return nil
	}
	p.made = os.Mkdir(p.plots, 0o777) == nil
	trial, err := NewOutput(ctx, "--plots", filepath.Join(p.plots, "picture"), s)
	if err == nil {
		trial.Discard()
	}
	return err
}

// Close removes unfinished files.
func (p *Pages) Close() {
	if p.HTML != nil {
		p.HTML.Discard()
	}
	if p.made {
		os.Remove(p.plots) // fails if it has pictures in it
	}
}

// Pictures writes plots, each as .svg and .pdf.
func (p *Pages) Pictures(interrupted bool, plots []report.Plot, s Streams) error {
	if p.plots == "" {
		return nil
	}
	plots = report.Shown(plots...)
	for _, plot := range plots {
		for _, format := range []string{"svg", "pdf"} {
			out, err := NewOutput(context.Background(), "the picture", filepath.Join(p.plots, plot.Name+"."+format), Streams{Err: io.Discard})
			if err != nil {
				return err
			}
			if err := out.Put(interrupted, func(w io.Writer) error { return plot.Draw(w, format, plotWidth, plot.Height(plotHeight)) }); err != nil {
				return err
			}
		}
	}
	if interrupted && len(plots) > 0 {
		s.Notice("incomplete pictures are in " + p.plots)
	}
	return nil
}
