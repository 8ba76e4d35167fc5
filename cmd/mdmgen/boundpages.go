package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/report"
	"mdmgen/internal/plainfile"
)

// The size of a picture in a file, in points.
const (
	plotWidth  = 480
	plotHeight = 360
)

// pages are where the page and the pictures go, opened before the work begins so that
// what cannot be written is found then.
type pages struct {
	// html is nil where no page is asked for, dir "" where no pictures are.
	html *output
	dir  string
	// made says that the folder was made for them.
	made bool
}

// open finds out whether the files can be written.
func (p *pages) open(c *cli.Context, s streams) (err error) {
	if path := c.String("html"); c.IsSet("html") {
		if path == "" || path == "-" {
			return usagef("--html %s: name a file", path)
		}
		if err := apart(c, namedFile{"--html", path}); err != nil {
			return err
		}
		if p.html, err = newOutput("--html", path, s.out); err != nil {
			return err
		}
	}
	if c.IsSet("html") || c.IsSet("plots") {
		s.out.patient = true
	}
	if !c.IsSet("plots") {
		return nil
	}
	dir := c.String("plots")
	if dir == "" {
		return usagef("--plots: name a folder")
	}
	_, statErr := os.Stat(dir)
	p.made = errors.Is(statErr, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--plots %s: %w", dir, plainfile.Cause(err))
	}
	p.dir = dir
	trial, err := temporary(filepath.Join(dir, "picture"), 0o666)
	if err != nil {
		return fmt.Errorf("--plots %s: cannot write there: %w", dir, plainfile.Cause(err))
	}
	return errors.Join(trial.Close(), os.Remove(trial.Name()))
}

// close leaves nothing behind that was not finished.
func (p *pages) close() {
	if p.html != nil {
		p.html.Discard()
	}
	if p.made {
		os.Remove(p.dir) // fails where pictures are in it
	}
}

// files writes the page and the pictures that are asked for.
func (r *bounding) files(result bound.Report, p provenance) error {
	if r.pages.html != nil {
		made := struct {
			Settings   *boundSettings `json:"settings,omitempty"`
			Provenance provenance     `json:"provenance"`
		}{r.record(result, p).Settings, p}
		if err := result.Page(r.pages.html, made); err != nil {
			return fmt.Errorf("--html %s: %w", r.pages.html.path, plainfile.Cause(err))
		}
		if err := r.pages.html.Commit(); err != nil {
			return err
		}
	}
	return r.pages.pictures(result.Plots, r.streams)
}

// pictures writes plots, each as .svg and .png.
func (p *pages) pictures(plots []report.Plot, s streams) error {
	if p.dir == "" {
		return nil
	}
	for _, plot := range plots {
		for _, format := range []string{"svg", "png"} {
			var b bytes.Buffer
			if err := plot.Draw(&b, format, plotWidth, plotHeight); err != nil {
				s.notice(fmt.Sprintf("no picture of %s: %v", plot.Name, err))
				break
			}
			if err := writeWhole("the picture", filepath.Join(p.dir, plot.Name+"."+format), b.Bytes(), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWhole writes a file that appears whole or not at all.
func writeWhole(what, path string, content []byte, s streams) error {
	out, err := newOutput(what, path, s.out)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := out.Write(content); err != nil {
		return err
	}
	return out.Commit()
}
