package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// modernText has the keys of answerdotai/ModernBERT-base.
const modernText = `{"architectures":["ModernBertForMaskedLM"],"attention_bias":false,"classifier_activation":"gelu","classifier_bias":false,"classifier_pooling":"mean","decoder_bias":true,
"deterministic_flash_attn":false,"global_attn_every_n_layers":3,"global_rope_theta":160000.0,"hidden_activation":"gelu","hidden_size":768,"initializer_cutoff_factor":2.0,"intermediate_size":1152,
"layer_norm_eps":1e-05,"local_attention":128,"local_rope_theta":10000.0,"max_position_embeddings":8192,"mlp_bias":false,"model_type":"modernbert","norm_bias":false,"norm_eps":1e-05,
"num_attention_heads":12,"num_hidden_layers":22,"position_embedding_type":"absolute","reference_compile":true,"tie_word_embeddings":true,"vocab_size":50368}`

// TestModernBERTConfig reads the forms of its config: that of transformers 4, with bases that are missing
// or null, and that of transformers 5, which names the kind of each layer.
func TestModernBERTConfig(t *testing.T) {
	const bases = `"global_rope_theta":160000.0,`
	types := strings.Repeat(`"full_attention","sliding_attention",`, 11)
	now := `"layer_types":[` + types[:len(types)-1] + `],"rope_theta":null,"rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":5e4},"sliding_attention":{"rope_theta":500}},`
	for changes, want := range map[string]struct {
		global, local float64
		reach         int
		near          []bool
	}{
		"":                             {160000, 10000, 64, []bool{false, true, true, false}},
		bases + "|":                    {160000, 10000, 64, []bool{false, true, true, false}},
		`"local_rope_theta":10000.0,|`: {160000, 10000, 64, []bool{false, true, true, false}},
		"10000.0|null":                 {160000, 160000, 64, []bool{false, true, true, false}},
		"160000.0|2e4|10000.0|3e3":     {20000, 3000, 64, []bool{false, true, true, false}},
		`"local_attention":128|"local_attention":7`: {160000, 10000, 3, []bool{false, true, true, false}},
		`n_layers":3|n_layers":1`:                   {160000, 10000, 64, []bool{false, false, false, false}},
		bases + "|" + now:                           {50000, 500, 64, []bool{false, true, false, true}},
	} {
		text := modernText
		if changes != "" {
			text = strings.NewReplacer(strings.Split(changes, "|")...).Replace(modernText)
		}
		c := reftest.Must(ParseConfig([]byte(text)))(t, changes)
		if got := fmt.Sprint(c.RotaryBase, c.Local.RotaryBase, c.Local.Reach, c.Local.In[:4]); got != fmt.Sprint(want.global, want.local, want.reach, want.near) || c.Local.In[22] || !c.Tied || c.Length != 8192 {
			t.Errorf("%s: %s, want %v", changes, got, want)
		}
	}
	for changes, want := range map[string]string{
		`{"arch|{"layer_types":["full_attention"],"arch`:                      "for each of 22 layers",
		`{"arch|{"layer_types":["global"],"arch`:                              "must be a list of full_attention or sliding_attention",
		bases + `|"rope_parameters":{"full_attention":{"rope_type":"yarn"}},`: "type \"yarn\" are not supported",
		bases + `|"rope_parameters":{"rope_theta":5e4},`:                      "rope_parameters.rope_theta is",
		`"norm_bias":false|"norm_bias":true`:                                  "norm_bias is true: only false is read",
		"10000.0|1e-3":                                                        "base of the rotary frequencies is 0.001",
		`"local_attention":128|"local_attention":-9`:                          "reach of a local block is -4",
	} {
		reftest.Fails(t, reftest.Err(ParseConfig([]byte(strings.NewReplacer(strings.Split(changes, "|")...).Replace(modernText)))), want)
	}
}
