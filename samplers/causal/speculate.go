package causal

import "mdmgen/samplers"

// Speculate is the sampler speculate.
var Speculate = Sampler{samplers.Descriptor{
	Kind:    samplers.ByOrder,
	Name:    "speculate",
	Summary: "causal in fewer calls: drafts by the rows of a block",
	Law: "The ids of causal with the same seed, at any temperature and truncation. A call about a block of window positions, the first of which holds the last token and the others masks, drafts their tokens; a call about causal rows draws them, and what is kept are its draws as long as each is the draft, and one more. " +
		"Both calls draw with the same noise, a function of seed and position.",
	Calls:  "1 to 2d",
	Cost:   "Two calls a round, of window positions each with kept keys and values, for at least one token. The default window follows what was kept, against what a call of more rows costs beside one of one row where that was measured.",
	Source: "Linear self-speculation of Nemotron-Labs-Diffusion; noise: Wiggers and Hoogeboom, ICML 2020.",
	Flags:  []string{"window"},
}, func(o *Options, stop *int, b samplers.Build) (samplers.Kernel, error) {
	return newKernel(o, stop, b)
}}

// draft makes a request about a block, after the first token was drawn. It returns false if a window of
// one token is best, nothing is left to draft, or drafts wait to be checked.
func (d *decoder) draft(row *samplers.AskRow) bool {
	window := 1
	if len(d.drafts) == 0 && d.begun && len(d.free) > 1 {
		window = d.pace.window()
	}
	block := samplers.Span{From: d.free[0] - 1, To: min(d.free[0]-1+window, d.canvas.Len())}
	n := 0
	for n < len(d.free) && d.free[n] < block.To {
		n++
	}
	if n == 0 {
		return false
	}
	row.Block, d.asked = block, append(d.asked[:0], d.free[:n]...)
	return true
}

// drafted takes the drafts, up to the first position whose row has no token.
func (d *decoder) drafted(r samplers.Rows) {
	for i := range d.asked {
		got, err := r.Best(0, i)
		if err != nil {
			break
		}
		d.drafts = append(d.drafts, int64(got.Token))
	}
	d.begun = len(d.drafts) > 0 // else the next call is about a causal row
}
