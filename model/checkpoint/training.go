package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
	"mdmgen/model/internal/pickle"
)

// Weights selects one of the two sets of weights in a trainer's file.
type Weights string

const (
	// EMA are the exponential moving averages of training, which published numbers use.
	EMA Weights = "ema"
	// Raw are the parameters as the optimizer left them.
	Raw Weights = "raw"
)

// training holds what a trainer's file has in addition to the state_dict.
type training struct {
	ema    []Tensor // in the order of the network's parameters; nil if there are none
	config any      // hyper_parameters.config of MDLM's trainer
}

// at follows keys through dicts and the stand-ins for omegaconf's containers and nodes.
func at(v any, path ...string) any {
	v = unwrap(v)
	for _, key := range path {
		d, ok := v.(*pickle.Dict)
		if !ok {
			return nil
		}
		v = unwrap(d.Get(key))
	}
	return v
}

// unwrap returns the value inside an object of omegaconf.
func unwrap(v any) any {
	o, ok := v.(*pickle.Object)
	if !ok || !strings.HasPrefix(o.Class.Module, "omegaconf.") {
		return v
	}
	state, ok := o.State.(*pickle.Dict)
	if !ok {
		return nil
	}
	if v := state.Get("_content"); v != nil {
		return v
	}
	return state.Get("_val")
}

// trainedConfig returns the network's config from the one saved by the trainer of MDLM or BD3-LM;
// the embedding has the given number of rows.
func trainedConfig(v any, columns int) (Config, error) {
	text := func(path ...string) string { s, _ := at(v, path...).(string); return s }
	c := Config{Family: MDLM, Columns: columns, MaskID: columns - 1, Noise: text("noise", "type")}
	method := v // BD3-LM's trainer keeps it separate
	if a := at(v, "algo"); a != nil {
		method = a
	}
	for _, x := range []struct {
		of        any
		key, want string
	}{{method, "backbone", "dit"}, {v, "diffusion", "absorbing_state"}, {method, "parameterization", "subs"}} {
		if got, _ := at(x.of, x.key).(string); got != x.want {
			return c, fmt.Errorf("hyper_parameters.config: %s is %q: only networks with %s are supported", x.key, got, x.want)
		}
	}
	c.TimeConditioned, _ = at(method, "time_conditioning").(bool)
	// This tokenizer has its own mask, so no row was appended.
	if text("data", "tokenizer_name_or_path") == "bert-base-uncased" {
		c.MaskID = 103
	}
	var f plainjson.Faults
	for _, x := range []struct {
		name string
		to   *int
	}{{"hidden_size", &c.Hidden}, {"cond_dim", &c.Cond}, {"n_blocks", &c.Blocks}, {"n_heads", &c.Heads}, {"length", &c.Length}} {
		n, ok := at(v, "model", x.name).(int64)
		if !ok {
			f.Lack("model." + x.name)
		}
		*x.to = int(min(max(n, -1), 1<<30)) // Values above the limits stay above them.
	}
	if err := f.Err(); err != nil {
		return c, fmt.Errorf("hyper_parameters.config: %w", err)
	}
	if blocks, _ := at(method, "cross_attn").(bool); blocks {
		c.Family, c.BlockSize = BD3LM, c.Length
		if n, ok := at(v, "block_size").(int64); ok { // else a reference to the length
			c.BlockSize = int(min(max(n, -1), 1<<30))
		}
		if c.TimeConditioned {
			return c, errors.New("hyper_parameters.config: algo.time_conditioning is true: only false is supported")
		}
	}
	return c, c.check()
}

// choose replaces the parameters in tensors, which are keyed by plain name, by their averages if w
// is EMA, or if w is "" and there are averages. It returns its choice, "" if there is none.
func (t *training) choose(w Weights, c Config, order []string, tensors map[string]Tensor) (Weights, error) {
	if t == nil || t.ema == nil {
		if w != "" {
			return "", fault.Unused("has one set of weights", fault.Term{Name: "weights", Value: string(w)})
		}
		return "", nil
	}
	if w == Raw {
		return Raw, nil
	}
	asked := map[string]bool{}
	for s := range c.Tensors() {
		asked[s.Name] = true
	}
	var names []string // of the parameters, in the order in which their modules were created
	for _, stored := range order {
		if name := plainName(stored); asked[name] {
			names = append(names, name)
		}
	}
	if len(names) != len(t.ema) {
		return "", fmt.Errorf("ema.shadow_params has %d tensors: the network has %d parameters", len(t.ema), len(names))
	}
	for i, name := range names {
		if !slices.Equal(tensors[name].Shape, t.ema[i].Shape) {
			return "", fmt.Errorf("ema.shadow_params[%d] has shape %v: %s has %v", i, t.ema[i].Shape, name, tensors[name].Shape)
		}
		tensors[name] = t.ema[i]
	}
	return EMA, nil
}
