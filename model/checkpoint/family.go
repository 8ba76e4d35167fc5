package checkpoint

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// Network is a kind of network that package graph builds; families of one kind differ in their
// configs and in the names of their tensors.
type Network int

const (
	// DDiT is the diffusion transformer of MDLM, RADD and SEDD.
	DDiT Network = iota
	// Gated is a transformer like LLaMA's: RMSNorm, rotary positions, grouped queries, a gated MLP.
	Gated
	// Encoder is BERT's transformer: learned positions, norms after each branch, an MLP with GELU.
	Encoder
	// Modern is ModernBERT's transformer: like Gated's, with LayerNorm, GELU and local blocks.
	Modern
	// Learned is GPT-2's transformer: like Gated's, with LayerNorm, GELU and learned positions.
	Learned
)

// A Family is one kind of checkpoint, as its authors publish it.
type Family struct {
	// Name is used in facts and records.
	Name string
	// Models describes for the docs which models are published in this form, and their source;
	// Checked, with what outputs theirs were compared.
	Models, Checked string
	naming
	// decoder is the Decoder of its facts.
	decoder string
	// blocks means that its config may contain the size of blocks, or a fact give it to a [Gated] network.
	blocks bool

	// classes are the names of the classes in architectures or auto_map of a config.json of this
	// family; recognise identifies the family by other keys if there are none.
	classes   []string
	recognise func(probe) bool
	// parse reads a config.json that names one of these classes or was recognised.
	parse func(probe) (Config, error)
	// pins are the keys of which one value is supported; ignored are patterns of keys, in addition to
	// harmless, that parse need not read.
	pins    []pin
	ignored []string
	// tensor, if not "", begins the names of tensors in the files of this family; other networks of its
	// classes are causal.
	tensor string
	// tree means that the network's keys are in the object "model", among others of a trainer.
	tree bool
	// extra is the result of [Config.extra] without a tied head.
	extra map[string]string
}

// naming is how the tensors of a network are named.
type naming struct {
	Network Network
	// embedding is the name of the vocabulary's embedding; names are the names of the parts of a
	// [Gated] network.
	embedding string
	names     Names
	// parts are the prefixes, up to a dot, of the network's own tensors: a tensor in one of them
	// that the config does not require means that the network is another.
	parts []string
}

// families lists all families. A new one needs a file and a line here.
var families = []*Family{&mdlmFamily, &bd3lmFamily, &raddFamily, &seddFamily, &lladaFamily, &dreamFamily, &qwen2Family, &qwen3Family, &sdarFamily, &fastDLLMFamily, &llada2Family, &lladaMoEFamily, &sdarMoEFamily, &nemotronFamily, &bertFamily, &modernBERTFamily, &diffuGPTFamily, &diffuLLaMAFamily}

// family returns the family of a config.
func (c Config) family() *Family {
	i := slices.IndexFunc(families, func(f *Family) bool { return f.Name == c.Family })
	return families[i]
}

// IsGated reports whether a family of that name has [Gated] networks.
func IsGated(family string) bool {
	return slices.ContainsFunc(families, func(f *Family) bool { return f.Name == family && f.Network == Gated })
}

// Network returns the kind of the network.
func (c Config) Network() Network { return c.family().Network }

// Embedding returns the name of the vocabulary's embedding.
func (c Config) Embedding() string { return c.family().embedding }

// Names returns the names of the parts of a [Gated] network.
func (c Config) Names() Names { return c.family().names }

// Tensors yields every parameter of the network, in the order of construction.
func (c Config) Tensors() iter.Seq[Spec] { return slices.Values(layouts[c.Network()](c)) }

// layouts make the layout of each kind of network.
var layouts = map[Network]func(Config) layout{DDiT: dditTensors, Gated: gatedTensors, Encoder: encoderTensors, Modern: modernTensors, Learned: learnedTensors}

// WriteFamilies writes the families as a Markdown table, for the docs.
func WriteFamilies(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| family | published models | compared with the outputs of |\n| --- | --- | --- |\n")
	for _, f := range families {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Models, f.Checked)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
