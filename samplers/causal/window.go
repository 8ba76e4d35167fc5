package causal

import (
	"cmp"
	"math"

	"mdmgen/samplers"
)

// Options are the options of speculate. The zero value selects the defaults.
type Options struct {
	// Window is the length of a block that drafts tokens, its first position the last token; 0 lets it
	// follow what was kept. It changes no token.
	Window int `json:"window,omitempty"`
	// RowCost is what each further row of a call costs, for a call of one row: see [RowCost]. 0 is 1/16.
	RowCost float64 `json:"-"`
}

// List returns the options, bound to the fields of o.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{{Field: &o.Window, Name: "window", Default: "by itself", Help: "draft tokens of blocks of `N` positions; by itself, it follows what is kept", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true, Calls: true}}
}

// most returns the greatest window that is chosen by itself: the block of the network's training, or that
// of the published ones.
func most(c samplers.Spec) int { return cmp.Or(c.BlockSize, 32) }

// pace chooses the windows of a sequence: least if it is above 0, else the best up to most.
type pace struct {
	least, most int
	cost        float64
	// right is the number of right drafts of tried, both decaying. idle counts the tokens drawn without a
	// draft since the last; after patience of them another is tried.
	right, tried   float64
	idle, patience int
}

// The share of past rounds that counts in the next, and the first number of tokens after which drafts
// are tried again; it doubles as long as they are in vain.
const (
	decay    = 0.9
	patience = 16
)

// took records that a call kept right of some drafts, and a token more.
func (p *pace) took(right, drafts int) {
	if drafts == 0 {
		p.idle++
		return
	}
	p.right, p.tried = decay*p.right+float64(right), decay*p.tried+float64(min(right+1, drafts))
	if p.idle, p.patience = 0, 2*p.patience; right > 0 {
		p.patience = patience
	}
}

// window returns the next window: that with the most tokens for its cost, if each draft is right with the
// same probability. A window of one token takes one call, others take two.
func (p *pace) window() int {
	if p.least > 0 {
		return p.least
	}
	best, most := 1, 1.0
	if p.idle >= p.patience {
		best = min(2, p.most)
	}
	for n := 2; n <= p.most; n *= 2 {
		tokens, q := 1.0, p.right/p.tried
		for i := 1; i < n; i++ {
			tokens += math.Pow(q, float64(i))
		}
		if gain := tokens / (2 + 2*p.cost*float64(n-1)); gain > most {
			best, most = n, gain
		}
	}
	return best
}
