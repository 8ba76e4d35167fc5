package catalog

import (
	"cmp"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
)

// inBlocks sets the options for a network that fills blocks: to fill the canvas block by block, and to
// keep keys and values of finished blocks. The rows of a block-causal one do not depend on later blocks,
// counted from position 0.
func (o *Options) inBlocks(c samplers.Spec) error {
	if c.BlockSize == 0 {
		return nil
	}
	if d, _ := Describe(o.Sampler); d.Kind == samplers.ByOrder {
		// It has no blocks.
	} else if o.BlockLength = cmp.Or(o.BlockLength, c.BlockSize); c.Grid()%o.BlockLength != 0 {
		return fault.Errorf("samplers", "block-length is %d: must divide the network's block size, %d positions", o.BlockLength, c.BlockSize)
	}
	if err := o.together(samplers.Spec{BlockSize: c.BlockSize, Causal: c.Causal}); err != nil {
		return err
	}
	if c.Grid() > 0 {
		o.PromptLength = new(int)
	}
	o.Cache = cmp.Or(o.Cache, string(cache.Blocks))
	return nil
}
