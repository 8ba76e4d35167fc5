package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mdmgen/internal/plainjson"
)

// The network families whose checkpoints are read.
const (
	MDLM = "mdlm" // Sahoo et al. 2024, arXiv 2406.07524
	RADD = "radd" // Ou et al. 2024, arXiv 2406.03736
	SEDD = "sedd" // Lou et al. 2024, arXiv 2310.16834, absorbing graph
)

// Frequencies is the width of the sinusoidal embedding of σ that the three
// families share: Frequencies/2 cosines, then as many sines.
const Frequencies = 256

// Config is what config.json says about a network.
type Config struct {
	Family  string // MDLM, RADD or SEDD
	Hidden  int    // width of the residual stream
	Cond    int    // width of the conditioning vector; 0 for RADD
	Blocks  int
	Heads   int // attention heads; Hidden/Heads is even
	Length  int // positions that the network was trained for
	Columns int // rows of the vocabulary embedding: tokens and MASK
	MaskID  int
	// TimeConditioned says that the network reads σ; an MDLM network that does
	// not has its conditioning evaluated at σ = 0.
	TimeConditioned bool
	// ScaleBySigma says that a SEDD network's log-scores are its logits
	// − log(expm1 σ) − log(Columns−1).
	ScaleBySigma bool
	// Noise is the schedule of training: loglinear, linear, cosine, geometric.
	Noise string
}

// HeadSize returns the width of an attention head.
func (c Config) HeadSize() int { return c.Hidden / c.Heads }

// Limits on what a config may ask for, far above any published network.
const (
	maxConfig  = 1 << 20 // bytes of config.json
	maxWidth   = 1 << 16
	maxBlocks  = 1 << 10
	maxLength  = 1 << 17
	maxColumns = 1 << 22
)

// flatConfig is MDLM's config.json.
type flatConfig struct {
	ModelType        *string `json:"model_type"`
	HiddenDim        *int    `json:"hidden_dim"`
	CondDim          *int    `json:"cond_dim"`
	NBlocks          *int    `json:"n_blocks"`
	NHeads           *int    `json:"n_heads"`
	ModelLength      *int    `json:"model_length"`
	VocabSize        *int    `json:"vocab_size"`
	MaskTokenID      *int    `json:"mask_token_id"`
	TimeConditioning *bool   `json:"time_conditioning"`
}

// treeConfig is the omegaconf tree that RADD and SEDD publish.
type treeConfig struct {
	Tokens *int `json:"tokens"`
	Graph  *struct {
		Type *string `json:"type"`
	} `json:"graph"`
	Noise *struct {
		Type *string `json:"type"`
	} `json:"noise"`
	Model *struct {
		Type         *string `json:"type"`
		HiddenSize   *int    `json:"hidden_size"`
		CondDim      *int    `json:"cond_dim"`
		Length       *int    `json:"length"`
		NBlocks      *int    `json:"n_blocks"`
		NHeads       *int    `json:"n_heads"`
		ScaleBySigma *bool   `json:"scale_by_sigma"`
	} `json:"model"`
}

// ParseConfig reads config.json: MDLM's flat object, or the nested tree of RADD
// and SEDD. Every key that the network's shape depends on must be there; all
// other keys are ignored. The family of a tree is its model.type ("ddit_wot" is
// RADD, "ddit" SEDD); where that is absent, SEDD is what has a scale_by_sigma.
func ParseConfig(text []byte) (Config, error) {
	if len(text) > maxConfig {
		return Config{}, fmt.Errorf("%d bytes: at most %d are accepted", len(text), maxConfig)
	}
	var keys map[string]json.RawMessage
	if err := plainjson.Unmarshal(text, &keys); err != nil {
		return Config{}, err
	}
	if keys == nil {
		return Config{}, errors.New("not a JSON object")
	}
	var c Config
	var err error
	if m, ok := keys["model"]; ok && bytes.HasPrefix(m, []byte("{")) {
		c, err = parseTree(text)
	} else {
		c, err = parseFlat(text)
	}
	if err != nil {
		return Config{}, err
	}
	return c, c.check()
}

func parseFlat(text []byte) (Config, error) {
	var f flatConfig
	if err := plainjson.Unmarshal(text, &f); err != nil {
		return Config{}, err
	}
	if f.ModelType != nil && *f.ModelType != MDLM {
		return Config{}, fmt.Errorf("model_type is %q: networks of type mdlm, and the trees of RADD and SEDD, are read", *f.ModelType)
	}
	if f.ModelType == nil && f.HiddenDim == nil {
		return Config{}, errors.New("neither model_type nor model is there: not the config of an MDLM, RADD or SEDD network")
	}
	c := Config{Family: MDLM, Noise: "loglinear"}
	err := need(
		field{"hidden_dim", f.HiddenDim, &c.Hidden}, field{"cond_dim", f.CondDim, &c.Cond},
		field{"n_blocks", f.NBlocks, &c.Blocks}, field{"n_heads", f.NHeads, &c.Heads},
		field{"model_length", f.ModelLength, &c.Length}, field{"vocab_size", f.VocabSize, &c.Columns})
	if err != nil {
		return c, err
	}
	// The published class takes false for an absent key, and the mask for the
	// row that was appended to the tokenizer's.
	c.TimeConditioned = f.TimeConditioning != nil && *f.TimeConditioning
	c.MaskID = c.Columns - 1
	if f.MaskTokenID != nil {
		c.MaskID = *f.MaskTokenID
	}
	return c, nil
}

func parseTree(text []byte) (Config, error) {
	var t treeConfig
	if err := plainjson.Unmarshal(text, &t); err != nil {
		return Config{}, err
	}
	m := t.Model
	var c Config
	switch {
	case m.Type == nil && m.ScaleBySigma == nil, m.Type != nil && *m.Type == "ddit_wot":
		c.Family = RADD
	case m.Type == nil, *m.Type == "ddit":
		c.Family = SEDD
	default:
		return c, fmt.Errorf("model.type is %q: must be ddit_wot (RADD) or ddit (SEDD)", *m.Type)
	}
	if t.Graph != nil && t.Graph.Type != nil && *t.Graph.Type != "absorb" {
		return c, fmt.Errorf("graph.type is %q: only absorb is masked diffusion", *t.Graph.Type)
	}
	c.Noise = "loglinear"
	if t.Noise != nil && t.Noise.Type != nil {
		c.Noise = *t.Noise.Type
	}
	want := []field{{"tokens", t.Tokens, &c.MaskID}, {"model.hidden_size", m.HiddenSize, &c.Hidden},
		{"model.n_blocks", m.NBlocks, &c.Blocks}, {"model.n_heads", m.NHeads, &c.Heads}, {"model.length", m.Length, &c.Length}}
	if c.Family == SEDD {
		c.TimeConditioned = true
		c.ScaleBySigma = m.ScaleBySigma != nil && *m.ScaleBySigma
		want = append(want, field{"model.cond_dim", m.CondDim, &c.Cond})
	}
	if err := need(want...); err != nil {
		return c, err
	}
	if c.MaskID < 1 || c.MaskID >= maxColumns {
		return c, fmt.Errorf("tokens is %d: must be in 1..%d", c.MaskID, maxColumns-1)
	}
	c.Columns = c.MaskID + 1
	return c, nil
}

// field is a required number of a config.
type field struct {
	name string
	from *int
	to   *int
}

// need copies required numbers and names all that are missing.
func need(fields ...field) error {
	var missing []string
	for _, f := range fields {
		if f.from == nil {
			missing = append(missing, f.name)
			continue
		}
		*f.to = *f.from
	}
	if missing != nil {
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return nil
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
	in("vocabulary size", c.Columns, 2, maxColumns)
	if c.Columns >= 2 {
		in("mask id", c.MaskID, 0, c.Columns-1)
	}
	if c.Family != RADD {
		in("cond_dim", c.Cond, 1, maxWidth)
	}
	if c.Heads > 0 && c.Hidden > 0 {
		if c.Hidden%c.Heads != 0 {
			faults = append(faults, fmt.Sprintf("%d heads do not divide the hidden size %d", c.Heads, c.Hidden))
		} else if c.HeadSize()%2 != 0 {
			faults = append(faults, fmt.Sprintf("heads of %d numbers (hidden size %d, %d heads): rotary embedding needs an even number", c.HeadSize(), c.Hidden, c.Heads))
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
