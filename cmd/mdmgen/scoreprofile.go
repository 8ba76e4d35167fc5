package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v2"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/profile"
	"mdmgen/samplers"
)

// scoreProfileFlag writes a profile, or reads one where a sampler wants it.
func scoreProfileFlag() cli.Flag {
	return &cli.StringFlag{Name: "profile", Category: catOutput,
		Usage: "`FILE` to write the loss by number of visible tokens to, for `mdmgen schedule`; with --grid profile or --sizes profile the file to read it from"}
}

// writesProfile says that score writes a profile.
func writesProfile(c *cli.Context) bool { return c.IsSet("profile") && !wantsProfile(c) }

// checkScoreProfile refuses what has no profile.
func checkScoreProfile(c *cli.Context, form string) error {
	if !writesProfile(c) {
		return nil
	}
	path := c.String("profile")
	switch {
	case path == "" || path == "-":
		return usagef("--profile: name a file")
	case c.Bool("exact"):
		return nil
	case c.IsSet("protocol") || !likelihood.Form(form).HasTerms():
		return leaveOut(c, usagef("--profile: %s does not tell the loss at each number of visible tokens: use --estimator %s or %s, or --exact", form, likelihood.Subsets, likelihood.Orders), "profile")
	}
	return nil
}

// profiling collects the terms of windows; nil collects none.
type profiling struct {
	out *output
	// d is the number of free positions of the windows that count.
	d       int
	indices []int
	terms   []profile.Terms
	leftOut int
}

// newProfiling opens the file and finds out which windows count: those with as many free
// positions as the longest.
func (r *scoring) newProfiling() (*profiling, error) {
	if !writesProfile(r.c) {
		return nil, nil
	}
	if r.settings.Exact && r.facts.TimeConditioned && !firstHitting(r.config.Sampler) {
		return nil, usagef("--profile: exact values of a time-conditioned network have its terms with --sampler fhs only")
	}
	if r.overlaps {
		return nil, usagef("--profile: windows overlap, and halves of them are not independent: leave --stride out")
	}
	p := &profiling{}
	count := 0
	for _, w := range r.windows {
		if len(w.Free) > p.d {
			p.d, count = len(w.Free), 0
		}
		if len(w.Free) == p.d {
			count++
		}
	}
	if count < profile.MinWindows {
		return nil, usagef("--profile: %d of %d windows have the %d tokens of the longest, and at least %d must: give more text, a smaller --length, or --join", count, len(r.windows), p.d, profile.MinWindows)
	}
	if p.d > profile.MaxPositions {
		return nil, usagef("--profile: windows of %d tokens: must have at most %d", p.d, profile.MaxPositions)
	}
	r.streams.out.patient = true
	var err error
	p.out, err = newOutput(r.c.Context, "--profile", r.c.String("profile"), nil)
	return p, err
}

// add takes finished windows.
func (p *profiling) add(windows []scoredWindow) error {
	if p == nil {
		return nil
	}
	for _, w := range windows {
		switch {
		case w.Tokens != p.d:
			p.leftOut++
		case w.terms == nil && !math.IsInf(w.Nats.Mean, 0):
			return usagef("--profile: the file of --resume has window %d without its terms: remove the file", w.Window)
		case w.terms == nil:
			return fmt.Errorf("--profile: window %d has a token of probability 0 on some of its rows: a profile is of finite losses", w.Window)
		default:
			p.indices, p.terms = append(p.indices, w.Window), append(p.terms, *w.terms)
		}
	}
	return nil
}

// finish writes the file, and says so; an unfinished run has none.
func (p *profiling) finish(s streams, record scoreRecord) error {
	if p == nil {
		return nil
	}
	defer p.out.Discard()
	if record.Interrupted {
		s.notice("--profile: is not written, for the run is not finished")
		return nil
	}
	measured, err := profile.New(p.d, record.Settings.Exact, p.indices, p.terms)
	if err != nil {
		return fmt.Errorf("--profile: %s", strings.TrimPrefix(err.Error(), "profile: "))
	}
	file := profile.File{Profile: measured, Provenance: record.Provenance, Settings: record.Settings, LeftOut: p.leftOut, Confidence: record.Settings.Confidence}
	var text bytes.Buffer
	if err := file.Write(&text); err != nil {
		return err
	}
	p.out.Write(text.Bytes()) // A failure is kept until Commit.
	if err := p.out.Commit(); err != nil {
		return err
	}
	left := ""
	if p.leftOut > 0 {
		left = fmt.Sprintf("; shorter ones left out: %d", p.leftOut)
	}
	s.notice(fmt.Sprintf("--profile: wrote the loss over %d windows of %s%s", len(p.terms), english.Plural(p.d, "token", ""), left))
	return nil
}

func (p *profiling) discard() {
	if p != nil && p.out != nil {
		p.out.Discard()
	}
}

// firstHitting says that a sampler is Algorithm 1 of the paper.
func firstHitting(s *samplers.Sampler) bool {
	law, _ := s.Law()
	return law.FirstHitting()
}
