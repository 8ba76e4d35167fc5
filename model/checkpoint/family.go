package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
)

// Network is a kind of network that package graph builds; families of one kind differ in what
// their config says and in the names of their tensors.
type Network int

const (
	// DDiT is the diffusion transformer of MDLM, RADD and SEDD.
	DDiT Network = iota
	// Gated is the transformer of LLaMA's kind: RMSNorm, rotary positions, grouped queries, a
	// gated MLP.
	Gated
	// Encoder is BERT's: learned positions, norms after each branch, an MLP with GELU.
	Encoder
)

// A Family is one kind of checkpoint, as its authors publish it.
type Family struct {
	// Name is that of facts and records.
	Name string
	// Models says for the docs what is published in this form, and where it comes from;
	// Checked how it is known that rows are right.
	Models, Checked string
	Network         Network

	// classes are the names, in architectures or auto_map of a config.json, of the classes
	// whose checkpoints these are; recognise finds the family by other keys where there are none.
	classes   []string
	recognise func(probe) bool
	// parse reads a config.json of one of these classes, class being the one that it names.
	parse func(text []byte, class string) (Config, error)
	// embedding is the name of that of the vocabulary, and names are what parts of a [Gated]
	// network are called.
	embedding string
	names     Names
	// rotary says that positions rotate queries and keys.
	rotary bool
	// parts are what the names of the network's own tensors begin with, up to a dot: one that
	// the config does not ask for makes another network.
	parts []string
	// copies are tensors of these parts that files may hold and that are not used.
	copies []string
}

// families are all that are read: a new one is a file and a line here.
var families = []*Family{&mdlmFamily, &raddFamily, &seddFamily, &lladaFamily, &dreamFamily, &qwen2Family, &qwen3Family, &bertFamily}

// Families returns all families that are read.
func Families() []*Family { return slices.Clone(families) }

// family returns that of a config.
func (c Config) family() *Family {
	i := slices.IndexFunc(families, func(f *Family) bool { return f.Name == c.Family })
	return families[i]
}

// Network returns the kind of the network.
func (c Config) Network() Network { return c.family().Network }

// Embedding returns the name of the embedding of the vocabulary.
func (c Config) Embedding() string { return c.family().embedding }

// Names returns what the parts of a [Gated] network are called.
func (c Config) Names() Names { return c.family().names }

// Tensors yields every parameter of the network, in the order of construction.
func (c Config) Tensors() iter.Seq[Spec] {
	switch c.Network() {
	case Gated:
		return gatedTensors(c)
	case Encoder:
		return encoderTensors(c)
	}
	return dditTensors(c)
}

// probe is what of a config.json tells whose it is.
type probe struct {
	// classes are those of architectures, then those of auto_map without their modules.
	classes []string
	keys    map[string]json.RawMessage
}

func newProbe(text []byte) (probe, error) {
	var p probe
	if err := plainjson.Unmarshal(text, &p.keys); err != nil {
		return p, err
	}
	if p.keys == nil {
		return p, errNotObject
	}
	var list []string
	if raw, ok := p.keys["architectures"]; ok {
		if err := json.Unmarshal(raw, &list); err != nil {
			return p, fmt.Errorf("architectures: a list of names must stand there")
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

// text is the value of a key, "" where it is no text.
func (p probe) text(key string) string {
	var s string
	_ = json.Unmarshal(p.keys[key], &s) // What is no text is told where it is read.
	return s
}

// object says that the value of a key is an object.
func (p probe) object(key string) bool { return bytes.HasPrefix(p.keys[key], []byte("{")) }

// find returns the family of a config and the class that it names.
func (p probe) find() (*Family, string, error) {
	for _, class := range p.classes {
		if why := refused(class); why != "" {
			return nil, "", fmt.Errorf("%s: %s", quoteName(class), why)
		}
	}
	for _, class := range p.classes {
		for _, f := range families {
			if slices.Contains(f.classes, class) {
				return f, class, nil
			}
		}
	}
	for _, f := range families {
		if f.recognise != nil && f.recognise(p) {
			return f, "", nil
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
	if t := p.text("model_type"); t != "" {
		what += fmt.Sprintf(" (model_type is %.60q)", t)
	}
	return nil, "", fmt.Errorf("not the config of a network that is read, one of %s: %s", strings.Join(names, ", "), what)
}
