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
	// Costs are those of calls for the windows 1, 2, 4, … in any unit, from [Costs]; nil assumes that 16
	// more positions cost as much as a call of one.
	Costs []float64 `json:"-"`
}

// List returns the options, bound to the fields of o.
func (o *Options) List() []samplers.Option {
	return []samplers.Option{{Field: &o.Window, Name: "window", Default: "by itself", Help: "draft tokens of blocks of `N` positions; by itself, it follows what is kept", Flag: true, Least: 1, Most: math.MaxInt32, Whole: true, Calls: true}}
}

// defaultWindow is the greatest window that is chosen by itself for a network without a block size, the
// published models' block.
const defaultWindow = 32

func (o *Options) windows(c samplers.Spec) windows {
	if o.Window > 0 {
		return fixed(o.Window)
	}
	return windows{most: cmp.Or(c.BlockSize, defaultWindow), costs: o.Costs}
}

// windows says how windows are chosen: least if it is above 0, else the best up to most.
type windows struct {
	least, most int
	costs       []float64
}

func fixed(n int) windows { return windows{least: n, most: n} }

// pace chooses the windows of a sequence.
type pace struct {
	windows
	// right is the number of right drafts of tried, both decaying. idle counts the tokens drawn without a
	// draft since the last, after patience of which another is tried.
	right, tried   float64
	idle, patience int
}

// The share of past rounds that counts in the next, and the first number of tokens after which drafts
// are tried again; it doubles as long as they are in vain.
const (
	decay    = 0.9
	patience = 16
)

func (w windows) begin() pace { return pace{windows: w, right: 2, tried: 2.5, patience: patience} }

// took records that a call kept right of some drafts, and a token more.
func (p *pace) took(right, drafts int) {
	if drafts == 0 {
		p.idle++
		return
	}
	p.right, p.tried = decay*p.right+float64(right), decay*p.tried+float64(min(right+1, drafts))
	if p.idle = 0; right == 0 {
		p.patience *= 2
	} else {
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
	q := p.right / p.tried
	for i, n := 1, 2; n <= p.most; i, n = i+1, 2*n {
		cost := 2 * (1 + float64(n-1)/16)
		if i < len(p.costs) {
			cost = 2 * p.costs[i] / p.costs[0]
		}
		tokens := float64(n)
		if q < 1 {
			tokens = (1 - math.Pow(q, float64(n))) / (1 - q)
		}
		if gain := tokens / cost; gain > most {
			best, most = n, gain
		}
	}
	if best == 1 && p.idle >= p.patience {
		return min(2, p.most)
	}
	return best
}
