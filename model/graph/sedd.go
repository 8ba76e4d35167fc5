package graph

import "mdmgen/model/checkpoint"

// sedd is the conditioner of Lou et al.'s network (arXiv 2310.16834): MDLM's, always with the true
// σ. The row holds raw logits. Upstream's log-scores are logits − log(expm1 σ) − log(V−1) if
// scale_by_sigma is set, and 0 at the input token. The reader of the row applies both if needed:
// neither changes a softmax over the clean tokens of a masked position.
func sedd(b *builder, c *checkpoint.Checkpoint) conditioner { return newTimed(b, c) }
