package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/hub"
)

// miniature is a published network made small: the keys of its config with fewer and narrower layers,
// its whole vocabulary, so that special tokens have their ids, of which the first ends an answer, and a
// chat template of its kind.
type miniature struct {
	config, template string
	special          map[string]int
	ends             string
}

// miniatures are those of families, for every known repository of the family.
var miniatures = map[string]miniature{
	"llada2": {
		`{"architectures":["LLaDA2MoeModelLM"],"model_type":"llada2_moe","attention_dropout":0.0,"embedding_dropout":0.0,"output_dropout":0.0,
		"auto_map":{"AutoConfig":"configuration_llada2_moe.LLaDA2MoeConfig","AutoModelForCausalLM":"modeling_llada2_moe.LLaDA2MoeModelLM"},
		"eos_token_id":156892,"pad_token_id":156892,"first_k_dense_replace":1,"head_dim":8,"hidden_act":"silu","hidden_size":4,"initializer_range":0.02,
		"intermediate_size":16,"max_position_embeddings":32768,"max_window_layers":20,"moe_intermediate_size":8,"moe_router_enable_expert_bias":true,
		"n_group":4,"norm_head":false,"norm_softmax":false,"norm_topk_prob":true,"num_attention_heads":2,"num_experts":8,"num_experts_per_tok":3,
		"num_hidden_layers":2,"num_key_value_heads":1,"num_shared_experts":1,"output_router_logits":false,"partial_rotary_factor":0.5,"rms_norm_eps":1e-06,
		"rope_scaling":null,"rope_theta":600000,"rotary_dim":4,"routed_scaling_factor":2.5,"router_dtype":"fp32","score_function":"sigmoid","sliding_window":4096,
		"tie_word_embeddings":false,"topk_group":2,"use_bias":false,"use_cache":false,"use_qk_norm":true,"use_qkv_bias":false,"use_rmsnorm":true,
		"use_sliding_window":false,"vocab_size":157184}`, ling,
		map[string]int{"<|startoftext|>": 156891, "<|endoftext|>": 156892, "<|mask|>": 156895, "<role>": 156896, "</role>": 156897, "<|role_end|>": 156898}, "<|endoftext|>",
	},
	"llada-moe": {
		`{"architectures":["LLaDAMoEModelLM"],"model_type":"llada","attention_bias":false,"attention_dropout":0.0,"clip_qkv":null,"hidden_act":"silu",
		"auto_map":{"AutoConfig":"configuration_lladamoe.LLaDAConfig","AutoModelForCausalLM":"modeling_lladamoe.LLaDAMoEModelLM"},"initializer_range":0.02,
		"moe_router_enable_expert_bias":false,"moe_router_score_function":"softmax","norm_topk_prob":null,"output_router_logits":false,"partial_rotary_factor":1,
		"qk_layernorm":true,"rms_norm_eps":1e-05,"rope_scaling":null,"routed_scaling_factor":1,"router_aux_loss_coef":0.01,"router_num_group":null,
		"router_topk_group":null,"shared_expert_intermediate_size":null,"tie_word_embeddings":false,"use_cache":false,"hidden_size":4,"num_hidden_layers":2,
		"num_attention_heads":2,"num_key_value_heads":2,"vocab_size":157184,"num_experts":8,"num_experts_per_tok":3,"max_position_embeddings":8192,
		"rope_theta":50000,"pad_token_id":156892,"eos_token_id":156892,"dense_intermediate_size":16,"expert_intermediate_size":8,"moe_layer_freq":[1,1]}`, ling,
		map[string]int{"<|startoftext|>": 156891, "<|endoftext|>": 156892, "<|mask|>": 156895, "<role>": 156896, "</role>": 156897, "<|role_end|>": 156898}, "<|endoftext|>",
	},
	"sdar-moe": {
		`{"architectures":["SDARMoeForCausalLM"],"model_type":"sdar_moe","attention_bias":false,"attention_dropout":0.0,"bos_token_id":151643,"eos_token_id":151643,
		"auto_map":{"AutoConfig":"configuration_sdar_moe.SDARMoeConfig","AutoModelForCausalLM":"modeling_sdar_moe.SDARMoeForCausalLM"},"decoder_sparse_step":1,
		"head_dim":8,"hidden_act":"silu","hidden_size":4,"initializer_range":0.02,"intermediate_size":16,"max_position_embeddings":32768,"max_window_layers":48,
		"mlp_only_layers":[],"moe_intermediate_size":8,"norm_topk_prob":true,"num_attention_heads":2,"num_experts":8,"num_experts_per_tok":3,"num_hidden_layers":2,
		"num_key_value_heads":1,"output_router_logits":false,"rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":1000000.0,"router_aux_loss_coef":0.001,
		"sliding_window":null,"tie_word_embeddings":false,"use_cache":true,"use_sliding_window":false,"vocab_size":151936}`,
		"{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}",
		map[string]int{"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645, "<|MASK|>": 151669}, "<|im_end|>",
	},
	"nemotron": {
		`{"architectures":["NemotronLabsDiffusionModel"],"model_type":"nemotron_labs_diffusion","ar_loss_weight":1.0,"attention_bias":false,"attention_dropout":0.0,"attn_implementation":"sdpa",
		"auto_map":{"AutoConfig":"configuration_nemotron_labs_diffusion.NemotronLabsDiffusionConfig","AutoModel":"modeling_nemotron_labs_diffusion.NemotronLabsDiffusionModel"},"block_size":32,"bos_token_id":1,
		"dlm_loss_weight":null,"dlm_paradigm":"bidirectional","dp_varying_mask_ratio":false,"eos_token_id":11,"head_dim":8,"hidden_act":"silu","hidden_size":8,"initializer_range":0.02,"intermediate_size":16,
		"mask_token_id":1100,"max_position_embeddings":262144,"mlp_bias":false,"num_attention_heads":2,"num_hidden_layers":2,"num_key_value_heads":1,"rms_norm_eps":1e-05,"rope_parameters":{"beta_fast":32.0,
		"beta_slow":1.0,"factor":16.0,"llama_4_scaling_beta":0.1,"mscale":1.0,"mscale_all_dim":1.0,"original_max_position_embeddings":16384,"rope_theta":1000000.0,"rope_type":"yarn"},
		"sliding_window":null,"tie_word_embeddings":false,"use_cache":false,"vocab_size":1104}`,
		"{{- '<s>' }}{%- set thinking = enable_thinking if enable_thinking is defined else false %}{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor %}" +
			"{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' + ('<think>\\n' if thinking else '<think></think>') }}{%- endif %}",
		map[string]int{"<s>": 1001, "<|im_start|>": 1010, "<|im_end|>": 1011, "<think>": 1012, "</think>": 1013, "<mask>": 1100}, "<|im_end|>",
	},
	"modernbert": {
		`{"architectures":["ModernBertForMaskedLM"],"model_type":"modernbert","attention_bias":false,"attention_dropout":0.0,"bos_token_id":50281,
		"classifier_activation":"gelu","classifier_bias":false,"classifier_dropout":0.0,"classifier_pooling":"mean","cls_token_id":50281,"decoder_bias":true,
		"deterministic_flash_attn":false,"embedding_dropout":0.0,"eos_token_id":50282,"global_attn_every_n_layers":3,"global_rope_theta":160000.0,
		"hidden_activation":"gelu","hidden_size":8,"initializer_cutoff_factor":2.0,"initializer_range":0.02,"intermediate_size":16,"local_attention":128,
		"local_rope_theta":10000.0,"max_position_embeddings":8192,"mlp_bias":false,"mlp_dropout":0.0,"norm_bias":false,"norm_eps":1e-05,"num_attention_heads":2,
		"num_hidden_layers":2,"pad_token_id":50283,"sep_token_id":50282,"sparse_pred_ignore_index":-100,"sparse_prediction":false,"vocab_size":50368}`,
		"{%- for m in messages %}{{- '[Question]\n' + m.content | trim + '\n[/Question]\n\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[Answer]\n' }}{%- endif %}",
		map[string]int{"[UNK]": 50280, "[CLS]": 50281, "[SEP]": 50282, "[PAD]": 50283, "[MASK]": 50284}, "[SEP]",
	},
}

// ling is a template like that of Ling and LLaDA2.
const ling = `{% set mode = 'off' %}{{- '<role>SYSTEM</role>' }}{%- if messages[0].role == 'system' %}{{- messages[0].content + '\n' }}{%- endif %}
{%- if tools %}{{- "# Tools" }}{%- endif %}{{- 'detailed thinking ' + mode + '<|role_end|>' }}{%- for m in messages %}
{%- if m.role == "user" %}{{- '<role>HUMAN</role>' + m.content + '<|role_end|>' }}{%- elif m.role == "assistant" %}
{%- set content = m.content.split('</think>')[-1].lstrip('\n') %}{{- '<role>ASSISTANT</role>' + content + '<|role_end|>' }}{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{- '<role>ASSISTANT</role>' }}{%- endif %}`

// repo returns the miniature as a repository.
func (m miniature) repo(t *testing.T) *hubtest.Repo {
	repo := hubtest.Folder(t, checkpointtest.Folder(m.config, "model.", checkpoint.BF16, 3))
	vocab, added := map[string]int{}, []map[string]any{}
	for b, next := 0, rune(256); b < 256; b++ { // GPT-2's letters for bytes
		r := rune(b)
		if r <= ' ' || r >= 0x7f && r <= 0xa0 || r == 0xad {
			r, next = next, next+1
		}
		vocab[string(r)] = b
	}
	at := map[int]string{}
	for content, id := range m.special {
		at[id] = content
	}
	ids := slices.Sorted(maps.Keys(at))
	for id := 256; id <= ids[len(ids)-1]; id++ {
		content, name := at[id], fmt.Sprint("token", id)
		switch {
		case id < ids[0]: // never encoded: nothing is merged
			vocab[name] = id
			continue
		case content == "":
			content = name
		}
		added = append(added, map[string]any{"id": id, "content": content, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false})
	}
	for name, content := range map[string]any{
		"tokenizer.json": map[string]any{
			"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
			"decoder":       map[string]any{"type": "ByteLevel"}, "added_tokens": added,
			"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}},
		},
		"tokenizer_config.json": map[string]any{"chat_template": m.template, "eos_token": m.ends, "pad_token": m.ends},
	} {
		repo.Files[name] = reftest.Must(json.Marshal(content))(t)
	}
	return repo
}

// published are the settings of answers by default, of a family or of one of its repositories: those of
// its authors.
var published = map[string]string{
	"llada2":                     `llada2, block 32, threshold 0.95, editing 0, temperature 0, stop 156892, mask 156895`,
	"inclusionAI/LLaDA2.1-mini":  `llada2, block 32, threshold 0.7, editing 0.5, temperature 0, stop 156892, mask 156895`,
	"inclusionAI/LLaDA2.1-flash": `llada2, block 32, threshold 0.7, editing 0.5, temperature 0, stop 156892, mask 156895`,
	"nemotron":                   `threshold, block 32, threshold 0.9, editing 0, temperature 0, stop 1011, mask 1100`,
	"modernbert":                 `confidence, block 32, threshold 0, editing 0, temperature 0, stop 50282, mask 50284`,
	"llada-moe":                  `confidence, block 32, threshold 0, editing 0, temperature 0, stop 156892, mask 156895`,
	"sdar-moe":                   `threshold, block 4, threshold 0.85, editing 0, temperature 1, stop 151645, mask 151669`,
}

// TestPublishedChat generates an answer with a miniature of each known repository, from a hub. Of those
// that differ in nothing but the name, it is the first.
func TestPublishedChat(t *testing.T) {
	reftest.Long(t)
	needRuntime(t)
	s := hubtest.New(t, map[string]*hubtest.Repo{})
	s.Use(t)
	repos, done := map[string]*hubtest.Repo{}, map[string]bool{}
	for _, k := range hub.KnownList() {
		m, ok := miniatures[k.Family]
		same := fmt.Sprint(k.Family, k.Facts, published[k.Repo])
		if !ok || done[same] {
			continue
		}
		if done[same] = true; repos[k.Family] == nil {
			repos[k.Family] = m.repo(t)
		}
		s.Set(k.Repo, repos[k.Family])
		file := filepath.Join(t.TempDir(), "record.json")
		mustRun(t, "", "generate", "--model", k.Repo, "--chat", "Hi", "--length", "56", "--seed", "1", "--record", file)
		var r struct {
			Provenance struct {
				Model struct {
					Family string
					Facts  struct {
						Mask int `json:"mask_id"`
					}
				}
			}
			Settings struct {
				Sampler     string
				Block       int `json:"block_length"`
				Threshold   float64
				Editing     float64 `json:"editing_threshold"`
				Temperature *float64
				Stop        int
			}
		}
		reftest.OK(t, json.Unmarshal([]byte(readAll(t, file)), &r))
		x := r.Settings
		if x.Temperature == nil {
			x.Temperature = new(1.0)
		}
		got := fmt.Sprintf("%s, block %d, threshold %g, editing %g, temperature %g, stop %d, mask %d", x.Sampler, x.Block, x.Threshold, x.Editing, *x.Temperature, x.Stop, r.Provenance.Model.Facts.Mask)
		if want := cmp.Or(published[k.Repo], published[k.Family]); got != want || r.Provenance.Model.Family != k.Family {
			t.Errorf("%s: %s: %s, want %s", k.Repo, r.Provenance.Model.Family, got, want)
		}
	}
	if len(done) < len(miniatures) {
		t.Errorf("%d of %d kinds were run", len(done), len(miniatures))
	}
}
