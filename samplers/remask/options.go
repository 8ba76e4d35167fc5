package remask

import (
	"cmp"
	"math"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// ReMDM describes the sampler.
var ReMDM = Sampler{New: newReMDM, Descriptor: samplers.Descriptor{
	Kind:    samplers.ByRemasking,
	Name:    "remdm",
	Common:  true,
	Aliases: []string{"remasking"},
	Summary: "ancestral sampling that masks some revealed positions again",
	Law: "N equal steps from t = 1 to 0.00001, α = 1−t. In the step from t to s, a revealed position is masked again with probability σ, and a masked position is revealed with probability (α(s)−(1−σ)α(t))/(1−α(t)). Its token is drawn from the row on the canvas before the step. " +
		"One more call fills the remaining masks with the likeliest tokens. " +
		"The option remask chooses σ. cap: σ = min(eta, (1−α(s))/α(t)). rescale: σ = eta·min(1, (1−α(s))/α(t)). conf: min(1, (1−α(s))/α(t)) is shared in proportion to e^(−p), where p is the probability with which a token was drawn; masks are revealed as with σ = 0. loop: steps reveal without remasking up to a fraction alpha-on at t-on, remask with σ = eta at constant α up to t-off, and then reveal the rest. forward-backward: σ = (α(s)−α(t))/α(t). " +
		"Its last step would reveal with probability 2, and reveals with 1, so 1/N of the positions is left masked. dfm: with a = 10(t(1−t))^(1/4) + 1 and b = a−1, steps h = min(1/N, 1/(a/t + b/(1−t))), down to about t = 1/N, reveal with probability ah/t and mask with probability bh/(1−t). " +
		"With cap, rescale and forward-backward, masked fractions are as in tweedie, but the distribution differs, because tokens may be corrected. Given positions are never masked.",
	Calls:  "steps that reveal something, at most N + 1",
	Cost:   "One network call per step that reveals something, for the rows of the positions that it reveals. One more call if positions remain to fill. With N above d there may be more than d calls.",
	Source: "Wang et al., arXiv 2503.00307 (ReMDM), with Campbell et al., arXiv 2205.14987 (forward-backward) and Gat et al., arXiv 2407.15595 (discrete flow matching) in its code.",
	Flags:  []string{"remask", "steps", "eta", "t-on", "t-off", "alpha-on", "nucleus-p"},
	Edits:  true,
}}

// Options are the options of decoders that remask. The zero value selects the defaults.
type Options struct {
	// Remask is the way to remask; "" is cap.
	Remask Remask `json:"remask,omitempty"`
	// Eta is η of cap, rescale and loop; 0 is ReMDM's 0.02, or 0.015 for rescale. For P2 it is the
	// factor of the scores; 0 is 1.
	Eta float64 `json:"eta,omitempty"`
	// TOn, TOff and AlphaOn are those of loop; nil and 0 are 0.55, 0.05 and 0.9.
	TOn     *float64 `json:"t_on,omitempty"`
	TOff    *float64 `json:"t_off,omitempty"`
	AlphaOn float64  `json:"alpha_on,omitempty"`
	// NucleusP keeps the most probable tokens while their probabilities sum to at most NucleusP,
	// and always the first. Unlike with top-p the token that crosses is excluded. 0 keeps all.
	NucleusP float64 `json:"nucleus_p,omitempty"`
	// ThresholdBack is the probability below which wino masks a token again; 0 is 0.9.
	ThresholdBack float64 `json:"threshold_back,omitempty"`
}

// The defaults are ReMDM's.
const (
	defaultEta        = 0.02
	defaultEtaRescale = 0.015
	defaultTOn        = 0.55
	defaultTOff       = 0.05
	defaultAlphaOn    = 0.9
)

// Remask is a way to remask.
type Remask string

// The ways to remask. In a step from t to s, with α = 1−t, a revealed position is masked again with
// probability σ, and a masked one revealed with probability (α_s − (1−σ)α_t)/(1−α_t).
const (
	// RemaskCap sets σ = min(η, (1−α_s)/α_t).
	RemaskCap Remask = "cap"
	// RemaskRescale sets σ = η·min(1, (1−α_s)/α_t).
	RemaskRescale Remask = "rescale"
	// RemaskConf divides min(1, (1−α_s)/α_t) among the revealed positions in proportion to e^(−p),
	// where p is the probability with which their token was drawn; masked positions are revealed as
	// without remasking.
	RemaskConf Remask = "conf"
	// RemaskLoop reveals up to α_on while t > t_on, remasks with σ = η at constant α up to
	// t_off, and then reveals the rest.
	RemaskLoop Remask = "loop"
	// RemaskForwardBackward sets σ = (α_s−α_t)/α_t.
	RemaskForwardBackward Remask = "forward-backward"
	// RemaskDFM is the corrector of discrete flow matching, which shortens the steps.
	RemaskDFM Remask = "dfm"
)

// List returns the options, bound to the fields of o.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{
		{Field: &o.Remask, Name: "remask", Words: []string{"cap", "rescale", "conf", "loop", "forward-backward", "dfm"}, Default: "cap", Help: "mask positions again by `HOW`: cap, rescale, conf, loop, forward-backward or dfm"},
		{Field: &o.Eta, Name: "eta", Default: "0.02, 0.015 for rescale, 1 for p2", Help: "mask again with probability (at most) `X`, up to 1; for p2, multiply revealed tokens' scores by X", Least: samplers.AboveZero, Most: math.MaxFloat64},
		{Field: &o.TOn, Name: "t-on", Default: "0.55", Help: "with remask=loop, begin remasking at time `T`", Least: samplers.AboveZero, Most: 1},
		{Field: &o.TOff, Name: "t-off", Default: "0.05", Help: "with remask=loop, end remasking at time `T`", Least: samplers.AboveZero, Most: 1},
		{Field: &o.AlphaOn, Name: "alpha-on", Default: "0.9", Help: "with remask=loop, keep `FRACTION` of the positions revealed", Least: samplers.AboveZero, Most: 1},
		{Field: &o.ThresholdBack, Name: "threshold-back", Default: "0.9", Help: "mask a token again if its probability given the others is below `P`", Least: samplers.AboveZero, Most: 1},
		{Field: &o.NucleusP, Name: "nucleus-p", Default: "1", Help: "draw from the likeliest tokens of total probability at most `P`, as ReMDM does (top-p also keeps the token that crosses P); changes the distribution", Least: samplers.AboveZero, Most: 1},
	}
}

func newReMDM(o *Options, b samplers.Build) (_ samplers.Kernel, changesLaw bool, err error) {
	if o.Eta > 1 {
		return nil, false, fault.Errorf("samplers", "eta %v: is a probability in remdm: must be at most 1", o.Eta)
	}
	o.Remask = cmp.Or(o.Remask, RemaskCap)
	switch o.Remask {
	case RemaskRescale:
		o.Eta = cmp.Or(o.Eta, defaultEtaRescale)
	case RemaskLoop, RemaskCap:
		o.Eta = cmp.Or(o.Eta, defaultEta)
	}
	if o.Remask == RemaskLoop {
		on, off := samplers.ValueOr(o.TOn, defaultTOn), samplers.ValueOr(o.TOff, defaultTOff)
		o.TOn, o.TOff, o.AlphaOn = &on, &off, cmp.Or(o.AlphaOn, defaultAlphaOn)
		if !(off > 0 && off < on && on < 1 && o.AlphaOn < 1) {
			return nil, false, fault.Errorf("samplers", "t-off %v, t-on %v, alpha-on %v: must be 0 < t-off < t-on < 1 and alpha-on below 1", off, on, o.AlphaOn)
		}
		if mostly := o.Eta * o.AlphaOn / (1 - o.AlphaOn); mostly > 1 {
			return nil, false, fault.Errorf("samplers", "eta %v with alpha-on %v reveals with probability %.6g: must be at most 1", o.Eta, o.AlphaOn, mostly)
		}
	}
	*b.Steps = cmp.Or(*b.Steps, samplers.DefaultSteps)
	return &remdm{steps: RemaskProbabilities(*o, *b.Steps), conf: o.Remask == RemaskConf, nucleus: cmp.Or(o.NucleusP, 1)}, o.NucleusP > 0 && o.NucleusP < 1, nil
}

// Sampler is a sampler that masks again.
type Sampler struct {
	samplers.Descriptor
	// New makes the kernel, and sets o and b.Steps to the values in effect. changesLaw reports
	// whether tokens follow another law than the network's.
	New func(o *Options, b samplers.Build) (k samplers.Kernel, changesLaw bool, err error)
}
