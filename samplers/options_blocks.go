package samplers

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"mdmgen/internal/fault"
)

// blocks makes the samplers that reveal FHS's order in groups.
func (s *Sampler) blocks(o Options, c Spec) error {
	p, err := parseSizes(o.Sizes)
	if err != nil {
		return err
	}
	s.settings.Sizes = cmp.Or(o.Sizes, "equal")
	if p.curve == GridProfile {
		if err := checkProfile(o.Profile); err != nil {
			return err
		}
		p.profile = slices.Clone(o.Profile)
	}
	if p.sizes == nil {
		p.steps, p.known = cmp.Or(o.Steps, DefaultSteps), new(sync.Map)
		s.settings.Steps = p.steps
	}
	if s.settings.Sampler == "parallel-fhs" {
		s.law = p
		return nil
	}
	s.law = lookBack{p, s.floor(o), c.mostMasked()}
	return nil
}

// mostMasked is the greatest masked fraction at which a network is asked: below 1 where it has
// no row at 1, that of the end of its noise.
func (c *Spec) mostMasked() float64 {
	if !c.TimeConditioned || c.InfiniteSigma {
		return 1
	}
	noise, _ := ParseNoise(c.Noise) // which New has checked
	_, end := noise.Range()
	if math.IsInf(end, 1) {
		end = defaultT
	}
	return masked(end)
}

// parseSizes reads the sizes of groups; steps is not yet set.
func parseSizes(text string) (parallelFHS, error) {
	switch text {
	case "", "equal":
		return parallelFHS{curve: GridLambda}, nil
	case string(GridCos2), string(GridCosine), string(GridProfile):
		return parallelFHS{curve: GridKind(text)}, nil
	}
	list, err := parseInts(text, 1)
	if err != nil {
		return parallelFHS{}, fault.Errorf("samplers", "sizes %q: must be equal, cos2, cosine, profile or a list of sizes: %w", text, err)
	}
	return parallelFHS{sizes: list}, nil
}
