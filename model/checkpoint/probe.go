package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

// probe is a config.json, with the parts that identify its family.
type probe struct {
	keys map[string]json.RawMessage
	root plainjson.Object // keys, and which of them were read
	// classes are those in architectures, then those in auto_map without their modules; class is
	// the one that identified the family, "" if keys did.
	classes []string
	class   string
}

func newProbe(text []byte) (probe, error) {
	var p probe
	if err := plainjson.Unmarshal(text, &p.keys); err != nil {
		return p, err
	}
	if p.keys == nil {
		return p, errors.New("not a JSON object")
	}
	p.root = plainjson.NewObject(p.keys)
	var list []string
	if raw, ok := p.keys["architectures"]; ok {
		if err := json.Unmarshal(raw, &list); err != nil {
			return p, errors.New("architectures: must be a list of names")
		}
	}
	p.classes = list
	var auto map[string]any
	if raw, ok := p.keys["auto_map"]; ok && json.Unmarshal(raw, &auto) == nil {
		for _, key := range []string{"AutoModelForMaskedLM", "AutoModelForCausalLM", "AutoModel"} {
			if name, ok := auto[key].(string); ok {
				p.classes = append(p.classes, name[strings.LastIndexByte(name, '.')+1:])
			}
		}
	}
	return p, nil
}

// kind returns model_type, "" if it is not text.
func (p probe) kind() string {
	var s string
	_ = json.Unmarshal(p.keys["model_type"], &s) // Faults are reported when it is read.
	return s
}

// null reports whether a key is present with the value null.
func (p probe) null(key string) bool { return string(p.keys[key]) == "null" }

// object reports whether the value of a key is an object.
func (p probe) object(key string) bool { return bytes.HasPrefix(p.keys[key], []byte("{")) }

// pin is a key for which only one value, in JSON, is supported. It may be absent if the authors'
// class then assumes that value.
type pin struct {
	key, want string
	optional  bool
}

// pinned checks keys for which only one value is supported.
func (p probe) pinned(pins ...pin) error {
	for _, k := range pins {
		switch has := p.root.Has(k.key); {
		case !has && !k.optional:
			return fmt.Errorf("missing: %s", k.key)
		case has && string(p.keys[k.key]) != k.want:
			return fmt.Errorf("%s is %.60s: only %s is read", k.key, facts.Plain(string(p.keys[k.key])), k.want)
		}
	}
	return nil
}

// harmless are patterns of keys that no network's rows depend on: what transformers keeps in every
// config, defaults of generation, training and storage.
var harmless = strings.Fields(`architectures auto_map model_type _* transformers* *name_or_path *dtype *version unsloth_* *_class
	*dropout* *_pdrop init* *label* *loss* *_id *_ids *_token tokenizer* output_* *return_dict* problem_type finetuning_task task_specific_params
	use_cache cache_implementation gradient_checkpointing torchscript use_bfloat16 pretraining_tp *flash_att* attn_implementation chunk_size_feed_forward
	max_length min_length do_sample early_stopping num_beam* *_penalty temperature top_k top_p typical_p *no_repeat_ngram_size
	num_return_sequences remove_invalid_values suppress_tokens begin_suppress_tokens prefix`)

// known rejects a field of an object that was not read and matches no pattern, unless its value
// switches nothing on, as a factor of 1 does: code of the same class may have been changed to depend on
// it.
func known(o plainjson.Object, patterns []string) error {
	for _, name := range o.Unread() {
		var v any
		_ = json.Unmarshal(o.Fields[name], &v)
		switch x := v.(type) {
		case []any:
			v = len(x) > 0
		case map[string]any:
			v = len(x) > 0
		}
		if v == nil || v == false || v == 0.0 || v == "" || v == 1.0 && strings.HasSuffix(name, "factor") ||
			slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok }) {
			continue
		}
		return fmt.Errorf("%s is %.60s: whether the network depends on it is not known: remove it if it does not", facts.Plain(o.Path+name), facts.Plain(string(o.Fields[name])))
	}
	return nil
}

// find returns the family of a config, and records the class that identified it.
func (p *probe) find() (*Family, error) {
	for _, class := range p.classes {
		if why := refused(class); why != "" {
			return nil, fmt.Errorf("%s: %s", quoteName(class), why)
		}
	}
	for _, class := range p.classes {
		for _, f := range families {
			if !slices.Contains(f.classes, class) {
				continue
			}
			if f.Network == Gated && !f.blocks {
				if key := p.blocks(); key != "" {
					return nil, fmt.Errorf("%s is above 1: %s", key, blockCausal)
				}
			}
			p.class = class
			return f, nil
		}
	}
	for _, f := range families {
		if f.recognise != nil && f.recognise(*p) {
			return f, nil
		}
	}
	var names, said []string
	for _, f := range families {
		names = append(names, f.Name)
	}
	for _, class := range p.classes {
		said = append(said, quoteName(class))
	}
	what := "neither architectures nor auto_map names a class"
	if said != nil {
		what = "its class is " + strings.Join(slices.Compact(said), ", ")
	}
	if t := p.kind(); t != "" {
		what += fmt.Sprintf(" (model_type is %.60q)", t)
	}
	return nil, fmt.Errorf("not the config of a supported network, one of %s: %s", strings.Join(names, ", "), what)
}
