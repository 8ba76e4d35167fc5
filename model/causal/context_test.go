package causal

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
)

// TestContext checks that the maximum length of a text is read from config.json, next to the file
// or above its folder onnx. Without one, a text that is too long is an error that says what to do.
func TestContext(t *testing.T) {
	graph := reftest.Must(os.ReadFile(reftest.Data(t, "foreign", "causal-twelve.onnx")))(t)
	for _, c := range []struct {
		config, file string
		length       int
		want         string
	}{
		{`{"n_positions":12,"n_ctx":10}`, "model.onnx", 12, "at most 12"},
		{`{"max_position_embeddings":12}`, "onnx/decoder_model.onnx", 12, "at most 12"},
		{`{"model_type":"x","text_config":{"max_position_embeddings":11}}`, "model.onnx", 11, "at most 11"},
		{`{"n_positions":20}`, "model.onnx", 20, "a text of 13 tokens fails"},
		{`{"model_type":"bloom"}`, "model.onnx", 0, "no config.json gives"},
		{``, "onnx/model.onnx", 0, "no config.json gives"},
		{`{"n_positions":-3}`, "model.onnx", 0, "at least 2"},
		{`{"n_positions":"many"}`, "model.onnx", 0, "config.json"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(c.file))
		reftest.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		reftest.OK(t, os.WriteFile(file, graph, 0o644))
		if c.config != "" {
			reftest.OK(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o644))
		}
		for _, ref := range []string{dir, file} {
			m, err := open(t, ref)
			if err == nil {
				if m.Length() != c.length {
					t.Errorf("%s: %d tokens, want %d", c.config, m.Length(), c.length)
				}
				if _, err = m.LogProbs(context.Background(), []Window{{IDs: make([]int, 12), From: 1}}); err != nil && c.length != 11 {
					t.Errorf("%s: twelve tokens: %v", c.config, err)
				}
				_, err = m.LogProbs(context.Background(), []Window{{IDs: make([]int, 13), From: 1}})
			}
			reftest.FailsInLine(t, err, c.want, c.config)
		}
	}
}
