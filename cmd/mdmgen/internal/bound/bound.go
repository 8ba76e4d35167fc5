// Package bound is the command that compares the two sides of the paper's bounds.
package bound

import (
	"cmp"
	"context"
	"slices"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Command is the command bound.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "bound",
		Usage:     "compare both sides of the paper's bounds",
		Arguments: "[FILE]",
		Description: "FILE is a world (a .json file with q0 and μ) or a text, as for score. On a world all statements are exact, for\n" +
			"the samplers that flags name or a default choice. On a text it prints for each window the exact −log P of\n" +
			"First-Hitting and the exact NELBO, whose mean gap is ε″ − KL(q0‖P_FHS), and the cost of other samplers.\n" +
			"Windows of more than 16 positions, of a time-conditioned network, or with --plans get a lower bound on the gap\n" +
			"from K plans. The exit status is 3 if a statement is violated. Values are in nats.",
		Flags: o.flags(),
		Check: o.check, Run: o.run,
	}
}

// settings holds all that the numbers depend on besides model and text.
type settings struct {
	Samplers []catalog.Settings `json:"samplers,omitempty"`
	Length   int                `json:"length,omitempty"`
	Windows  int                `json:"windows,omitempty"`
	Draws    int                `json:"draws,omitempty"`
	Plans    int                `json:"plans,omitempty"`
	Seed     *uint64            `json:"seed,omitempty"`
	// Confidence is the probability of the intervals.
	Confidence float64 `json:"confidence,omitempty"`
	As         string  `json:"as,omitempty"`
	Join       bool    `json:"join,omitempty"`
	Stride     int     `json:"stride,omitempty"`
	Context    int     `json:"context,omitempty"`
	Frame      string  `json:"frame,omitempty"`
	Tail       string  `json:"tail,omitempty"`
	Batch      int     `json:"batch,omitempty"`
	// Text is "sha256:…" of the windows' ids, Profile of spread's interactions.
	Text    string `json:"text,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Reference is --reference, ReferenceDigest the digest of its model.
	Reference       string `json:"reference,omitempty"`
	ReferenceDigest string `json:"reference_digest,omitempty"`
}

// bounding is one run of bound.
type bounding struct {
	*options
	ctx      context.Context
	streams  kit.Streams
	settings settings
	cases    []bound.Case
	// free is the number of positions of a window, 0 for a world.
	free int
}

// compare sets the cases, and records their samplers.
func (r *bounding) compare(cases []bound.Case) {
	r.cases, r.settings.Samplers, r.settings.Profile = cases, nil, r.sampler.Profile.Digest()
	for _, k := range cases {
		r.settings.Samplers = append(r.settings.Samplers, k.Sampler.Settings())
	}
}

func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	r := &bounding{options: o, ctx: ctx, streams: s, settings: settings{Length: cmp.Or(o.cut.Length, texts.ExactLength)}}
	defer r.pages.Close()
	if err := r.pages.Open(ctx, s); err != nil {
		return err
	}
	if o.world() && !r.planOnly && r.q0 == "" {
		return r.onWorld()
	}
	cases, err := r.readCases(samplers.Spec{}, nil)
	if err != nil {
		return err // Report this before opening the model. The effects of its noise are checked below.
	}
	for _, k := range cases {
		if (r.planOnly || r.q0 == "chain") && !k.Bounded() {
			return exit.Usagef("--sampler %s: --plan-only and --q0 chain need a collision bound, and it has none", k.Name)
		}
	}
	if r.planOnly {
		r.compare(cases)
		r.free = r.settings.Length
		return r.work(kit.NewProvenance(nil, nil), func() (bound.Report, error) { return bound.Plan(ctx, r.free, r.cases) })
	}
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	if cases, err = r.readCases(m.Spec(), m); err != nil {
		return err
	}
	r.compare(cases)
	e, err := likelihood.New(m, likelihood.Options{Batch: o.sampler.Batch, Blocks: r.q0 == "causal"})
	if err != nil {
		return err
	}
	return r.network(m, e)
}

// onWorld reports on a world. It uses the samplers of the flags, if any are given.
func (r *bounding) onWorld() error {
	r.settings = settings{}
	if slices.ContainsFunc(caseFlags(), r.all.Given) {
		cases, err := r.readCases(samplers.Spec{InfiniteSigma: true}, nil)
		if err != nil {
			return err
		}
		r.compare(cases)
		for _, k := range r.cases {
			if err := laws.Known(k.Sampler); err != nil {
				return r.all.Refuse("bound", err)
			}
		}
	}
	return r.work(kit.NewProvenance(nil, nil), func() (bound.Report, error) { return bound.World(r.ctx, r.path, r.cases) })
}
