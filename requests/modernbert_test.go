package requests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/samplers"
	"mdmgen/tokenize"
	"mdmgen/tokenize/chat"
)

// TestModernBERTChat checks that a text of ModernBERT is framed and holds no special token; that a chat
// template writes all of a prompt; and that answers, which are sampled as dLLM does, may hold and end
// with [SEP], and no other special token.
func TestModernBERTChat(t *testing.T) {
	t.Parallel()
	const (
		cls, sep, mask = 256, 257, 259
		config         = `{"architectures":["ModernBertForMaskedLM"],"vocab_size":262,"hidden_size":16,"num_hidden_layers":3,"num_attention_heads":2,"intermediate_size":12,"max_position_embeddings":64,"local_attention":6}`
		template       = "{% for m in messages %}[{{ m.role }}]\n{{ m.content | trim }}\n{% endfor %}{% if add_generation_prompt %}[Answer]\n{% endif %}"
	)
	dir := t.TempDir()
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "model.", checkpoint.F32, 5)))
	writeBytes(t, dir, "[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "[unused0]")
	opened := func() (model.Model, Layout) {
		m, err := model.Open(t.Context(), dir, model.Options{Runtime: orttest.OneThread})
		orttest.Opened(t, m, err)
		return m, Layout{Facts: m.Facts(), Words: WordsOf(reftest.Must(tokenize.Open(t.Context(), dir))(t))}
	}
	m, _ := opened()
	if f := m.Facts(); f.MaskID != mask || !slices.Equal(f.Frame, []int{cls, sep}) || !slices.Equal(f.Padding, []int{cls, sep, 258, 260, 261}) {
		t.Errorf("facts are %+v", f)
	}
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "tokenizer_config.json"), []byte(`{"sep_token":"[SEP]"}`), 0o644))
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(template), 0o644))
	m, l := opened()
	if f := m.Facts(); !slices.Equal(f.Frame, []int{cls, sep}) || !slices.Equal(f.Padding, []int{cls, 258, 260, 261}) {
		t.Errorf("with a template facts are %+v", f)
	}
	prefix := "hi"
	if c := reftest.Must(l.Canvas(Request{Prefix: &prefix}))(t); c.Tokens[0] != cls || c.Tokens[63] != sep {
		t.Errorf("the canvas of a text is %v", c.Tokens)
	}
	messages := []chat.Message{{Role: "user", Content: "hi"}}
	prompt := "[user]\nhi\n[Answer]\n"
	c := reftest.Must(l.Canvas(Request{Messages: messages}))(t)
	if text := reftest.Must(reftest.Must(l.Words.Tokenizer())(t).Decode(c.Tokens[:len(prompt)]))(t); text != prompt || len(c.Tokens) != 64 || strings.Contains(text, "CLS") || slices.Contains(c.Tokens, sep) {
		t.Errorf("the canvas of messages is %v, %q", c.Tokens, text)
	}
	b := reftest.Must(New(t.Context(), Config{Network: m, Words: l.Words}))(t)
	j := reftest.Must(b.Job(t.Context(), Request{Messages: messages}))(t)
	if s := j.Sampler.Settings(); s.Sampler != "confidence" || s.BlockLength != 32 || s.End() != sep {
		t.Errorf("answers are sampled by %+v", s)
	}
	count := map[int]int{}
	fhs := Request{Messages: messages}
	fhs.Options.Sampler = "fhs"
	for seed := range uint64(12) {
		ids := reftest.Must(samplers.Fill(t.Context(), m, c.Tokens, reftest.Must(b.Job(t.Context(), fhs))(t).Sampler, seed))(t)
		for _, id := range ids {
			count[id]++
		}
	}
	if count[sep] == 0 || count[cls]+count[258]+count[260]+count[261] > 0 {
		t.Errorf("[SEP] is drawn %d times, others %d", count[sep], count[cls]+count[258]+count[260]+count[261])
	}
}
