package hub

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// Known is a repository that this program knows.
type Known struct {
	Repo   string `json:"name"`
	Family string `json:"family"`
	// Parameters is the size of the network, 0 if its config was not read.
	Parameters int64 `json:"parameters,omitempty"`
	// Tokenizer is the repository of the tokenizer that its authors use, "" if it has its own.
	Tokenizer string `json:"tokenizer,omitempty"`
	// Facts are the facts, by name, that its files do not state.
	Facts map[string]string `json:"facts,omitempty"`
	// Works lists what can be done with it, Checked how that is known.
	Works   string `json:"works"`
	Checked string `json:"checked"`
}

const (
	gpt2 = "openai-community/gpt2"

	works = "every command"
	// shifted networks have no row for the first position.
	shifted = "every command, first token visible"
	// In a block-causal network rows see no later block.
	byBlocks        = "`generate`, `score` and `serve`"
	byBlocksShifted = byBlocks + ", first token visible"

	// edits is the decoder of LLaDA2.1, whose config is that of LLaDA2.0.
	edits = "llada2 threshold=0.7 editing-threshold=0.5 temperature=0"

	small   = " on small random weights"
	against = "against the authors' code" + small
	public  = "against a public implementation" + small
	twin    = "against SDAR's" + small
	mlx     = "against mlx-vlm" + small
	stock   = "against transformers with attention both ways" + small
)

// known are the repositories of the list, those that most people run first. Open-dLLM's code adds the mask to a tokenizer of 151,665
// tokens that has none; Fast-dLLM v2's mask is a default argument in its code.
var known = apart([]Known{
	{"inclusionAI/LLaDA2.0-mini inclusionAI/LLaDA2.0-mini-CAP inclusionAI/LLaDA2.0-mini-preview", "llada2", 16_255_643_392, "", map[string]string{"mask_id": "156895"}, byBlocks, against},
	{"inclusionAI/LLaDA2.0-flash inclusionAI/LLaDA2.0-flash-CAP inclusionAI/LLaDA2.0-flash-preview", "llada2", 0, "", map[string]string{"mask_id": "156895"}, byBlocks, against},
	{"inclusionAI/LLaDA2.1-mini", "llada2", 16_255_643_392, "", map[string]string{"mask_id": "156895", "decoder": edits}, byBlocks, against},
	{"inclusionAI/LLaDA2.1-flash", "llada2", 0, "", map[string]string{"mask_id": "156895", "decoder": edits}, byBlocks, against},
	{"inclusionAI/LLaDA-MoE-7B-A1B-Base inclusionAI/LLaDA-MoE-7B-A1B-Instruct", "llada-moe", 0, "", map[string]string{"mask_id": "156895"}, works, against},
	{"nvidia/Nemotron-Labs-Diffusion-3B nvidia/Nemotron-Labs-Diffusion-3B-Base", "nemotron", 3_831_659_520, "", nil, byBlocks, mlx},
	{"nvidia/Nemotron-Labs-Diffusion-8B nvidia/Nemotron-Labs-Diffusion-8B-Base", "nemotron", 8_489_553_920, "", nil, byBlocks, mlx},
	{"nvidia/Nemotron-Labs-Diffusion-14B nvidia/Nemotron-Labs-Diffusion-14B-Base", "nemotron", 0, "", nil, byBlocks, mlx},
	{"GSAI-ML/LLaDA-8B-Base GSAI-ML/LLaDA-8B-Instruct GSAI-ML/LLaDA-1.5", "llada", 8_015_581_184, "", nil, works, public},
	{"Dream-org/Dream-v0-Base-7B Dream-org/Dream-v0-Instruct-7B apple/DiffuCoder-7B-Base apple/DiffuCoder-7B-Instruct", "dream", 7_615_616_512, "", nil, shifted, public},
	{"JetLM/SDAR-30B-A3B-Chat JetLM/SDAR-30B-A3B-Sci", "sdar-moe", 0, "", map[string]string{"mask_id": "151669"}, byBlocks, against},
	{"JetLM/SDAR-1.7B-Chat JetLM/SDAR-4B-Chat JetLM/SDAR-8B-Chat", "sdar", 0, "", map[string]string{"mask_id": "151669"}, byBlocks, against},
	{"Efficient-Large-Model/Fast_dLLM_v2_1.5B Efficient-Large-Model/Fast_dLLM_v2_7B", "fast-dllm-v2", 0, "", map[string]string{"mask_id": "151665"}, byBlocksShifted, against},
	{"dllm-hub/Qwen3-0.6B-diffusion-mdlm-v0.1", "qwen3", 596_049_920, "", map[string]string{"shift": "false"}, works, stock},
	{"dllm-hub/Qwen3-0.6B-diffusion-bd3lm-v0.1", "qwen3", 596_049_920, "", map[string]string{"block_size": "32", "shift": "false"}, byBlocks, twin},
	{"fredzzp/open-dcoder-0.5B", "qwen2", 494_032_768, "", map[string]string{"mask_id": "151665", "shift": "true"}, shifted, stock},
	{"dllm-hub/Qwen2.5-Coder-0.5B-Instruct-diffusion-bd3lm-v0.1", "qwen2", 494_032_768, "", map[string]string{"block_size": "32", "shift": "false"}, byBlocks, twin},
	{"dllm-hub/ModernBERT-base-chat-v0.1 answerdotai/ModernBERT-base", "modernbert", 149_655_232, "", map[string]string{"mask_id": "50284"}, works, against},
	{"dllm-hub/ModernBERT-large-chat-v0.1 answerdotai/ModernBERT-large", "modernbert", 395_881_664, "", map[string]string{"mask_id": "50284"}, works, against},
	{"diffusionfamily/diffullama", "diffullama", 0, "", map[string]string{"mask_id": "32000"}, shifted, against},
	{"diffusionfamily/diffugpt-s diffusionfamily/diffugpt-m", "diffugpt", 0, "", map[string]string{"mask_id": "50257"}, shifted, against},
	{"kuleshov-group/mdlm-owt kuleshov-group/mdlm-no_flashattn-fp32-owt kuleshov-group/mdlm-noeos-owt", "mdlm", 169_627_218, gpt2, nil, works, against},
	{"kuleshov-group/bd3lm-owt-block_size4 kuleshov-group/bd3lm-owt-block_size8 kuleshov-group/bd3lm-owt-block_size16", "bd3lm", 0, gpt2, nil, byBlocks, against},
	{"JingyangOu/radd-lambda-dce JingyangOu/radd-t-dce", "radd", 162_265_682, gpt2, nil, works, against},
	{"JingyangOu/radd-lambda-dce-medium", "radd", 405_191_762, gpt2, nil, works, against},
	{"louaaron/sedd-small", "sedd", 169_627_218, gpt2, nil, works, against},
	{"louaaron/sedd-medium", "sedd", 424_477_010, gpt2, nil, works, against},
})

// apart returns an entry for each of the names of entries that are alike.
func apart(alike []Known) (out []Known) {
	for _, k := range alike {
		for name := range strings.FieldsSeq(k.Repo) {
			k.Repo = name
			out = append(out, k)
		}
	}
	return out
}

// short maps short names, as ollama has them, to known repositories.
var short = map[string]string{
	"sdar:1.7b": "JetLM/SDAR-1.7B-Chat", "sdar:4b": "JetLM/SDAR-4B-Chat", "sdar:8b": "JetLM/SDAR-8B-Chat",
	"dream:7b": "Dream-org/Dream-v0-Instruct-7B", "llada:8b": "GSAI-ML/LLaDA-8B-Instruct",
	"llada2:mini": "inclusionAI/LLaDA2.0-mini", "llada2.1:mini": "inclusionAI/LLaDA2.1-mini",
	"nemotron:3b": "nvidia/Nemotron-Labs-Diffusion-3B", "nemotron:8b": "nvidia/Nemotron-Labs-Diffusion-8B",
}

// KnownList returns the known repositories.
func KnownList() []Known { return append([]Known(nil), known...) }

// Short returns the short name, "" if there is none.
func (k Known) Short() string {
	for name, repo := range short {
		if repo == k.Repo {
			return name
		}
	}
	return ""
}

// Closest returns the known repository that a name, with or without its owner, most probably means:
// one that differs in case or in at most two letters, else the first one that begins with the name,
// if that has no owner. Of a name like a short one, it lists the short ones of the same kind. It returns
// "" if there is none, or if the name is known.
func Closest(name string) string {
	kind, _, _ := strings.Cut(strings.ToLower(name), ":")
	if all := slices.DeleteFunc(slices.Sorted(maps.Keys(short)), func(s string) bool { return !strings.HasPrefix(s, kind+":") }); len(all) > 0 {
		return strings.Join(all, ", ")
	}
	best, least := "", 3
	for _, k := range known {
		repo := k.Repo
		if !strings.Contains(name, "/") {
			repo = path.Base(repo)
		}
		if repo == name && strings.Contains(name, "/") {
			return ""
		}
		if d := smetrics.WagnerFischer(strings.ToLower(name), strings.ToLower(repo), 1, 1, 1); d < least {
			best, least = k.Repo, d
		}
	}
	if begins := slices.IndexFunc(known, func(k Known) bool {
		return len(name) > 3 && strings.HasPrefix(strings.ToLower(path.Base(k.Repo)), strings.ToLower(name)+"-")
	}); best == "" && begins >= 0 {
		return known[begins].Repo
	}
	return best
}

// KnownOf returns what is known of a repository, nothing if it is not in the list.
func KnownOf(repo string) (k Known) {
	if i := slices.IndexFunc(known, func(k Known) bool { return k.Repo == repo }); i >= 0 {
		k = known[i]
	}
	return k
}

// WriteKnown writes the list as a Markdown table, for the docs. Neighbours of one family that work alike
// share a row.
func WriteKnown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| names | family | what works |\n| --- | --- | --- |\n")
	names := ""
	for i, k := range known {
		if names += "`" + k.Repo + "`"; i+1 < len(known) && known[i+1].Family == k.Family && known[i+1].Works == k.Works {
			names += ", "
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", names, k.Family, k.Works)
		names = ""
	}
	_, err := io.WriteString(w, b.String())
	return err
}
