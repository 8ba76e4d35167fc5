package app

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/model/hub/hubtest"
)

// TestEvaluatorFromHub checks that an evaluator, given the name of a repository with several kinds
// of weights, uses the graph with its config and tokenizer.
func TestEvaluatorFromHub(t *testing.T) {
	needRuntime(t)
	files := make(map[string][]byte)
	for _, name := range []string{"config.json", "tokenizer.json", "onnx/model.onnx"} {
		data := []byte(readAll(t, reftest.Data(t, "causal", "gpt2", name)))
		files[strings.Replace(name, "model.onnx", "decoder_model.onnx", 1)] = data
	}
	files["model.safetensors"], files["onnx/decoder_model_merged.onnx"], files["onnx/decoder_with_past_model.onnx"] = []byte("no"), []byte("no"), []byte("no")
	s := hubtest.New(t, map[string]*hubtest.Repo{"openai-community/gpt2": {Files: files}})
	s.Use(t)
	for _, name := range []string{"openai-community/gpt2", "openai-community/gpt2:onnx/decoder_model.onnx"} {
		stdout, stderr, code := runCommand(t, "", "bench", "--sampler", "tweedie", "--steps", "2", "-n", "2", "-r", "1", "--seed", "1", "--length", "6", "--evaluator", name)
		if code != exit.OK || !strings.Contains(stdout, "windows of 24 tokens, 12 apart") {
			t.Errorf("%s: exit status %d: %s%s", name, code, stdout, stderr)
		}
	}
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.Path, ".safetensors") || strings.HasSuffix(r.Path, "merged.onnx") {
			t.Errorf("asked for %s", r.Path)
		}
	}
}
