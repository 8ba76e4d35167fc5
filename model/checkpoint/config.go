package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"mdmgen/model/facts"
)

// Config is what config.json says about a network. Fields that a family does not have are zero.
type Config struct {
	Family string // the name of a [Family]
	Hidden int    // width of the residual stream
	Cond   int    // width of the conditioning vector of MDLM and SEDD
	Blocks int
	Heads  int // attention heads
	// KVHeads are heads of keys and values where query heads share them, Head the width of a head
	// where it is not Hidden/Heads, Inner the width of the MLP where it is not 4·Hidden.
	KVHeads, Head, Inner int
	Length               int // positions that the network was trained for
	// Positions is how many it takes where that is more than Length; see [Config.Most].
	Positions int
	Columns   int // rows of the vocabulary's embedding: tokens, MASK and padding
	// Tokens is the number of ids where Columns has more; the rest is padding.
	Tokens int
	// MaskID is the id of MASK, facts.Unknown where config.json has none.
	MaskID int
	// TimeConditioned means that the network reads σ; an MDLM network that does
	// not has its conditioning evaluated at σ = 0.
	TimeConditioned bool
	// Plain means that a BD3-LM network has no conditioning network.
	Plain bool
	// ScaleBySigma means that a SEDD network's log-scores are its logits
	// − log(expm1 σ) − log(Columns−1).
	ScaleBySigma bool
	// BlockSize is the length of blocks whose rows see no later block, 0 where every row sees all.
	BlockSize int
	// Noise is the schedule of training: loglinear, linear, cosine, geometric.
	Noise string
	// Shift means that position i predicts the token at i+1.
	Shift Tristate

	Epsilon    float64 // of the norms, 0 where the family has one
	RotaryBase float64 // of the rotary frequencies, 0 where the family has one
	QKVBias    bool    // queries, keys and values have biases
	OutBias    bool    // and so has what attention gives
	HeadNorm   bool    // queries and keys are normalised a head
	Tied       bool    // the last linear layer is the embedding
	Types      int     // kinds of segments of BERT, of which the first is used
}

// Conditioned reports whether a [DDiT] has a conditioning network, by which its norms are modulated.
func (c Config) Conditioned() bool { return c.Family != RADD && !c.Plain }

// Tristate is a truth value that a config may leave open.
type Tristate int

// The values of Tristate.
const (
	No Tristate = iota
	Yes
	Untold
)

// HeadSize returns the width of an attention head.
func (c Config) HeadSize() int {
	if c.Head > 0 {
		return c.Head
	}
	return c.Hidden / c.Heads
}

// KeyHeads returns the number of heads of keys and values.
func (c Config) KeyHeads() int {
	if c.KVHeads > 0 {
		return c.KVHeads
	}
	return c.Heads
}

// Most returns the greatest length of a canvas that the network's positions reach to.
func (c Config) Most() int { return max(c.Length, c.Positions) }

// Limits on what a config may ask for, far above any published network.
const (
	maxConfig  = 1 << 20 // bytes of config.json
	maxWidth   = 1 << 16
	maxBlocks  = 1 << 10
	maxLength  = 1 << 17
	maxColumns = 1 << 22
)

// ParseConfig reads config.json, whose family architectures and auto_map name, or for MDLM,
// RADD and SEDD keys that only they have. Every key that the network's rows depend on must
// be there where its class has another default than published networks need; all others are
// ignored.
func ParseConfig(text []byte) (Config, error) {
	if len(text) > maxConfig {
		return Config{}, fmt.Errorf("%d bytes: at most %d are accepted", len(text), maxConfig)
	}
	p, err := newProbe(text)
	if err != nil {
		return Config{}, err
	}
	f, err := p.find()
	if err != nil {
		return Config{}, err
	}
	c, err := f.parse(p)
	if err != nil {
		return Config{}, err
	}
	c.Family = f.Name
	return c, c.check()
}

// check reports every inconsistency, on one line.
func (c Config) check() error {
	var faults []string
	in := func(what string, v, lo, hi int) {
		if v < lo || v > hi {
			faults = append(faults, fmt.Sprintf("%s is %d: must be in %d..%d", what, v, lo, hi))
		}
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
	if c.Network() == Gated && !(c.RotaryBase >= 1 && c.RotaryBase <= 1e12) {
		faults = append(faults, fmt.Sprintf("base of the rotary frequencies is %v: must be in 1..1e12", c.RotaryBase))
	}
	if c.Network() != DDiT {
		in("width of the MLP", c.Inner, 1, maxWidth)
		in("number of ids", c.Tokens, 2, c.Columns)
		if !(c.Epsilon > 0 && c.Epsilon <= 0.1) {
			faults = append(faults, fmt.Sprintf("epsilon of the norms is %v: must be above 0 and at most 0.1", c.Epsilon))
		}
	}
	if c.Heads > 0 && c.Hidden > 0 {
		if fault := c.headFault(); fault != "" {
			faults = append(faults, fault)
		}
	}
	switch c.Noise {
	case "loglinear", "linear", "cosine", "geometric":
	default:
		faults = append(faults, fmt.Sprintf("noise.type is %s: must be loglinear, linear, cosine or geometric", quoteName(c.Noise)))
	}
	if faults != nil {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// headFault says what is wrong with the heads, "" for nothing.
func (c Config) headFault() string {
	switch size := c.HeadSize(); {
	case c.Head < 0 || c.Head > maxWidth:
		return fmt.Sprintf("width of a head is %d: must be in 1..%d", c.Head, maxWidth)
	case c.Heads <= maxWidth && c.Head*c.Heads > maxWidth:
		return fmt.Sprintf("%d heads of %d numbers are %d: must be at most %d", c.Heads, c.Head, c.Head*c.Heads, maxWidth)
	case c.Head == 0 && c.Hidden%c.Heads != 0:
		return fmt.Sprintf("%d heads do not divide the hidden size %d", c.Heads, c.Hidden)
	case size%2 != 0 && c.Network() != Encoder:
		return fmt.Sprintf("heads of %d numbers (hidden size %d, %d heads): rotary embedding needs an even number", size, c.Hidden, c.Heads)
	case c.Network() == Gated && (c.KVHeads < 1 || c.Heads%c.KVHeads != 0):
		return fmt.Sprintf("%d heads of keys and values do not divide %d heads", c.KVHeads, c.Heads)
	}
	return ""
}
