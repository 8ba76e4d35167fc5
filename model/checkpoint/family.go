package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"mdmgen/internal/plainjson"
	"mdmgen/model/facts"
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
	// parse reads a config.json that names one of these classes, or was recognised.
	parse func(probe) (Config, error)
	// embedding is the name of that of the vocabulary, and names are what parts of a [Gated]
	// network are called.
	embedding string
	names     Names
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

// probe is a config.json, and what of it tells whose it is.
type probe struct {
	text []byte
	keys map[string]json.RawMessage
	// classes are those of architectures, then those of auto_map without their modules; class is
	// the one that told the family, "" where keys did.
	classes []string
	class   string
}

func newProbe(text []byte) (probe, error) {
	p := probe{text: text}
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

// word is the value of a key, "" where it is no text.
func (p probe) word(key string) string {
	var s string
	_ = json.Unmarshal(p.keys[key], &s) // What is no text is told where it is read.
	return s
}

// object says that the value of a key is an object.
func (p probe) object(key string) bool { return bytes.HasPrefix(p.keys[key], []byte("{")) }

// pin is a key that networks are read with one value of, in JSON. It may be absent where that is
// what the authors' class takes it for then.
type pin struct {
	key, want string
	optional  bool
}

// pinned looks at keys with one value.
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

// find returns the family of a config, and notes the class that told it.
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
			if key := p.blocks(); key != "" && f.Network == Gated {
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

// WriteFamilies writes the families as a table of Markdown, for the docs.
func WriteFamilies(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| family | what is published so | checked how |\n| --- | --- | --- |\n")
	for _, f := range families {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Models, f.Checked)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
