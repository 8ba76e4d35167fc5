package checkpoint

import "strings"

// refusals say why networks of some classes are not read; a name that ends with * stands for
// all that begin so.
var refusals = []struct {
	classes []string
	why     string
}{
	{[]string{"DUO", "Duo", "UDLM", "DiscreteFlow*"}, "a network of uniform-state diffusion: only absorbing states are masked diffusion"},
	{[]string{"LLaDA2*", "SDAR*", "Fast_dLLM*", "DreamReasoner*", "BlockDiffusion*"}, "block-causal: its rows see no later block, and its texts follow another law than the samplers here draw from"},
	{[]string{"WeDLM*", "LlamaForCausalLM", "GPT2LMHeadModel", "MistralForCausalLM", "GemmaForCausalLM", "GPTNeoXForCausalLM", "Phi3ForCausalLM"}, "a causal language model: its rows see no later token; only networks that look both ways are read"},
	{[]string{"LLaDAMoE*", "BD3LM"}, "not read yet"},
	{[]string{"RobertaForMaskedLM", "XLMRobertaForMaskedLM", "CamembertForMaskedLM"}, "not read yet: its positions begin after the padding id"},
	{[]string{"DistilBertForMaskedLM", "ModernBertForMaskedLM", "AlbertForMaskedLM", "ElectraForMaskedLM", "DebertaV2ForMaskedLM"}, "not read yet"},
	{[]string{"DiscreteDiffusionModel", "DiffuGPT*", "Discrete_diffusion*"}, "DiffuGPT and DiffuLLaMA are not read yet"},
}

// refused says why networks of a class are not read, "" where it is none that is refused.
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
