package samplers

import (
	"cmp"
	"math"

	"mdmgen/internal/fault"
)

// Remasking are the options of decoders that remask. The zero value gives none.
type Remasking struct {
	// Remask is how; "" is cap.
	Remask Remask `json:"remask,omitempty"`
	// Eta is η of cap, rescale and loop; 0 is 0.02, for rescale 0.015: ReMDM's. It is that of p2,
	// too; 0 is 1.
	Eta float64 `json:"eta,omitempty"`
	// TOn, TOff and AlphaOn are loop's; nil and 0 are 0.55, 0.05 and 0.9.
	TOn     *float64 `json:"t_on,omitempty"`
	TOff    *float64 `json:"t_off,omitempty"`
	AlphaOn float64  `json:"alpha_on,omitempty"`
	// NucleusP keeps the most probable tokens while their probabilities sum to at most so
	// much, the first in any case: unlike top-p without the one that crosses; 0 keeps all.
	NucleusP float64 `json:"nucleus_p,omitempty"`
	// Correct is "gibbs:MxN": each of N calls after the last masks M positions that were free
	// and draws them anew; "" is none. It is of all samplers.
	Correct string `json:"correct,omitempty"`
}

// ReMDM's own values.
const (
	defaultEta        = 0.02
	defaultEtaRescale = 0.015
	defaultTOn        = 0.55
	defaultTOff       = 0.05
	defaultAlphaOn    = 0.9
)

var remaskingOptions = []Option{
	{Name: "remask", Words: []string{"cap", "rescale", "conf", "loop", "forward-backward", "dfm"}, Default: "cap", Help: "`HOW` positions are masked again: cap, rescale, conf, loop, forward-backward or dfm", field: func(o *Options) any { return &o.Remask }},
	{Name: "eta", Default: "0.02, 0.015 for rescale, 1 for p2", Help: "`X`, the probability of being masked again, or its bound, at most 1; of p2 what multiplies the scores of tokens that stand", Least: aboveZero, Most: math.MaxFloat64, field: func(o *Options) any { return &o.Eta }},
	{Name: "t-on", Default: "0.55", Help: "`T` at which loop begins to remask", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.TOn }},
	{Name: "t-off", Default: "0.05", Help: "`T` at which loop ends", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.TOff }},
	{Name: "alpha-on", Default: "0.9", Help: "`FRACTION` of positions that are revealed in the loop", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.AlphaOn }},
	{Name: "nucleus-p", Default: "1", Help: "keep the likeliest tokens of at most probability `P` together, as ReMDM does: the one that crosses is left out; changes the distribution", Least: aboveZero, Most: 1, field: func(o *Options) any { return &o.NucleusP }},
	{Name: "correct", Lists: true, Default: "none", Help: "mask M positions anew in each of N further calls, and draw them again: gibbs:MxN, `HOW`", field: func(o *Options) any { return &o.Correct }},
}

// unusedRemasking tells of options that the way to remask excludes.
func (o Options) unusedRemasking(drop func(beside string, names ...string)) {
	kind := cmp.Or(o.Remask, RemaskCap)
	if kind != RemaskLoop {
		drop("remask "+string(kind), "t-on", "t-off", "alpha-on")
	}
	if kind != RemaskLoop && kind != RemaskCap && kind != RemaskRescale {
		drop("remask "+string(kind), "eta")
	}
}

// remasks makes the samplers that mask again what was revealed.
func (s *Sampler) remasks(o Options, _ Spec) error {
	set := &s.settings.Remasking
	*set = o.Remasking
	if o.Eta > 1 {
		return fault.Errorf("samplers", "eta %v: it is a probability here: must be at most 1", o.Eta)
	}
	set.Remask = cmp.Or(o.Remask, RemaskCap)
	switch set.Remask {
	case RemaskRescale:
		set.Eta = cmp.Or(o.Eta, defaultEtaRescale)
	case RemaskLoop, RemaskCap:
		set.Eta = cmp.Or(o.Eta, defaultEta)
	}
	if set.Remask == RemaskLoop {
		on, off := or(o.TOn, defaultTOn), or(o.TOff, defaultTOff)
		set.TOn, set.TOff, set.AlphaOn = &on, &off, cmp.Or(o.AlphaOn, defaultAlphaOn)
		if !(off > 0 && off < on && on < 1 && set.AlphaOn < 1) {
			return fault.Errorf("samplers", "t-off %v, t-on %v, alpha-on %v: must be 0 < t-off < t-on < 1 and alpha-on below 1", off, on, set.AlphaOn)
		}
		if mostly := set.Eta * set.AlphaOn / (1 - set.AlphaOn); mostly > 1 {
			return fault.Errorf("samplers", "eta %v with alpha-on %v reveals with probability %.6g: must be at most 1", set.Eta, set.AlphaOn, mostly)
		}
	}
	s.settings.Steps = cmp.Or(o.Steps, DefaultSteps)
	law := &remasking{steps: RemaskProbabilities(*set, s.settings.Steps), conf: set.Remask == RemaskConf, nucleus: cmp.Or(o.NucleusP, 1)}
	s.law = law
	s.settings.ChangesLaw = s.settings.ChangesLaw || law.nucleus < 1
	return nil
}
