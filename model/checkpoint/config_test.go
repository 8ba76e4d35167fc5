package checkpoint

import (
	"strings"
	"testing"
)

const (
	flatText = `{"model_type":"mdlm","hidden_dim":64,"cond_dim":32,"n_blocks":2,"n_heads":2,"model_length":32,"vocab_size":131}`
	raddText = `{"tokens":150,"noise":{"type":"loglinear"},"model":{"type":"ddit_wot","hidden_size":64,"length":36,"n_blocks":2,"n_heads":2}}`
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
	for _, c := range []struct {
		name, text string
		want       Config
	}{
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
		{"array", `[]`, "a list stands where an object must be"},
		{"null", `null`, "not a JSON object"},
		{"number", `3`, "a number stands where an object must be"},
		{"another JSON file", `{"version":"1.0","truncation":null,"model":"x"}`, "not the config of"},
		{"another network", `{"model_type":"llada","hidden_dim":64}`, `model_type is "llada"`},
		{"LLaMA", `{"model_type":"llama","hidden_size":64}`, `model_type is "llama"`},
		{"keys missing", `{"model_type":"mdlm","hidden_dim":64,"n_heads":2}`, "missing: cond_dim, n_blocks, model_length, vocab_size"},
		{"tree keys missing", `{"model":{"type":"ddit"}}`, "missing: tokens, model.hidden_size, model.n_blocks, model.n_heads, model.length, model.cond_dim"},
		{"text for a number", flat(`64`, `"64"`), `field "hidden_dim": text stands where a whole number`},
		{"fraction for a number", flat(`64`, `64.5`), `field "hidden_dim": the number 64.5 stands`},
		{"text for a truth value", flat(`{`, `{"time_conditioning":"false",`), `field "time_conditioning": text stands where true or false`},
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
		{"uniform diffusion", strings.Replace(seddText, "absorb", "uniform", 1), `graph.type is "uniform"`},
		{"another model.type", strings.Replace(seddText, `"ddit"`, `"dimamba"`, 1), `model.type is "dimamba"`},
		{"another schedule", strings.Replace(seddText, "geometric", "x y", 1), `noise.type is "x y"`},
		{"too long", strings.Repeat(" ", maxConfig+1), "at most"},
		{"two faults", flat(`"n_blocks":2,"n_heads":2`, `"n_blocks":0,"n_heads":3`), "; "},
	} {
		_, err := ParseConfig([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// The totals that the papers' repositories publish or imply.
func TestParameters(t *testing.T) {
	small := Config{Hidden: 768, Cond: 128, Blocks: 12, Heads: 12, Columns: 50258}
	medium := Config{Hidden: 1024, Cond: 128, Blocks: 24, Heads: 16, Columns: 50258}
	for _, c := range []struct {
		family string
		config Config
		want   int64
	}{
		{MDLM, small, 169_627_218},
		{SEDD, small, 169_627_218},
		{SEDD, medium, 424_477_010},
		{RADD, small, 162_265_682},
		{RADD, medium, 405_191_762},
	} {
		c.config.Family = c.family
		if got := c.config.Parameters(); got != c.want {
			t.Errorf("%s of width %d: %d parameters, want %d", c.family, c.config.Hidden, got, c.want)
		}
	}
}

// FuzzConfig checks that whatever is accepted describes a network that can be
// built: within the limits, heads that fit, a mask inside the vocabulary.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"", "{}", flatText, raddText, seddText, `{"model":{}}`, `{"model":null}`, `{"model_type":3}`,
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
		if c.Hidden%c.Heads != 0 || c.HeadSize()%2 != 0 || c.MaskID < 0 || c.MaskID >= c.Columns || c.Length < 1 {
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
