package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/facts"
)

const (
	flatText = `{"model_type":"mdlm","hidden_dim":64,"cond_dim":32,"n_blocks":2,"n_heads":2,"model_length":32,"vocab_size":131}`
	raddText = `{"tokens":150,"noise":{"type":"loglinear"},"model":{"type":"ddit_wot","hidden_size":64,"length":36,"n_blocks":2,"n_heads":2}}`
	// The published shapes.
	lladaText = `{"architectures":["LLaDAModelLM"],"auto_map":{"AutoModel":"modeling_llada.LLaDAModelLM"},"model_type":"llada","d_model":4096,"n_layers":32,"n_heads":32,"n_kv_heads":32,
"mlp_hidden_size":12288,"vocab_size":126464,"embedding_size":126464,"max_sequence_length":4096,"rope":true,"rope_theta":500000.0,"rms_norm_eps":1e-05,"layer_norm_type":"rms","activation_type":"silu",
"block_type":"llama","include_bias":false,"include_qkv_bias":false,"weight_tying":false,"mask_token_id":126336,"eos_token_id":126081,"pad_token_id":126081,"multi_query_attention":null}`
	dreamText = `{"architectures":["DreamModel"],"auto_map":{"AutoModel":"modeling_dream.DreamModel"},"model_type":"Dream","hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,
"num_key_value_heads":4,"vocab_size":152064,"max_position_embeddings":131072,"rope_theta":1000000.0,"rope_scaling":null,"rms_norm_eps":1e-06,"hidden_act":"silu","tie_word_embeddings":false,
"use_sliding_window":false,"mask_token_id":151666,"pad_token_id":151643}`
	qwen2Text = `{"architectures":["A2DQwen2LMHeadModel"],"model_type":"a2d-qwen2","hidden_size":896,"intermediate_size":4864,"num_hidden_layers":24,"num_attention_heads":14,"num_key_value_heads":2,
"vocab_size":151936,"max_position_embeddings":32768,"rope_theta":1000000.0,"rms_norm_eps":1e-06,"hidden_act":"silu","tie_word_embeddings":true}`
	qwen3Text = `{"architectures":["A2DQwen3LMHeadModel"],"model_type":"a2d-qwen3","hidden_size":1024,"intermediate_size":3072,"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,
"vocab_size":151936,"max_position_embeddings":40960,"rope_parameters":{"rope_theta":1000000.0,"rope_type":"default"},"rms_norm_eps":1e-06,"hidden_act":"silu","tie_word_embeddings":true,"attention_bias":false,
"layer_types":["full_attention"]}`
	bertText = `{"architectures":["BertForMaskedLM"],"model_type":"bert","vocab_size":30522,"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":512,
"type_vocab_size":2,"layer_norm_eps":1e-12,"hidden_act":"gelu","position_embedding_type":"absolute"}`
	seddText = `{"tokens":120,"graph":{"type":"absorb"},"noise":{"type":"geometric"},"model":{"type":"ddit","hidden_size":64,"cond_dim":32,"length":28,"n_blocks":2,"n_heads":4,"scale_by_sigma":true}}`
)

func TestParseConfig(t *testing.T) {
	flat := Config{Family: MDLM, Hidden: 64, Cond: 32, Blocks: 2, Heads: 2, Length: 32, Columns: 131, MaskID: 130, Noise: "loglinear"}
	timed, masked := flat, flat
	timed.TimeConditioned = true
	masked.MaskID = 103
	radd := Config{Family: RADD, Hidden: 64, Blocks: 2, Heads: 2, Length: 36, Columns: 151, MaskID: 150, Noise: "loglinear"}
	sedd := Config{Family: SEDD, Hidden: 64, Cond: 32, Blocks: 2, Heads: 4, Length: 28, Columns: 121, MaskID: 120,
		TimeConditioned: true, ScaleBySigma: true, Noise: "geometric"}
	plain := sedd
	plain.ScaleBySigma, plain.Noise = false, "loglinear"
	llada := Config{Family: "llada", Hidden: 4096, Blocks: 32, Heads: 32, KVHeads: 32, Inner: 12288, Length: 4096, Columns: 126464, Tokens: 126464, MaskID: 126336, Noise: "loglinear", Epsilon: 1e-5, RotaryBase: 5e5}
	padded, grouped, multi, tied, biased, wide := llada, llada, llada, llada, llada, llada
	padded.Tokens, grouped.KVHeads, multi.KVHeads, tied.Tied, biased.QKVBias, wide.Inner = 126349, 8, 1, true, true, 3*4096
	dream := Config{Family: "dream", Hidden: 3584, Blocks: 28, Heads: 28, KVHeads: 4, Inner: 18944, Length: 2048, Positions: 131072, Columns: 152064, Tokens: 152064, MaskID: 151666, Noise: "loglinear",
		Shift: Yes, Epsilon: 1e-6, RotaryBase: 1e6, QKVBias: true}
	qwen2 := Config{Family: "qwen2", Hidden: 896, Blocks: 24, Heads: 14, KVHeads: 2, Inner: 4864, Length: 2048, Positions: 32768, Columns: 151936, Tokens: 151936, MaskID: facts.Unknown, Noise: "loglinear",
		Epsilon: 1e-6, RotaryBase: 1e6, QKVBias: true, Tied: true}
	open := qwen2
	open.Shift = Unstated
	qwen3 := Config{Family: "qwen3", Hidden: 1024, Blocks: 28, Heads: 16, KVHeads: 8, Head: 128, Inner: 3072, Length: 2048, Positions: 40960, Columns: 151936, Tokens: 151936, MaskID: facts.Unknown, Noise: "loglinear",
		Epsilon: 1e-6, RotaryBase: 1e6, HeadNorm: true, Tied: true}
	each, both := qwen3, qwen3
	each.KVHeads, both.QKVBias, both.OutBias = 16, true, true
	untied := Config{Family: "bert", Hidden: 768, Blocks: 12, Heads: 12, Inner: 3072, Length: 512, Columns: 30522, Tokens: 30522, MaskID: facts.Unknown, Noise: "loglinear", Epsilon: 1e-12, Types: 2}
	bert := untied
	bert.Tied = true
	for _, c := range []struct {
		name, text string
		want       Config
	}{
		{"llada", lladaText, llada},
		{"llada by auto_map alone", strings.Replace(lladaText, `"architectures":["LLaDAModelLM"],`, "", 1), llada},
		{"llada of another model_type", strings.Replace(lladaText, `"model_type":"llada"`, `"model_type":"mdlm"`, 1), llada},
		{"llada padded", strings.Replace(lladaText, `"vocab_size":126464`, `"vocab_size":126349`, 1), padded},
		{"llada with grouped queries", strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":8`, 1), grouped},
		{"llada with one head of keys", strings.Replace(strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":null`, 1), `"multi_query_attention":null`, `"multi_query_attention":true`, 1), multi},
		{"llada with a tied head", strings.Replace(lladaText, `"weight_tying":false`, `"weight_tying":true`, 1), tied},
		{"llada with biases of queries, keys and values", strings.Replace(lladaText, `"include_qkv_bias":false`, `"include_qkv_bias":true`, 1), biased},
		{"llada with an MLP by its ratio", strings.Replace(lladaText, `"mlp_hidden_size":12288`, `"mlp_hidden_size":null,"mlp_ratio":3`, 1), wide},
		{"dream", dreamText, dream},
		{"qwen2", qwen2Text, qwen2},
		{"qwen2 under its causal class", strings.Replace(qwen2Text, "A2DQwen2LMHeadModel", "Qwen2ForCausalLM", 1), open},
		{"qwen3", qwen3Text, qwen3},
		{"qwen3 with a default base beside the trained one", strings.Replace(qwen3Text, `"rope_parameters"`, `"rope_theta":10000.0,"rope_parameters"`, 1), qwen3},
		{"qwen3 with the base in rope_scaling", strings.Replace(qwen3Text, "rope_parameters", "rope_scaling", 1), qwen3},
		// transformers 5.24.0 has the base 1e6 for each of these.
		{"qwen3 with a default base beside rope_scaling", strings.Replace(qwen3Text, `"rope_parameters"`, `"rope_theta":10000.0,"rope_scaling"`, 1), qwen3},
		{"qwen3 with both objects", strings.Replace(qwen3Text, `"rope_parameters"`, `"rope_parameters":{"rope_theta":10000.0,"rope_type":"default"},"rope_scaling"`, 1), qwen3},
		{"qwen3 with the base beside rope_scaling", strings.Replace(qwen3Text, `"rope_parameters":{"rope_theta":1000000.0,`, `"rope_theta":1000000.0,"rope_parameters":{"rope_theta":10000.0},"rope_scaling":{`, 1), qwen3},
		{"qwen3 with keys of each head", strings.Replace(qwen3Text, `"num_key_value_heads":8`, `"num_key_value_heads":null`, 1), each},
		{"qwen3 with biases", strings.Replace(qwen3Text, `"attention_bias":false`, `"attention_bias":true`, 1), both},
		{"bert", bertText, bert},
		{"bert of another's class", strings.Replace(bertText, "BertForMaskedLM", "AntiBERTy", 1), bert},
		{"bert of before 2020", strings.Replace(bertText, `"architectures":["BertForMaskedLM"],"model_type":"bert",`, `"pruned_heads":{},`, 1), bert},
		{"bert with a head of its own", strings.Replace(bertText, `{`, `{"tie_word_embeddings":false,`, 1), untied},
		{"bert with all keys of a published one", strings.Replace(bertText, `{`, `{"_name_or_path":"x","attention_probs_dropout_prob":0.1,"classifier_dropout":null,"directionality":"bidi","gradient_checkpointing":false,"hidden_dropout_prob":0.1,
"id2label":{"0":"A"},"initializer_range":0.02,"output_past":true,"pad_token_id":0,"pooler_fc_size":768,"pooler_type":"first_token_transform","torch_dtype":"float32","transformers_version":"4.6.0.dev0","use_cache":true,`, 1), bert},
		{"bert without what is as in its class", `{"architectures":["BertForMaskedLM"],"vocab_size":30522}`, bert},
		{"mdlm", flatText, flat},
		{"mdlm without model_type", strings.Replace(flatText, `"model_type":"mdlm",`, "", 1), flat},
		{"mdlm time-conditioned", strings.Replace(flatText, `{`, `{"time_conditioning":true,`, 1), timed},
		{"mdlm with a mask of the tokenizer", strings.Replace(flatText, `{`, `{"mask_token_id":103,`, 1), masked},
		{"radd", raddText, radd},
		{"radd without a type", strings.Replace(raddText, `"type":"ddit_wot",`, "", 1), radd},
		{"radd without noise", strings.Replace(raddText, `"noise":{"type":"loglinear"},`, "", 1), radd},
		{"sedd", seddText, sedd},
		{"sedd without a type", strings.Replace(seddText, `"type":"ddit",`, "", 1), sedd},
		{"sedd without scale, graph and noise", `{"tokens":120,"model":{"type":"ddit","hidden_size":64,"cond_dim":32,"length":28,"n_blocks":2,"n_heads":4}}`, plain},
		{"unknown keys", strings.Replace(flatText, `{`, `{"auto_map":{"x":[1]},"dropout":0.1,`, 1), flat},
	} {
		got, err := ParseConfig([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestParseConfigRefuses(t *testing.T) {
	flat := func(old, new string) string { return strings.Replace(flatText, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", ``, "the JSON ends too early"},
		{"truncated", flatText[:40], "the JSON ends too early"},
		{"array", `[]`, "a list instead of an object"},
		{"null", `null`, "not a JSON object"},
		{"number", `3`, "a number instead of an object"},
		{"another JSON file", `{"version":"1.0","truncation":null,"model":"x"}`, "not the config of"},
		{"another network", `{"model_type":"llada","hidden_dim":64}`, `model_type is "llada"`},
		{"LLaMA", `{"model_type":"llama","hidden_size":64}`, `model_type is "llama"`},
		{"quantized", flat(`{`, `{"quantization_config":{"bits":4,"quant_method":"gptq"},`), `weights quantized by "gptq"`},
		{"quantized without a method", flat(`{`, `{"quantization_config":{"load_in_4bit":true},`), `weights quantized by "another program"`},
		{"quantized by MLX", flat(`{`, `{"quantization":{"group_size":64,"bits":4},`), "quantization: weights quantized"},
		{"keys missing", `{"model_type":"mdlm","hidden_dim":64,"n_heads":2}`, "missing: cond_dim, n_blocks, model_length, vocab_size"},
		{"tree keys missing", `{"model":{"type":"ddit"}}`, "missing: tokens, model.hidden_size, model.n_blocks, model.n_heads, model.length, model.cond_dim"},
		{"text for a number", flat(`64`, `"64"`), `field "hidden_dim": text instead of a whole number`},
		{"fraction for a number", flat(`64`, `64.5`), `field "hidden_dim": the number 64.5 instead of`},
		{"text for a truth value", flat(`{`, `{"time_conditioning":"false",`), `field "time_conditioning": text instead of true or false`},
		{"heads do not divide", flat(`"n_heads":2`, `"n_heads":3`), "3 heads do not divide the hidden size 64"},
		{"odd head size", flat(`"n_heads":2`, `"n_heads":64`), "needs an even number"},
		{"no heads", flat(`"n_heads":2`, `"n_heads":0`), "number of heads is 0"},
		{"negative width", flat(`64`, `-64`), "hidden size is -64"},
		{"no blocks", flat(`"n_blocks":2`, `"n_blocks":0`), "number of blocks is 0"},
		{"absurd width", flat(`64`, `67108864`), "hidden size is 67108864: must be in 2..65536"},
		{"absurd blocks", flat(`"n_blocks":2`, `"n_blocks":1000000`), "number of blocks is 1000000"},
		{"absurd length", flat(`"model_length":32`, `"model_length":1000000000`), "length is 1000000000"},
		{"absurd vocabulary", flat(`131`, `1000000000000`), "vocabulary size is 1000000000000"},
		{"absurd tokens", strings.Replace(raddText, "150", "9223372036854775807", 1), "tokens is 9223372036854775807"},
		{"mask outside", flat(`{`, `{"mask_token_id":131,`), "mask id is 131: must be in 0..130"},
		{"no conditioning width", flat(`"cond_dim":32`, `"cond_dim":0`), "cond_dim is 0"},
		{"nothing tells", `{"hidden_size":64}`, "neither architectures nor auto_map names a class"},
		{"model_type alone", strings.NewReplacer(`"architectures":["LLaDAModelLM"],`, "", `"auto_map":{"AutoModel":"modeling_llada.LLaDAModelLM"},`, "").Replace(lladaText), `(model_type is "llada")`},
		{"architectures of text", `{"architectures":"DreamModel"}`, "architectures: must be a list of names"},
		{"dream in blocks", strings.Replace(dreamText, "{", `{"block_size":32,`, 1), "block_size is above 1: block-causal"},
		{"llada without theta", strings.Replace(lladaText, "rope_theta", "x", 1), "missing: rope_theta"},
		{"llada without tying", strings.Replace(lladaText, "weight_tying", "x", 1), "missing: weight_tying"},
		{"llada without heads and width", strings.NewReplacer("n_heads", "x", "d_model", "y").Replace(lladaText), "missing: d_model, n_heads"},
		{"llada of another block", strings.Replace(lladaText, `"block_type":"llama"`, `"block_type":"sequential"`, 1), `block_type is "sequential": only "llama"`},
		{"llada with biases", strings.Replace(lladaText, `"include_bias":false`, `"include_bias":true`, 1), "include_bias is true"},
		{"llada with norms without weights", strings.Replace(lladaText, `{`, `{"layer_norm_with_affine":false,`, 1), "layer_norm_with_affine is false: only true"},
		{"llada with grouped blocks", strings.Replace(lladaText, `{`, `{"block_group_size":4,`, 1), "block_group_size is 4: only 1"},
		{"llada without rotation", strings.Replace(lladaText, `"rope":true`, `"rope":false`, 1), "rope is false"},
		{"kv heads do not divide", strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":5`, 1), "5 heads of keys and values do not divide 32 heads"},
		{"no kv heads", strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":0`, 1), "0 heads of keys and values do not divide 32 heads"},
		{"negative kv heads", strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":-4`, 1), "-4 heads of keys and values do not divide 32 heads"},
		{"heads do not divide llada", strings.Replace(lladaText, `"n_heads":32`, `"n_heads":33`, 1), "33 heads do not divide the hidden size 4096"},
		{"more ids than rows", strings.Replace(lladaText, `"vocab_size":126464`, `"vocab_size":126465`, 1), "number of ids is 126465: must be in 2..126464"},
		{"no MLP", strings.Replace(lladaText, "12288", "0", 1), "width of the MLP is 0"},
		{"huge MLP", strings.Replace(lladaText, "12288", "1000000000000", 1), "width of the MLP is 1000000000000"},
		{"mask outside of llada", strings.Replace(lladaText, "126336", "-1", 1), "mask id is -1"},
		{"zero theta", strings.Replace(lladaText, "500000.0", "0", 1), "base of the rotary frequencies is 0"},
		{"negative theta", strings.Replace(dreamText, "1000000.0", "-2", 1), "base of the rotary frequencies is -2"},
		{"zero epsilon", strings.Replace(lladaText, "1e-05", "0", 1), "epsilon of the norms is 0"},
		{"huge epsilon", strings.Replace(dreamText, "1e-06", "7", 1), "epsilon of the norms is 7"},
		{"dream without theta", strings.Replace(dreamText, `"rope_theta":1000000.0,`, "", 1), "missing: rope_theta"},
		{"dream with windows", strings.Replace(dreamText, `"use_sliding_window":false`, `"use_sliding_window":true`, 1), "use_sliding_window is true"},
		{"dream with stretched positions", strings.Replace(dreamText, `"rope_scaling":null`, `"rope_scaling":{"type":"longrope"}`, 1), `rotary positions of type "longrope"`},
		{"dream with GELU", strings.Replace(dreamText, `"silu"`, `"gelu"`, 1), `hidden_act is "gelu"`},
		{"dream with absurd positions", strings.Replace(dreamText, "131072", "1000000000", 1), "length is 1000000000"},
		{"dream with no positions", strings.Replace(dreamText, "131072", "0", 1), "length is 0"},
		{"qwen3 with windows", strings.Replace(qwen3Text, `["full_attention"]`, `["full_attention","sliding_attention"]`, 1), `layer_types has "sliding_attention"`},
		{"qwen3 with a negative head", strings.Replace(qwen3Text, `"head_dim":128`, `"head_dim":-128`, 1), "head_dim is -128"},
		{"qwen3 with a head of nothing", strings.Replace(qwen3Text, `"head_dim":128`, `"head_dim":0`, 1), "head_dim is 0"},
		{"qwen3 with an odd head", strings.Replace(qwen3Text, `"head_dim":128`, `"head_dim":127`, 1), "needs an even number"},
		{"qwen3 with huge heads", strings.Replace(qwen3Text, `"head_dim":128`, `"head_dim":65536`, 1), "16 heads of 65536 numbers are 1048576: must be at most 65536"},
		{"bert with another activation", strings.Replace(bertText, `"gelu"`, `"relu"`, 1), `hidden_act is "relu"`},
		{"bert with relative positions", strings.Replace(bertText, `"absolute"`, `"relative_key"`, 1), `position_embedding_type is "relative_key"`},
		{"bert as a decoder", strings.Replace(bertText, `{`, `{"is_decoder":true,`, 1), "is_decoder is true"},
		{"bert without some heads", strings.Replace(bertText, `{`, `{"pruned_heads":{"0":[1]},`, 1), "pruned_heads is"},
		{"neither a class nor BERT's keys", `{"vocab_size":9,"num_attention_heads":2}`, "neither architectures nor auto_map"},
		{"another type with BERT's keys", strings.NewReplacer("BertForMaskedLM", "X", `"model_type":"bert"`, `"model_type":"rembert"`).Replace(bertText), "its class is"},
		{"bert without segments", strings.Replace(bertText, `"type_vocab_size":2`, `"type_vocab_size":0`, 1), "type_vocab_size is 0"},
		{"bert of no width", strings.Replace(bertText, `"hidden_size":768`, `"hidden_size":0`, 1), "hidden size is 0"},
		{"uniform diffusion", strings.Replace(seddText, "absorb", "uniform", 1), `graph.type is "uniform"`},
		{"another model.type", strings.Replace(seddText, `"ddit"`, `"dimamba"`, 1), `model.type is "dimamba"`},
		{"another range of noise", strings.Replace(seddText, `"geometric"`, `"geometric","sigma_max":10`, 1), "noise is from 0.0001 to 10: only 1e-4 to 20"},
		{"another schedule", strings.Replace(seddText, "geometric", "x y", 1), `noise.type is "x y"`},
		{"too long", strings.Repeat(" ", maxConfig+1), "at most"},
		{"two faults", flat(`"n_blocks":2,"n_heads":2`, `"n_blocks":0,"n_heads":3`), "; "},
	} {
		reftest.FailsInLine(t, reftest.Err(ParseConfig([]byte(c.text))), c.want, c.name)
	}
}

// A key that is neither read nor known to be harmless is rejected by name, in every family, if its
// value switches something on.
func TestUnknownKeys(t *testing.T) {
	texts := []string{flatText, lladaText, dreamText, qwen2Text, qwen3Text, bertText, `{"model_type":"bd3lm"}`, raddText, seddText}
	for _, text := range texts {
		add := func(field string) error {
			if i := strings.Index(text, `"model":{`); i >= 0 {
				return reftest.Err(ParseConfig([]byte(text[:i+9] + field + "," + text[i+9:])))
			}
			return reftest.Err(ParseConfig([]byte("{" + field + "," + text[1:])))
		}
		for _, field := range []string{`"use_gate":true`, `"logit_scale":0.5`, `"norm_type":"layer"`, `"text_config":{"a":1}`, `"pruned_heads":[0]`, `"block_width":8`, `"partial_rotary_factor":0.5`, `"clip_qkv":8`} {
			name, _, _ := strings.Cut(field[1:], `"`)
			reftest.FailsInLine(t, add(field), name+" is ", text[:20])
		}
		for _, field := range []string{`"use_gate":false`, `"logit_scale":null`, `"norm_type":""`, `"text_config":{}`, `"pruned_heads":[]`, `"partial_rotary_factor":1.0`, `"dropout":0.1`} {
			if err := add(field); err != nil {
				t.Errorf("%s in %.20s: %v", field, text, err)
			}
		}
	}
	for _, field := range []string{`"factor":4.0`, `"mrope_section":[16]`} {
		reftest.Fails(t, reftest.Err(ParseConfig([]byte(strings.Replace(qwen3Text, `"rope_type"`, field+`,"rope_type"`, 1)))), "rope_parameters."+field[1:5])
	}
}

// The size of blocks is the config's, or else that of most published networks. A BD3-LM network
// whose kept rows would depend on a time is rejected.
func TestBlockSizes(t *testing.T) {
	bd3lm := `{"architectures":["BD3LM"],"hidden_dim":64,"n_blocks":2,"n_heads":2,"model_length":32,"vocab_size":131}`
	sdar := strings.Replace(qwen3Text, "A2DQwen3LMHeadModel", "SDARForCausalLM", 1)
	fast := strings.Replace(qwen2Text, "A2DQwen2LMHeadModel", "Fast_dLLM_QwenForCausalLM", 1)
	for _, c := range []struct {
		text, key     string
		size, another int
	}{{bd3lm, "block_size", 1, 16}, {sdar, "block_size", 4, 8}, {fast, "bd_size", 32, 16}} {
		for text, want := range map[string]int{c.text: c.size, strings.Replace(c.text, "{", fmt.Sprintf(`{"%s":%d,`, c.key, c.another), 1): c.another} {
			got := reftest.Must(ParseConfig([]byte(text)))(t, text)
			if got.BlockSize != want {
				t.Errorf("%s: blocks of %d, want %d", text, got.BlockSize, want)
			}
		}
		reftest.Fails(t, reftest.Err(ParseConfig([]byte(strings.Replace(c.text, "{", fmt.Sprintf(`{"%s":-1,`, c.key), 1)))), "-1: must be")
	}
	for key, want := range map[string]string{`"time_conditioning":true`: "time_conditioning is true", `"causal":true`: "causal is true"} {
		reftest.Fails(t, reftest.Err(ParseConfig([]byte(strings.Replace(bd3lm, "{", "{"+key+",", 1)))), want)
	}
	if c := reftest.Must(ParseConfig([]byte(strings.Replace(bd3lm, "{", `{"cross_attn":false,"block_size":4,`, 1))))(t); c.BlockSize != 0 {
		t.Errorf("attention both ways has blocks of %d", c.BlockSize)
	}
	want := Config{Family: BD3LM, Hidden: 768, Cond: 129, Blocks: 12, Heads: 12, Length: 1024, Columns: 50258, MaskID: 50257, BlockSize: 1, Noise: "loglinear"}
	if c := reftest.Must(ParseConfig([]byte(`{"model_type":"bd3lm"}`)))(t); c != want || !c.Conditioned() {
		t.Errorf("the class's defaults are %+v", c)
	}
}

// Networks that are not masked diffusion, or not supported yet, are rejected by name.
func TestRefusedByName(t *testing.T) {
	for class, want := range map[string]string{
		"DUO": "uniform-state", "UDLM": "uniform-state", "DiffusionGemmaForBlockDiffusion": "uniform-state", "ILLaDAForCausalLM": "not supported yet",
		"DreamReasonerModel": "block-causal",
		"WeDLMForCausalLM":   "causal language model", "LlamaForCausalLM": "causal language model", "GPT2LMHeadModel": "causal language model",
		"RobertaForMaskedLM": "after the padding id",
		"AlbertForMaskedLM":  "not supported yet", "SomethingElse": "not the config of a supported network",
	} {
		for _, text := range []string{`{"architectures":["` + class + `"],"model_type":"llada","hidden_dim":4}`, `{"auto_map":{"AutoModelForCausalLM":"modeling.` + class + `"},"model_type":"Dream"}`} {
			_, err := ParseConfig([]byte(text))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), class) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error is %v, want one line with the class and %q", text, err, want)
			}
		}
	}
}

// The totals published or implied by the authors and by the papers' repositories.
func TestParameters(t *testing.T) {
	small := Config{Family: MDLM, Hidden: 768, Cond: 128, Blocks: 12, Heads: 12, Columns: 50258}
	medium := Config{Family: SEDD, Hidden: 1024, Cond: 128, Blocks: 24, Heads: 16, Columns: 50258}
	want := map[Config]int64{small: 169_627_218, medium: 424_477_010}
	small.Family, medium.Family = RADD, RADD
	want[small], want[medium] = 162_265_682, 405_191_762
	small.Family = SEDD
	want[small] = 169_627_218
	for text, n := range map[string]int64{lladaText: 8_015_581_184, dreamText: 7_615_616_512, qwen2Text: 494_032_768, qwen3Text: 596_049_920, bertText: 109_514_298, modernText: 149_655_232} {
		want[reftest.Must(ParseConfig([]byte(text)))(t)] = n
	}
	for c, n := range want {
		if got := c.Parameters(); got != n {
			t.Errorf("%s of width %d: %d parameters, want %d", c.Family, c.Hidden, got, n)
		}
	}
}

// FuzzConfig checks that accepted configs describe networks that can be built: within the limits,
// heads that fit, a mask inside the vocabulary.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "{}", flatText, raddText, seddText, lladaText, dreamText, qwen2Text, qwen3Text, bertText, modernText, strings.Replace(modernText, `"num_hidden_layers":22`, `"num_hidden_layers":9e18`, 1), `{"architectures":["DreamModel"],"hidden_size":9223372036854775807}`,
		strings.Replace(qwen3Text, "head_dim", "head_dim\":-9223372036854775808,\"x", 1), strings.Replace(lladaText, `"n_kv_heads":32`, `"n_kv_heads":0`, 1), strings.Replace(lladaText, "500000.0", "1e308", 1), `{"model":{}}`, `{"model":null}`, `{"model_type":3}`,
		strings.Replace(flatText, `"vocab_size"`, `"vocab_size":9223372036854775807,"x"`, 1), strings.Replace(flatText, `"model_length"`, `"model_length":9e18,"x"`, 1),
		strings.Replace(raddText, `"tokens"`, `"tokens":9223372036854775807,"x"`, 1), strings.Replace(seddText, `"length"`, `"length":-9223372036854775808,"x"`, 1)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfig(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if c.Head == 0 && c.Hidden%c.Heads != 0 || c.Heads%c.KeyHeads() != 0 || c.HeadSize() < 1 || c.HeadSize()%2 != 0 && c.Family != "bert" || c.Length < 1 ||
			c.MaskID != facts.Unknown && (c.MaskID < 0 || c.MaskID >= c.Columns) || c.Tokens > c.Columns {
			t.Errorf("accepted %+v", c)
		}
		if c.TimeConditioned && c.Family == RADD {
			t.Error("a RADD network with time")
		}
		if n := c.Parameters(); n < int64(c.Columns)*int64(c.Hidden) {
			t.Errorf("%d parameters in %+v", n, c)
		}
	})
}
