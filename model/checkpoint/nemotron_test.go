package checkpoint

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/facts"
)

// nemotronText has all keys of the published network of 8B.
const nemotronText = `{"ar_loss_weight":1.0,"architectures":["NemotronLabsDiffusionModel"],"attention_bias":false,"attention_dropout":0.0,"attn_implementation":"sdpa",
"auto_map":{"AutoConfig":"configuration_nemotron_labs_diffusion.NemotronLabsDiffusionConfig","AutoModel":"modeling_nemotron_labs_diffusion.NemotronLabsDiffusionModel"},"block_size":32,"bos_token_id":1,
"dlm_loss_weight":null,"dlm_paradigm":"bidirectional","dp_varying_mask_ratio":false,"eos_token_id":11,"head_dim":128,"hidden_act":"silu","hidden_size":4096,"initializer_range":0.02,"intermediate_size":14336,
"mask_token_id":100,"max_position_embeddings":262144,"mlp_bias":false,"model_type":"nemotron_labs_diffusion","num_attention_heads":32,"num_hidden_layers":34,"num_key_value_heads":8,"rms_norm_eps":1e-05,
"rope_parameters":{"beta_fast":32.0,"beta_slow":1.0,"factor":16.0,"llama_4_scaling_beta":0.1,"mscale":1.0,"mscale_all_dim":1.0,"original_max_position_embeddings":16384,"rope_theta":1000000.0,"rope_type":"yarn"},
"sliding_window":null,"tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"5.0.0","use_cache":false,"vocab_size":131072}`

// TestNemotronConfig reads the published config, and one of the other class with its keys.
func TestNemotronConfig(t *testing.T) {
	t.Parallel()
	want := Config{Family: "nemotron", Hidden: 4096, Blocks: 34, Heads: 32, KVHeads: 8, Head: 128, Inner: 14336, Length: 32768, Positions: 262144, Columns: 131072, Tokens: 131072, MaskID: 100,
		BlockSize: 32, Causal: true, Noise: "loglinear", Epsilon: 1e-5, RotaryBase: 1e6,
		Yarn: Yarn{Factor: 16, Fast: 32, Slow: 1, Original: 16384, Whole: true, Scale: 1}, QueryScale: QueryScale{0.1, 16384}}
	if got := reftest.Must(ParseConfig([]byte(nemotronText)))(t); got != want || got.Parameters() != 8_489_553_920 {
		got.Experts, got.Local = Experts{}, Local{}
		t.Errorf("got %.900s\nof %d parameters, want\n%.900s", fmt.Sprint(got), got.Parameters(), fmt.Sprint(want))
	}
	qwen := `{"architectures":["DiffEncoderModel"],"hidden_size":64,"intermediate_size":96,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,"vocab_size":64,
"max_position_embeddings":64,"rope_theta":1000000.0,"attention_bias":true,"dlm_paradigm":"bidirectional","use_sliding_window":false,"max_window_layers":28}`
	c := reftest.Must(ParseConfig([]byte(qwen)))(t)
	if !c.HeadNorm || !c.QKVBias || !c.OutBias || !c.Causal || c.MaskID != facts.Unknown || c.BlockSize != 32 || c.Epsilon != 1e-6 {
		t.Errorf("DiffEncoderModel is %+v", c)
	}
	for old, new := range map[string]string{`"mlp_bias":false`: `"mlp_bias":true`, `"sliding_window":null`: `"sliding_window":4096`, `"block_size":32`: `"block_size":0`, `"factor":16.0`: `"factor":0.5`, `"yarn"`: `"llama3"`,
		`"beta_fast":32.0`: `"beta_fast":-1`, `"mscale":1.0`: `"rope_dim":3`, "NemotronLabsDiffusionModel": "NemotronLabsDiffusionVLMModel", `_beta":0.1`: `_beta":1e9`} {
		_, field, _ := strings.Cut(new, `"`)
		reftest.FailsInLine(t, reftest.Err(ParseConfig([]byte(strings.ReplaceAll(nemotronText, old, new)))), "", field)
	}
}

// TestYarn compares frequencies and scales with those of transformers 5 for published settings, and
// checks what is absent.
func TestYarn(t *testing.T) {
	t.Parallel()
	parse := func(rotation string) Config {
		return reftest.Must(ParseConfig([]byte(strings.Replace(qwen3Text, `"rope_theta":1000000.0,"rope_type":"default"`, `"rope_theta":1000000.0,`+rotation, 1))))(t)
	}
	c := parse(`"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768`)
	// transformers' _compute_yarn_parameters: the ramp is from pair 23 to 40 of 64.
	for j, want := range map[int]float64{0: 1, 23: 1, 40: 0.25, 63: 0.25, 30: 1 - 0.75*7/17.0} {
		if own := c.frequency(j); math.Abs(c.stretched(j, own)/own-want) > 1e-12 {
			t.Errorf("frequency %d is stretched by %v, want %v", j, c.stretched(j, own)/own, want)
		}
	}
	for rotation, want := range map[string]float64{
		``: 0.1*math.Log(4) + 1, `,"mscale":0.5`: 0.05*math.Log(4) + 1, `,"mscale":1,"mscale_all_dim":1`: 1, `,"attention_factor":1.5`: 1.5, `,"mscale":2,"mscale_all_dim":1`: (0.2*math.Log(4) + 1) / (0.1*math.Log(4) + 1),
	} {
		if got := parse(`"type":"yarn","factor":4.0,"original_max_position_embeddings":32768` + rotation).Yarn.Scale; math.Abs(got-want) > 1e-15 {
			t.Errorf("%s scales by %v, want %v", rotation, got, want)
		}
	}
	if y := parse(`"rope_type":"yarn","factor":4.0`).Yarn; y.Original != 40960 {
		t.Errorf("without original positions they are %d", y.Original)
	}
	if q := (QueryScale{0.1, 16}); q.At(15) != 1 || math.Abs(q.At(32)-1-0.1*math.Log(3)) > 1e-15 {
		t.Errorf("scales are %v and %v", q.At(15), q.At(32))
	}
}
