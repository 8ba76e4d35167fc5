package samplers

import (
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
)

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
