package graph

import "mdmgen/model/checkpoint"

// mdlm is the conditioner of Sahoo et al.'s network (arXiv 2406.07524). If it is not
// time-conditioned, upstream passes σ = 0, whatever the time. A BD3-LM network may have no
// conditioning.
func mdlm(b *builder, c *checkpoint.Checkpoint) conditioner {
	if !c.Config.Conditioned() {
		return unconditioned{c}
	}
	if c.Config.TimeConditioned {
		return newTimed(b, c)
	}
	return newConstantly(c)
}
