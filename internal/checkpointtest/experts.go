package checkpointtest

import (
	"testing/fstest"

	"mdmgen/model/checkpoint"
)

// Experts are the families with experts, with keys of small configs whose sizes 4 bits allow.
var Experts = map[string]string{
	"llada2": `"architectures":["LLaDA2MoeModelLM"],"intermediate_size":96,"moe_intermediate_size":32,"n_group":4,"topk_group":2,"num_shared_experts":2,
		"first_k_dense_replace":1,"partial_rotary_factor":0.5,"routed_scaling_factor":2.5,"block_size":6`,
	// Its weights are not divided by their sum.
	"llada-moe": `"architectures":["LLaDAMoEModelLM"],"dense_intermediate_size":64,"expert_intermediate_size":32`,
	"sdar-moe":  `"architectures":["SDARMoeForCausalLM"],"intermediate_size":64,"moe_intermediate_size":32,"norm_topk_prob":true,"block_size":6`,
}

// ExpertFolder returns a small checkpoint of one of Experts, with random weights. Its mask is 47.
func ExpertFolder(family string) fstest.MapFS {
	return Folder(`{"hidden_size":64,"num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":48,
		"max_position_embeddings":24,"rope_theta":10000,"mask_token_id":47,"num_experts":8,"num_experts_per_tok":3,`+Experts[family]+"}", "model.", checkpoint.F32, 7)
}
