package checkpoint_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

const tinyQwen = `{"architectures":["Qwen2ForCausalLM"],"hidden_size":8,"intermediate_size":6,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,
"vocab_size":20,"max_position_embeddings":16,"rope_theta":10000,"tie_word_embeddings":true}`

// factsOf opens a folder and returns its facts.
func factsOf(t *testing.T, f fstest.MapFS) facts.Facts {
	t.Helper()
	c := inMemory(t, f)
	return reftest.Must(c.Facts(t.Context()))(t)
}

// The first file with the mask's id is used, and becomes part of the digest.
func TestMaskIsFound(t *testing.T) {
	files := []struct {
		name, text string
		want       int
	}{
		{"tokenizer_config.json", `{"added_tokens_decoder":{"11":{"content":"<own>"},"12":{"content":"[MASK]"}},"mask_token":{"content":"<own>"}}`, 11},
		{"added_tokens.json", `{"<|im_end|>":2,"<|mdm_mask|>":13}`, 13},
		{"tokenizer.json", `{"added_tokens":[{"id":3,"content":"[PAD]"},{"id":15,"content":"[MASK]"},{"id":14,"content":"<|mask|>"}]}`, 14},
		{"generation_config.json", `{"mask_token_id":16}`, 16},
		{"config.json", strings.Replace(tinyQwen, "{", `{"mask_token_id":17,`, 1), 17},
	}
	f := checkpointtest.Folder(tinyQwen, "model.", checkpoint.F32, 1)
	// A file without the id is skipped.
	f["generation_config.json"] = &fstest.MapFile{Data: []byte(`{"mask_token_id":null}`)}
	before := factsOf(t, f)
	if before.MaskID != facts.Unknown || before.Unstated["mask_id"] == nil || before.Unstated["shift"] == nil {
		t.Errorf("nothing tells: %+v", before)
	}
	for _, c := range files {
		f[c.name] = &fstest.MapFile{Data: []byte(c.text)}
		got := factsOf(t, f)
		if got.MaskID != c.want || got.Unstated["mask_id"] != nil || got.Digest == before.Digest {
			t.Errorf("%s: mask id %d, want %d", c.name, got.MaskID, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"added_tokens.json", `{"<|mask|>":20}`, "added_tokens.json: mask id is 20: must be in 0..19"},
		{"added_tokens.json", `{"<|mask|>":-1}`, "added_tokens.json: mask id is -1"},
		{"tokenizer.json", `{"added_tokens":[{"id":1000000000,"content":"<mask>"}]}`, "tokenizer.json: mask id is 1000000000"},
		{"tokenizer.json", `{"added_tokens":`, "tokenizer.json: the JSON ends too early"},
		{"generation_config.json", `{"mask_token_id":"x"}`, "generation_config.json: "},
		{"tokenizer_config.json", `[]`, "tokenizer_config.json: a list instead of"},
	} {
		f := checkpointtest.Folder(tinyQwen, "", checkpoint.F32, 1)
		f[c.name] = &fstest.MapFile{Data: []byte(c.text)}
		_, err := checkpoint.OpenFS(f, "tiny")
		refuses(t, c.name, err, c.want)
	}
}

// Facts that the files do not state are an error until a user or a published model's table supplies
// them; the user's take precedence.
func TestUntold(t *testing.T) {
	read := factsOf(t, checkpointtest.Folder(tinyQwen, "", checkpoint.F32, 1))
	for _, c := range []struct {
		name            string
		known, override map[string]string
		mask            int
		shift           bool
		want            []string
	}{
		{"nothing", nil, nil, 0, false, []string{"mask_id is unknown", "generation_config.json", "fact=mask_id=ID", "shift is unknown", "fact=shift=true or fact=shift=false"}},
		{"the mask", nil, map[string]string{"mask_id": "4"}, 0, false, []string{"shift is unknown"}},
		{"both", nil, map[string]string{"mask_id": "4", "shift": "false"}, 4, false, nil},
		{"the table", map[string]string{"mask_id": "5", "shift": "true"}, nil, 5, true, nil},
		{"a person before the table", map[string]string{"mask_id": "5", "shift": "true"}, map[string]string{"shift": "false"}, 5, false, nil},
		{"the table changes nothing", map[string]string{"mask_id": "5", "shift": "true", "columns": "7"}, nil, 5, true, nil},
	} {
		f, err := read.Tell(c.known)
		reftest.OK(t, err)
		f, err = facts.Apply(t.Context(), f, "", c.override)
		if c.want == nil && (err != nil || f.MaskID != c.mask || f.Shift != c.shift || f.Columns != 20) {
			t.Errorf("%s: mask %d, shift %t, %v", c.name, f.MaskID, f.Shift, err)
		}
		for _, want := range c.want {
			reftest.Fails(t, err, want, c.name)
		}
	}
}

// Tied heads may be stored nevertheless; a head that is not tied must be.
func TestTiedHead(t *testing.T) {
	const llada = `{"architectures":["LLaDAModelLM"],"d_model":8,"n_layers":1,"n_heads":2,"mlp_hidden_size":6,"vocab_size":20,"max_sequence_length":16,"rope":true,"rope_theta":500000,
"layer_norm_type":"rms","activation_type":"silu","block_type":"llama","weight_tying":TIED,"mask_token_id":3}`
	untied := checkpointtest.Folder(strings.Replace(llada, "TIED", "false", 1), "model._orig_mod.", checkpoint.BF16, 1)
	tied := fstest.MapFS{"config.json": {Data: []byte(strings.Replace(llada, "TIED", "true", 1))}, "model.safetensors": untied["model.safetensors"]}
	a := reftest.Must(checkpoint.OpenFS(untied, "untied"))(t)
	b, err := checkpoint.OpenFS(tied, "tied")
	reftest.OK(t, err)
	if len(a.Unused()) != 0 || len(b.Unused()) != 1 || b.Unused()[0] != "model._orig_mod.transformer.ff_out.weight" {
		t.Errorf("unused: %v, tied %v", a.Unused(), b.Unused())
	}
	if got := a.Config.Parameters() - b.Config.Parameters(); got != 160 {
		t.Errorf("the head has %d parameters, want 160", got)
	}
	small := checkpointtest.Folder(string(tied["config.json"].Data), "", checkpoint.F16, 1)
	small["config.json"] = untied["config.json"]
	_, err = checkpoint.OpenFS(small, "untied")
	refuses(t, "no head", err, "missing: transformer.ff_out.weight")
}

// BERT's vocabulary gives the mask, the special tokens and the frame, all of which count in the digest.
func TestVocabulary(t *testing.T) {
	const config = `{"hidden_size":4,"num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":3,"max_position_embeddings":8,"type_vocab_size":2,"vocab_size":8}`
	none := factsOf(t, checkpointtest.Folder(config, "", checkpoint.F32, 1))
	if none.Family != "bert" || none.MaskID != facts.Unknown || none.Padding != nil || none.Frame != nil {
		t.Errorf("without a vocabulary: %+v", none)
	}
	digests := map[string]bool{none.Digest: true}
	for _, c := range []struct {
		file, text     string
		mask           int
		special, frame []int
	}{
		{"vocab.txt", "[PAD]\n[unused7]\na\n[CLS]\n[SEP]\n[MASK]\n[a]\n[UNK]\n", 5, []int{0, 1, 3, 4, 7}, []int{3, 4}},
		{"vocab.txt", "[PAD]\r\na\r\n[SEP]\r\n[MASK]", 3, []int{0, 2}, nil},
		{"vocab.txt", "a\nb\n", facts.Unknown, nil, nil},
		{"tokenizer.json", `{"model":{"vocab":{"[CLS]":6,"[SEP]":2,"[MASK]":1,"a":0}}}`, 1, []int{2, 6}, []int{6, 2}},
		{"tokenizer.json", `{"model":{"vocab":{}},"added_tokens":[{"id":7,"content":"[MASK]"}]}`, 7, nil, nil},
	} {
		f := checkpointtest.Folder(config, "", checkpoint.F32, 1)
		f[c.file] = &fstest.MapFile{Data: []byte(c.text)}
		got := factsOf(t, f)
		if got.MaskID != c.mask || !slices.Equal(got.Padding, c.special) || !slices.Equal(got.Frame, c.frame) {
			t.Errorf("%s %q: mask %d, special %v, frame %v", c.file, c.text, got.MaskID, got.Padding, got.Frame)
		}
		if seen := digests[got.Digest]; seen != (c.mask == facts.Unknown) {
			t.Errorf("%s %q: the digest is that of another: %t", c.file, c.text, seen)
		}
		digests[got.Digest] = true
	}
	f := checkpointtest.Folder(config, "", checkpoint.F32, 1)
	f["vocab.txt"] = &fstest.MapFile{Data: []byte(strings.Repeat("a\n", 9) + "[MASK]")}
	reftest.Fails(t, reftest.Err(checkpoint.OpenFS(f, "tiny")), "vocab.txt: mask id is 9: must be in 0..7")
}
