package facts

import (
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Spec returns the samplers' description of the network. The caller sets InfiniteSigma, since only
// tables have rows there.
func (f Facts) Spec() samplers.Spec {
	return samplers.Spec{
		Vocabulary:      draw.Vocabulary{Columns: f.Columns, Mask: f.MaskID, Excluded: f.Excluded(), Shift: f.Shift},
		Noise:           f.Noise,
		TimeConditioned: f.TimeConditioned,
		BlockSize:       f.BlockSize,
		Causal:          f.Causal,
	}
}
