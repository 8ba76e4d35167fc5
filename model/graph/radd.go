package graph

import "mdmgen/model/checkpoint"

// radd is the conditioner of Ou et al.'s network (arXiv 2406.03736), which has no time. The row
// holds raw logits; upstream's forward() takes the log-softmax of all columns but the mask's.
func radd(_ *builder, c *checkpoint.Checkpoint) conditioner { return unconditioned{c} }
