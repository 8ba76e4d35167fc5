package samplers

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Sampler is a law of plans with a way to draw tokens. It does not change and may
// be shared by goroutines.
type Sampler struct {
	law      planner // a kernel, where there is no plan
	settings Settings
	denoise  bool
	// spare are decoders that are not used any more.
	spare sync.Pool
}

// New checks the options and makes the sampler. The error joins every option that
// is wrong by itself or not used.
func New(o Options, c Spec) (*Sampler, error) {
	unused, err := o.Unused()
	if err != nil {
		return nil, err
	}
	desc, _ := Describe(cmp.Or(o.Sampler, "fhs"))
	var idle []string
	var errs []error
	for _, p := range options {
		text := p.Get(o)
		if text == "" {
			continue
		}
		if _, ok := unused[p.Name]; ok {
			idle = append(idle, p.Name)
		}
		errs = append(errs, p.Set(new(Options), text))
	}
	if slices.Sort(idle); idle != nil {
		errs = append(errs, fault.Errorf("samplers", "%s does not use %s here: leave it out", desc.Name, strings.Join(idle, ", ")))
	}
	if o.Profile != nil && !o.ByProfile() {
		errs = append(errs, fault.Errorf("samplers", "a loss profile is used by the grid and the sizes named profile only: leave it out"))
	}
	if err := fault.Join("samplers", errs...); err != nil {
		return nil, err
	}
	if o.Stop != nil && c.Columns > 0 && (*o.Stop >= c.Columns || *o.Stop == c.Mask) {
		return nil, fault.Errorf("samplers", "stop: id %d: must be a token in 0..%d and not the mask", *o.Stop, c.Columns-1)
	}
	if c.Columns > 0 {
		if _, err := draw.NewCategorical(c.Vocabulary, o.Draw); err != nil {
			return nil, err
		}
	}
	if _, err := schedule.ParseNoise(c.Noise); err != nil {
		return nil, err
	}
	how := o.Draw.Within(c.Tokens())
	s := &Sampler{settings: Settings{Sampler: desc.Name, Draw: how, ChangesLaw: how.ChangesLaw(), Lookahead: o.Lookahead}}
	if err := s.drawn(o, c); err != nil {
		return nil, err
	}
	if err := desc.make(s, o, c); err != nil {
		return nil, err
	}
	if _, ranks := s.law.(*ranking); o.BlockLength > 0 && !ranks {
		s = s.inWindows(o)
	}
	if o.Correct != "" {
		var err error
		if s, err = s.correct(o.Correct); err != nil {
			return nil, err
		}
	}
	if o.MaxLength > 0 {
		s = s.grow(o)
	}
	return s.shape(o, c)
}

// drawn reads how tokens are drawn. Look-ahead draws by gumbel unless told otherwise, where
// rows leave the network.
func (s *Sampler) drawn(o Options, c Spec) error {
	by := o.By
	if by == "" {
		if by = draw.ByInverse; o.Lookahead > 0 && !c.RowsStay {
			by = draw.ByGumbel
		}
	}
	s.settings.By = by
	switch {
	case by == draw.ByGumbel && c.RowsStay:
		return fault.Errorf("samplers", "draw %s: it takes rows, which stay on this network's device: must be %s", by, draw.ByInverse)
	case by == draw.ByFloat32Gumbel && !slices.Contains(rawSamplers, s.settings.Sampler):
		return fault.Errorf("samplers", "draw %s: only the steps of %s are such races: must be %s or %s", by, strings.Join(rawSamplers, ", "), draw.ByInverse, draw.ByGumbel)
	}
	s.settings.ChangesLaw = s.settings.ChangesLaw || by == draw.ByFloat32Gumbel
	return nil
}

// By says how the sampler's tokens are drawn.
func (s *Sampler) By() draw.By { return s.settings.By }
