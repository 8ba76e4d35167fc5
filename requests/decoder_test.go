package requests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// TestDecoder checks that messages are answered by the sampler of the network's facts unless another is
// named, that options given replace its settings, and that an answer ends with the template's last token.
func TestDecoder(t *testing.T) {
	l := layout(t, 12)
	words := reftest.Must(l.Words.Tokenizer())(t)
	reftest.OK(t, os.WriteFile(filepath.Join(words.Folder(), "tokenizer_config.json"), []byte(`{"eos_token":"!"}`), 0o644))
	f := l.Facts
	f.BlockSize, f.Decoder = 4, "llada2 threshold=0.95 steps=32 temperature=0"
	o := reftest.Must(Decoder(f, l.Words, catalog.Options{}))(t)
	if o.Sampler != "llada2" || o.Threshold != 0.95 || o.Steps != 32 || *o.Temperature != 0 || o.BlockLength != 4 || o.End() != '!' {
		t.Errorf("%+v", o)
	}
	given := catalog.Options{Steps: 8}
	given.TopK = 3
	o = reftest.Must(Decoder(f, l.Words, given))(t)
	if o.Steps != 8 || o.TopK != 3 || o.Threshold != 0.95 || *o.Temperature != 0 {
		t.Errorf("%+v", o)
	}
	named := catalog.Options{Sampler: "fhs"}
	if o = reftest.Must(Decoder(f, l.Words, named))(t); o.Sampler != "fhs" || o.Stop != nil || o.Temperature != nil {
		t.Errorf("%+v", o)
	}
	f.Decoder = ""
	if o = reftest.Must(Decoder(f, l.Words, catalog.Options{}))(t); o.Sampler != "" || o.Stop != nil {
		t.Errorf("%+v", o)
	}
	for _, wrong := range []string{"llada2 threshold", "llada2 threshold=high", "llada2 speed=9"} {
		f.Decoder = wrong
		reftest.Fails(t, reftest.Err(Decoder(f, l.Words, catalog.Options{})), "fact decoder is")
	}
}

// TestPublished checks the settings with which answers are sampled against those that authors publish:
// LLaDA's chat.py, Dream's README, SDAR's generate.py and Fast-dLLM v2's model card. The command has a test for
// other families.
func TestPublished(t *testing.T) {
	l := layout(t, 12)
	words := reftest.Must(l.Words.Tokenizer())(t)
	reftest.OK(t, os.WriteFile(filepath.Join(words.Folder(), "tokenizer_config.json"), []byte(`{"eos_token":"!"}`), 0o644))
	for _, c := range []struct{ folder, block, want string }{
		{"checkpoints/llada-gqa-bf16", "", `{"sampler":"confidence","steps":1024,"score":"confidence","rule":"llada","block_length":32,"temperature":0}`},
		{"checkpoints/dream-tied-fp16", "", `{"sampler":"confidence","steps":512,"score":"entropy","rule":"dream","eps":0.001,"temperature":0.2,"top_p":0.95}`},
		{"checkpoints/sdar", "4", `{"sampler":"threshold","score":"maskgit-plus","threshold":0.85,"block_length":4}`},
		{"checkpoints/fast-dllm-v2", "32", `{"sampler":"threshold","score":"confidence","threshold":0.9,"block_length":8,"temperature":0}`},
	} {
		t.Run(c.folder, func(t *testing.T) {
			override := map[string]string{"mask_id": "90"}
			if c.block != "" {
				override["block_size"] = c.block
			}
			d := reftest.Must(model.Describe(t.Context(), reftest.Checkpoint(t, c.folder), model.Options{Override: override}))(t)
			o := reftest.Must(Decoder(d.Facts, l.Words, catalog.Options{}))(t)
			set := reftest.Must(catalog.New(o, d.Facts.Spec()))(t).Settings()
			// It ends with the template's last token, if it has blocks. The rest follows from the sampler and the network.
			if ends := set.Stop != nil && *set.Stop == '!'; ends != (set.BlockLength > 0) {
				t.Errorf("%+v", set)
			}
			var got, want map[string]any
			reftest.OK(t, json.Unmarshal(reftest.Must(json.Marshal(set))(t), &got))
			reftest.OK(t, json.Unmarshal([]byte(c.want), &want))
			for _, key := range []string{"stop", "cache", "draw", "reach", "prompt_length", "changes_law"} {
				delete(got, key)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
