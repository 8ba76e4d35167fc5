package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
)

// probe is a config.json, with the parts that identify its family.
type probe struct {
	keys map[string]json.RawMessage
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

// word returns the value of a key, "" if it is not text.
func (p probe) word(key string) string {
	var s string
	_ = json.Unmarshal(p.keys[key], &s) // Faults are reported when it is read.
	return s
}

// null reports whether a key is present with the value null.
func (p probe) null(key string) bool { return string(p.keys[key]) == "null" }

// object reports whether the value of a key is an object.
func (p probe) object(key string) bool { return bytes.HasPrefix(p.keys[key], []byte("{")) }

// settings reads the config's values.
func (p probe) settings() plainjson.Object { return plainjson.NewObject(p.keys) }

// pin is a key for which only one value, in JSON, is supported. It may be absent if the authors'
// class then assumes that value.
type pin struct {
	key, want string
	optional  bool
}

// pinned checks keys for which only one value is supported.
func (p probe) pinned(pins ...pin) error {
	for _, k := range pins {
		raw, ok := p.keys[k.key]
		switch absent := !ok || string(raw) == "null"; {
		case absent && !k.optional:
			return fmt.Errorf("missing: %s", k.key)
		case !absent && string(raw) != k.want:
			return fmt.Errorf("%s is %.60s: only %s is read", k.key, facts.Plain(string(raw)), k.want)
		}
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
			if key := p.blocks(); key != "" && f.Network == Gated && !f.blocks {
				return nil, fmt.Errorf("%s is above 1: %s", key, blockCausal)
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
	if t := p.word("model_type"); t != "" {
		what += fmt.Sprintf(" (model_type is %.60q)", t)
	}
	return nil, fmt.Errorf("not the config of a supported network, one of %s: %s", strings.Join(names, ", "), what)
}
