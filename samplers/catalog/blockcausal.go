package catalog

import (
	"cmp"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
)

// inBlocks sets the options for a network whose rows do not depend on later blocks of size
// positions, counted from position 0: to fill the canvas block by block, and to keep keys and
// values of finished blocks.
func (o *Options) inBlocks(size int) error {
	if size == 0 {
		return nil
	}
	if o.BlockLength = cmp.Or(o.BlockLength, size); size%o.BlockLength != 0 {
		return fault.Errorf("samplers", "block-length is %d: must divide the network's block size, %d positions", o.BlockLength, size)
	}
	if err := o.together(samplers.Spec{BlockSize: size}); err != nil {
		return err
	}
	if o.PromptLength = new(int); o.Cache == "" || o.Cache == "auto" {
		o.Cache = string(cache.Blocks)
	}
	return nil
}
