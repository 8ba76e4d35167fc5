package checkpoint

import (
	"fmt"
	"io"
	"strings"
)

// refusals are the classes whose networks are not supported, with the reason; a name that ends with
// * is a prefix.
var refusals = []struct {
	classes []string
	why     string
}{
	{[]string{"DUO", "Duo", "UDLM", "DiffusionGemma*"}, "uniform-state diffusion, which has no mask"},
	{[]string{"DreamReasoner*"}, blockCausal},
	{[]string{"NemotronLabsDiffusionVLM*"}, "reads images too: open the network for texts alone, such as nvidia/Nemotron-Labs-Diffusion-8B"},
	{[]string{"WeDLM*", "MistralForCausalLM", "GemmaForCausalLM", "GPTNeoXForCausalLM", "Phi3ForCausalLM"}, causal},
	{[]string{"ILLaDA*", "DistilBertForMaskedLM", "AlbertForMaskedLM", "ElectraForMaskedLM", "DebertaV2ForMaskedLM"}, "not supported yet"},
	{[]string{"RobertaForMaskedLM", "XLMRobertaForMaskedLM", "CamembertForMaskedLM"}, "not supported yet: its positions begin after the padding id"},
}

const (
	blockCausal = "block-causal, and not one of the supported block-causal networks"
	causal      = "a causal language model: its rows see no later token"
)

// blockKeys are keys of a config that contain the size of blocks.
var blockKeys = []string{"block_size", "block_length", "bd_size"}

// blocks returns the key of a config that requests attention block by block, "" if there is none.
func (p probe) blocks() string {
	for _, key := range blockKeys {
		var n float64
		if p.root.May(key, &n) && n > 1 {
			return key
		}
	}
	return ""
}

// refused returns why networks of a class are not supported, "" if the class is not listed.
func refused(class string) string {
	for _, r := range refusals {
		for _, name := range r.classes {
			stem, all := strings.CutSuffix(name, "*")
			if class == name || all && strings.HasPrefix(class, stem) {
				return r.why
			}
		}
	}
	return ""
}

// WriteRefused writes the rejected classes as a Markdown table, for the docs.
func WriteRefused(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| class in config.json | why it is rejected |\n| --- | --- |\n")
	for _, r := range refusals {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(r.classes, "`, `"), r.why)
	}
	fmt.Fprintf(&b, "| `GPT2LMHeadModel`, `LlamaForCausalLM`, if no tensor's name has `%s` | %s |\n", denoiser, causal)
	fmt.Fprintf(&b, "| one of LLaDA or Dream, with `%s` above 1 | %s |\n", strings.Join(blockKeys, "`, `"), blockCausal)
	b.WriteString("| SEDD's tree with a `graph.type` other than `absorb` | uniform-state diffusion, which has no mask |\n")
	_, err := io.WriteString(w, b.String())
	return err
}
