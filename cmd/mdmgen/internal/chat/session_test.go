package chat

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/tokenize"
)

// counting counts the positions that a network computes.
type counting struct {
	model.Model
	computed int
}

func (n *counting) Keep(length int) samplers.Kept { return n.Model.(samplers.Keeper).Keep(length) }
func (n *counting) KeptBytes(length int) int64    { return n.Model.(samplers.Keeper).KeptBytes(length) }
func (n *counting) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	if n.computed += len(c.Compute); c.Compute == nil {
		n.computed += len(c.IDs)
	}
	return n.Model.Logits(ctx, c)
}

// TestTurnsShare checks that an answer computes the text before it only as far as no answer did, and is the
// same as if it had computed all.
func TestTurnsShare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(`{"architectures":["BD3LM"],"hidden_dim":8,"cond_dim":4,"n_blocks":2,"n_heads":2,"model_length":128,"vocab_size":131,"block_size":4}`, "backbone.", checkpoint.F32, 1)))
	m, err := model.Open(t.Context(), dir, model.Options{Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	words := reftest.Must(tokenize.Open(t.Context(), reftest.Data(t, "tokenizers", "letters.json")))(t)
	chat := func(store *samplers.Store) (texts [2]string, computed [2]int) {
		net := &counting{Model: m}
		c := &session{options: new(options), network: net, facts: m.Facts(), words: words, texts: requests.WordsOf(words), story: true, store: store, tell: func(string) {}, set: map[string]json.RawMessage{"length": json.RawMessage(`"+8"`)}}
		c.builder = reftest.Must(requests.New(t.Context(), requests.Config{Network: net, Words: c.texts, MaxN: 1}))(t)
		for i, message := range []string{"the king and the queen had a child, and the child was there", "once upon"} {
			net.computed = 0
			c.say(message)
			texts[i] = reftest.Must(c.answer(t.Context()))(t)
			computed[i] = net.computed
		}
		return texts, computed
	}
	texts, all := chat(nil)
	shared, computed := chat(samplers.NewStore(1 << 20))
	// The first message has 14 tokens, of which twelve are in whole blocks.
	if shared != texts || computed[0] != all[0] || computed[1] > all[1]-12 {
		t.Errorf("%q, %d positions; without a store %q, %d", shared, computed, texts, all)
	}
}
