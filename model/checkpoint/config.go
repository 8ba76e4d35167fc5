package checkpoint

import (
	"cmp"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/model/facts"
)

// Config holds the settings of a network in config.json. Fields that a family does not have are
// zero.
type Config struct {
	Family string // the name of a [Family]
	Hidden int    // width of the residual stream
	Cond   int    // width of the conditioning vector of MDLM and SEDD
	Blocks int
	Heads  int // attention heads
	// KVHeads is the number of heads of keys and values if query heads share them, Head the width
	// of a head if it is not Hidden/Heads, Inner the width of the MLP if it is not 4·Hidden.
	KVHeads, Head, Inner int
	Length               int // positions that the network was trained for
	// Positions is the number that it takes if that is more than Length; see [Config.Most].
	Positions int
	Columns   int // rows of the vocabulary's embedding: tokens, MASK and padding
	// Tokens is the number of ids if Columns is greater; the rest is padding.
	Tokens int
	// MaskID is the id of MASK, facts.Unknown if config.json has none.
	MaskID int
	// TimeConditioned means that the network reads σ; without it an MDLM network's conditioning is
	// evaluated at σ = 0.
	TimeConditioned bool
	// Plain means that a BD3-LM network has no conditioning network.
	Plain bool
	// ScaleBySigma means that a SEDD network's log-scores are its logits
	// − log(expm1 σ) − log(Columns−1).
	ScaleBySigma bool
	// BlockSize is the length of blocks whose rows see no later block, 0 if every row sees all.
	BlockSize int
	// Causal means that blocks may begin anywhere, after causal rows.
	Causal bool
	// Noise is the noise schedule of training: loglinear, linear, cosine, geometric.
	Noise string
	// Shift means that position i predicts the token at i+1.
	Shift Tristate

	Epsilon    float64 // of the norms, 0 if the family fixes it
	RotaryBase float64 // of the rotary frequencies, 0 if the family fixes it
	Rotary     int     // width of the part of a head that is rotated, 0 if it is all of it
	Yarn       Yarn
	QueryScale QueryScale
	QKVBias    bool // queries, keys and values have biases
	OutBias    bool // and so has the layer after attention
	HeadNorm   bool // queries and keys are normalised by head
	Tied       bool // the last linear layer is the embedding
	Types      int  // segment types of BERT, of which the first is used
	Experts    Experts
	Local      Local
}

// Local describes the blocks In which a position sees only those at most Reach away, with a base of the
// rotary frequencies of their own. It is zero if there are none.
type Local struct {
	Reach      int
	RotaryBase float64
	In         [maxBlocks]bool
}

// Conditioned reports whether a [DDiT] has a conditioning network, which modulates its norms.
func (c Config) Conditioned() bool { return c.Family != RADD && !c.Plain }

// Tristate is a truth value that a config may leave open.
type Tristate int

// The values of Tristate.
const (
	No       Tristate = iota // false
	Yes                      // true
	Unstated                 // the config does not say
)

// HeadSize returns the width of an attention head.
func (c Config) HeadSize() int {
	if c.Head > 0 {
		return c.Head
	}
	return c.Hidden / c.Heads
}

// RotarySize returns the width of the part of a head that is rotated.
func (c Config) RotarySize() int { return cmp.Or(c.Rotary, c.HeadSize()) }

// KeyHeads returns the number of heads of keys and values.
func (c Config) KeyHeads() int { return cmp.Or(c.KVHeads, c.Heads) }

// Most returns the maximum length of a canvas that the network's positions cover.
func (c Config) Most() int { return max(c.Length, c.Positions) }

// Limits on what a config may ask for, far above any published network.
const (
	maxConfig  = 1 << 20 // bytes of config.json
	maxWidth   = 1 << 16
	maxBlocks  = 1 << 10
	maxLength  = 1 << 20
	maxColumns = 1 << 22
)

// ParseConfig reads config.json. The family follows from architectures and auto_map, or for MDLM,
// RADD and SEDD from keys that only they have. A key that the network's rows depend on must be
// present if the default of its class differs from what published networks need. All other keys must
// be known to be harmless, or be false, 0 or empty.
func ParseConfig(text []byte) (Config, error) {
	if len(text) > maxConfig {
		return Config{}, fmt.Errorf("%d bytes: at most %d are accepted", len(text), maxConfig)
	}
	p, err := newProbe(text)
	if err != nil {
		return Config{}, err
	}
	for _, key := range []string{"quantization_config", "quantization"} { // The latter is MLX's.
		if o := p.root.In(key); len(o.Fields) > 0 {
			method := "another program"
			o.May("quant_method", &method)
			return Config{}, fmt.Errorf("%s: weights quantized by %.60q are not read: give the model before its quantization, which can be opened in int8 or int4", key, method)
		}
	}
	f, err := p.find()
	if err != nil {
		return Config{}, err
	}
	c, err := f.parse(p)
	if err == nil {
		err = p.pinned(f.pins...)
	}
	if err == nil && f.tree {
		err = known(p.root.In("model"), f.ignored)
	} else if err == nil {
		err = known(p.root, slices.Concat(harmless, f.ignored))
	}
	if doubt := f.doubt(); err != nil && doubt != nil {
		err = fmt.Errorf("%w: %w", doubt, err)
	}
	if err != nil {
		return Config{}, err
	}
	c.Family = f.Name
	return c, c.check()
}

// check returns all inconsistencies in one line.
func (c Config) check() error {
	var faults fault.List
	in := func(what string, v, lo, hi int) {
		faults.If(v < lo || v > hi, "%s is %d: must be in %d..%d", what, v, lo, hi)
	}
	in("hidden size", c.Hidden, 2, maxWidth)
	in("number of blocks", c.Blocks, 1, maxBlocks)
	in("number of heads", c.Heads, 1, maxWidth)
	in("length", c.Length, 1, maxLength)
	if c.BlockSize != 0 {
		in("block size", c.BlockSize, 1, maxLength)
	}
	if c.Positions > 0 {
		in("length", c.Positions, 1, maxLength)
	}
	in("vocabulary size", c.Columns, 2, maxColumns)
	if c.Columns >= 2 && c.MaskID != facts.Unknown {
		in("mask id", c.MaskID, 0, c.Columns-1)
	}
	if c.Network() == DDiT && c.Conditioned() {
		in("cond_dim", c.Cond, 1, maxWidth)
	}
	for _, base := range map[Network][]float64{Gated: {c.RotaryBase}, Modern: {c.RotaryBase, c.Local.RotaryBase}}[c.Network()] {
		faults.If(!(base >= 1 && base <= 1e12), "base of the rotary frequencies is %v: must be in 1..1e12", base)
	}
	in("reach of a local block", c.Local.Reach, 0, maxLength)
	if c.Network() != DDiT {
		in("width of the MLP", c.Inner, 1, maxWidth)
		in("number of ids", c.Tokens, 2, c.Columns)
		faults.If(!(c.Epsilon > 0 && c.Epsilon <= 0.1), "epsilon of the norms is %v: must be above 0 and at most 0.1", c.Epsilon)
	}
	texts := []string{c.Experts.fault()}
	if c.Heads > 0 && c.Hidden > 0 {
		texts = []string{c.headFault(), c.rotationFault(), c.Experts.fault()}
	}
	for _, text := range texts {
		faults.If(text != "", "%s", text)
	}
	faults.If(!slices.Contains([]string{"loglinear", "linear", "cosine", "geometric"}, c.Noise), "noise.type is %s: must be loglinear, linear, cosine or geometric", quoteName(c.Noise))
	return faults.Err()
}

// headFault returns the first problem with the heads, "" if there is none.
func (c Config) headFault() string {
	switch size := c.HeadSize(); {
	case c.Head < 0 || c.Head > maxWidth:
		return fmt.Sprintf("width of a head is %d: must be in 1..%d", c.Head, maxWidth)
	case c.Heads <= maxWidth && c.Head*c.Heads > maxWidth:
		return fmt.Sprintf("%d heads of %d numbers are %d: must be at most %d", c.Heads, c.Head, c.Head*c.Heads, maxWidth)
	case c.Head == 0 && c.Hidden%c.Heads != 0:
		return fmt.Sprintf("%d heads do not divide the hidden size %d", c.Heads, c.Hidden)
	case c.Rotary > size:
		return fmt.Sprintf("%d numbers of a head are rotated, which has %d", c.Rotary, size)
	case size%2 != 0 && c.Network() != Encoder && c.Network() != Learned:
		return fmt.Sprintf("heads of %d numbers (hidden size %d, %d heads): rotary embedding needs an even number", size, c.Hidden, c.Heads)
	case c.Network() == Gated && (c.KVHeads < 1 || c.Heads%c.KVHeads != 0):
		return fmt.Sprintf("%d heads of keys and values do not divide %d heads", c.KVHeads, c.Heads)
	}
	return ""
}
