package checkpoint

import (
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// llada2Mini is the config of LLaDA2.0-mini.
const llada2Mini = `{"architectures":["LLaDA2MoeModelLM"],"model_type":"llada2_moe","attention_dropout":0.0,"embedding_dropout":0.0,"output_dropout":0.0,
	"auto_map":{"AutoConfig":"configuration_llada2_moe.LLaDA2MoeConfig","AutoModelForCausalLM":"modeling_llada2_moe.LLaDA2MoeModelLM"},
	"eos_token_id":156892,"pad_token_id":156892,"first_k_dense_replace":1,"head_dim":128,"hidden_act":"silu","hidden_size":2048,"initializer_range":0.02,
	"intermediate_size":5120,"max_position_embeddings":32768,"max_window_layers":20,"moe_intermediate_size":512,"moe_router_enable_expert_bias":true,
	"n_group":8,"norm_head":false,"norm_softmax":false,"norm_topk_prob":true,"num_attention_heads":16,"num_experts":256,"num_experts_per_tok":8,
	"num_hidden_layers":20,"num_key_value_heads":4,"num_shared_experts":1,"output_router_logits":false,"partial_rotary_factor":0.5,"rms_norm_eps":1e-06,
	"rope_scaling":null,"rope_theta":600000,"rotary_dim":64,"routed_scaling_factor":2.5,"router_dtype":"fp32","score_function":"sigmoid","sliding_window":4096,
	"tie_word_embeddings":false,"topk_group":4,"use_bias":false,"use_cache":false,"use_qk_norm":true,"use_qkv_bias":false,"use_rmsnorm":true,
	"use_sliding_window":false,"vocab_size":157184}`

// TestExpertsConfig compares the numbers of parameters, in all and for one position, with those stated
// for the published networks: 16 B of which 1.4 B work, 7 B and 1 B, 30 B and 3 B.
func TestExpertsConfig(t *testing.T) {
	for _, c := range []struct {
		name, config string
		all, working float64 // 1e9 parameters
	}{
		{"llada2", llada2Mini, 16.26, 1.42},
		{"llada-moe", `{"architectures":["LLaDAMoEModelLM"],"model_type":"llada","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":16,
			"num_key_value_heads":16,"dense_intermediate_size":8192,"expert_intermediate_size":1024,"shared_expert_intermediate_size":null,"num_experts":64,
			"num_experts_per_tok":8,"max_position_embeddings":8192,"vocab_size":157184,"rope_theta":50000,"qk_layernorm":true,"norm_topk_prob":null,
			"moe_router_score_function":"softmax","moe_router_enable_expert_bias":false,"partial_rotary_factor":1,"routed_scaling_factor":1}`, 7.36, 1.72},
		{"sdar-moe", `{"architectures":["SDARMoeForCausalLM"],"hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,
			"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"decoder_sparse_step":1,"mlp_only_layers":[],
			"norm_topk_prob":true,"max_position_embeddings":32768,"vocab_size":151936,"rope_theta":1000000.0,"rms_norm_eps":1e-06}`, 30.5, 3.35},
	} {
		p := reftest.Must(ParseConfig([]byte(c.config)))(t)
		all := float64(p.Parameters()) / 1e9
		p.Experts.Count = p.Experts.Chosen
		working := float64(p.Parameters()) / 1e9
		if p.Family != c.name || !reftest.Near(all, c.all, 0.01) || !reftest.Near(working, c.working, 0.01) {
			t.Errorf("%s: %.3f and %.3f", p.Family, all, working)
		}
	}
	p := reftest.Must(ParseConfig([]byte(strings.NewReplacer(`"n_group":8,`, "", `"topk_group":4,`, "", `"partial_rotary_factor":0.5,`, "", `"routed_scaling_factor":2.5,`, "", `"rms_norm_eps":1e-06,`, "").Replace(llada2Mini))))(t)
	if x := p.Experts; x.Groups != 8 || x.GroupsChosen != 4 || p.Rotary != 64 || x.Factor != 2.5 || p.Epsilon != 1e-5 {
		t.Errorf("the class's values are not those of its config: %+v", p)
	}
	if p = reftest.Must(ParseConfig([]byte(strings.Replace(llada2Mini, `"num_experts_per_tok":8`, `"num_experts_per_tok":1`, 1))))(t); !p.Experts.Raw {
		t.Error("the weight of a single expert is 1")
	}
	for _, old := range []string{`"norm_topk_prob":true`, `"score_function":"sigmoid"`, `"num_experts":256`, `"n_group":8`, `"num_experts_per_tok":8`, `"rotary_dim":64`, `"use_qk_norm":true`} {
		key, _, _ := strings.Cut(old, ":")
		for _, value := range []string{"-3", `"x"`, "1e9"} {
			reftest.Fails(t, reftest.Err(ParseConfig([]byte(strings.Replace(llada2Mini, old, key+":"+value, 1)))), "", key, value)
		}
	}
}
