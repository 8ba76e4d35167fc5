package checkpoint

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
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
	// Name appears in facts and records.
	Name string
	// Models says for the docs what is published in this form, and where it comes from;
	// Checked how it is known that rows are right.
	Models, Checked string
	Network         Network
	// blocks is whether its config may have the size of blocks.
	blocks bool

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
	// extra is what [Config.extra] returns where the head has no name of its own.
	extra map[string]string
}

// families are all that are read: a new one is a file and a line here.
var families = []*Family{&mdlmFamily, &bd3lmFamily, &raddFamily, &seddFamily, &lladaFamily, &dreamFamily, &qwen2Family, &qwen3Family, &sdarFamily, &fastDLLMFamily, &bertFamily}

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
func (c Config) Tensors() iter.Seq[Spec] { return slices.Values(layouts[c.Network()](c)) }

// layouts make the layout of each kind of network.
var layouts = map[Network]func(Config) layout{DDiT: dditTensors, Gated: gatedTensors, Encoder: encoderTensors}

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
