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
	text []byte
	keys map[string]json.RawMessage
	// classes are those in architectures, then those in auto_map without their modules; class is
	// the one that identified the family, "" if keys did.
	classes []string
	class   string
}

func newProbe(text []byte) (probe, error) {
	p := probe{text: text}
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

// settings reads values of an object of a config. [faults.fault] returns the error once all are
// read.
type settings struct {
	keys  map[string]json.RawMessage
	under string // of keys in messages
	*faults
}

// faults are the first value of a wrong type, and the missing keys.
type faults struct {
	wrong   error
	missing []string
}

func (p probe) settings() settings { return settings{keys: p.keys, faults: new(faults)} }

// may reads a value if it exists.
func (s settings) may(key string, to any) bool {
	raw, ok := s.keys[key]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, to); err != nil && s.wrong == nil {
		s.wrong = fmt.Errorf("field %q: %w", s.under+key, plainjson.Plain(nil, err))
	}
	return true
}

// need reads a value that must exist.
func (s settings) need(key string, to any) {
	if !s.may(key, to) {
		s.missing = append(s.missing, s.under+key)
	}
}

// in returns the settings of an object, none if it is absent.
func (s settings) in(key string) settings {
	sub := settings{under: s.under + key + ".", faults: s.faults}
	s.may(key, &sub.keys)
	return sub
}

func (f *faults) fault() error {
	if f.wrong == nil && f.missing != nil {
		return fmt.Errorf("missing: %s", strings.Join(f.missing, ", "))
	}
	return f.wrong
}

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
		what = "it is of the class " + strings.Join(slices.Compact(said), ", ")
	}
	if t := p.word("model_type"); t != "" {
		what += fmt.Sprintf(" (model_type is %.60q)", t)
	}
	return nil, fmt.Errorf("not the config of a network that is read, one of %s: %s", strings.Join(names, ", "), what)
}
