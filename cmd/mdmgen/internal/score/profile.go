package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/interaction"
	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// profiling collects the terms of windows. A nil profiling collects nothing.
type profiling struct {
	run *scoring
	out *kit.Output
	// d is the number of free positions of the windows that are used.
	d int
	// windows holds the terms of each window, or of all windows of a document if clustered;
	// document is that of the last.
	windows   []profile.Window
	clustered bool
	document  int
	leftOut   int
}

// newProfiling opens the file and selects the windows that are used: those with as many free
// positions as the longest.
func (r *scoring) newProfiling() (*profiling, error) {
	if r.writeProfile == "" {
		return nil, nil
	}
	if r.facts.BlockSize > 0 {
		return nil, exit.Usagef("--write-profile: the network is block-causal: its loss depends on the visible tokens of a block, not of a window: leave it out")
	}
	if r.settings.Exact && r.facts.TimeConditioned {
		return nil, exit.Usagef("--write-profile: exact values of a time-conditioned network give no profile")
	}
	if r.overlaps {
		return nil, exit.Usagef("--write-profile: windows overlap, and halves of them are not independent: leave --stride out")
	}
	if r.clustered && r.survey.Documents < profile.MinWindows {
		return nil, exit.Usagef("--write-profile: windows of %s: its windows are not independent, and at least %d documents are needed: give more text, or --join", english.Plural(r.survey.Documents, "document", ""), profile.MinWindows)
	}
	p := &profiling{run: r, clustered: r.clustered}
	count := 0
	for _, s := range r.survey.Shapes {
		free := s.Length - s.From
		if free > p.d {
			p.d, count = free, 0
		}
		if free == p.d {
			count += s.Windows
		}
	}
	if count < profile.MinWindows {
		return nil, exit.Usagef("--write-profile: %d of %d windows are as long as the longest, %d tokens, and at least %d must be: give more text, a smaller --length, or --join", count, r.survey.Windows, p.d, profile.MinWindows)
	}
	if p.d > profile.MaxPositions {
		return nil, exit.Usagef("--write-profile: windows of %d tokens: must have at most %d", p.d, profile.MaxPositions)
	}
	var err error
	p.out, err = kit.NewOutput(r.ctx, "--write-profile", r.writeProfile, nil)
	return p, err
}

// add adds a finished window.
func (p *profiling) add(w keptWindow) error {
	switch {
	case p == nil:
	case w.Tokens != p.d:
		p.leftOut++
	case w.Terms == nil && !math.IsInf(w.Nats.Mean, 0):
		return exit.Usagef("--write-profile: the file of --resume has window %d without its terms: remove the file", w.Window)
	case w.Terms == nil:
		return fmt.Errorf("--write-profile: window %d has a token of probability 0 in some row: a profile needs finite losses", w.Window)
	case p.clustered && len(p.windows) > 0 && w.Document == p.document:
		last := &p.windows[len(p.windows)-1]
		last.Terms = last.Plus(*w.Terms)
	default:
		p.windows, p.document = append(p.windows, profile.Window{Window: w.Window, Terms: *w.Terms}), w.Document
	}
	return nil
}

// finish writes the file. It prints a notice instead if the run is unfinished.
func (p *profiling) finish(s kit.Streams, record Record) error {
	if p == nil {
		return nil
	}
	if record.Interrupted {
		s.Notice("--write-profile: not written, because the run is not finished")
		return nil
	}
	measured, err := profile.New(p.d, record.Settings.Exact, p.windows)
	if err != nil {
		return fmt.Errorf("--write-profile: %s", fault.Plain(err))
	}
	interactions, err := p.run.interactions(p)
	if err != nil {
		return err
	}
	file := profile.File{Profile: measured, Interactions: interactions, Provenance: record.Provenance, Settings: record.Settings, LeftOut: p.leftOut}
	if err := p.out.Put(file.Write); err != nil {
		return err
	}
	left := ""
	if p.leftOut > 0 {
		left = fmt.Sprintf("; shorter ones left out: %d", p.leftOut)
	}
	unit := "windows"
	if p.clustered {
		unit = "documents in windows"
	}
	if interactions != nil {
		left += fmt.Sprintf("; and interactions over %d, by %s", interactions.Sequences, english.Plural(interactions.Calls, "call", ""))
	}
	s.Notice(fmt.Sprintf("--write-profile: wrote the loss over %d %s of %s%s", len(p.windows), unit, english.Plural(p.d, "token", ""), left))
	return nil
}

func (p *profiling) discard() {
	if p != nil {
		p.out.Discard()
	}
}

// interactionWindows is the number of windows on which a profile's interactions are measured, and
// interactionCalls the maximum number of calls, each for all of them.
const interactionWindows, interactionCalls = 8, 128

// interactions measures interactions on windows of the profile, spread over the text. It returns
// nil if windows have no pairs or no calls are allowed.
func (r *scoring) interactions(p *profiling) (*interaction.Profile, error) {
	if p.d < 2 || r.interactionCalls == 0 {
		return nil, nil
	}
	cfg := interaction.Config{Calls: r.interactionCalls, Seed: r.config.Seed}
	var canvas []int
	n := min(interactionWindows, len(p.windows))
	for i := range n {
		at := p.windows[i*len(p.windows)/n].Window
		read, err := r.sequence.windows(at, at+1)
		if err != nil {
			return nil, err
		}
		w := read[0]
		if canvas == nil {
			canvas = slices.Clone(w.IDs)
			for _, l := range w.Free {
				canvas[l] = r.facts.MaskID
			}
		}
		if len(w.Free) == p.d && len(w.IDs) == len(canvas) {
			cfg.Texts = append(cfg.Texts, w.IDs)
		}
	}
	if len(cfg.Texts) < 2 {
		return nil, nil
	}
	bar := kit.NewBar(r.streams, min(p.d, cfg.Calls), "measuring interactions", "calls")
	defer bar.Clear()
	cfg.OnCall = func() { bar.Add(1) }
	out, err := interaction.Measure(r.ctx, r.network, canvas, cfg)
	if err != nil {
		return nil, fmt.Errorf("--write-profile: %w", fault.WithoutName(err))
	}
	return out, nil
}
