package checkpoint

import (
	"fmt"

	"mdmgen/model/facts"
)

var bertFamily = Family{
	Name:    "bert",
	Models:  "BERT's masked language model (Devlin et al. 2019, arXiv 1810.04805), such as bert-base-uncased, as μ",
	Checked: "outputs of transformers on a small random checkpoint",
	classes: []string{"BertForMaskedLM"},
	parse:   parseBERT,
	pins: []pin{{"hidden_act", `"gelu"`, true}, {"position_embedding_type", `"absolute"`, true},
		{"tie_word_embeddings", "true", true}, {"is_decoder", "false", true}},
	ignored: []string{"pooler_*", "directionality", "output_past"},
	naming:  naming{Network: Encoder, embedding: "bert.embeddings.word_embeddings.weight", parts: []string{"bert", "cls"}},
	extra: map[string]string{
		"cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.bias": "cls.predictions.bias",
		"bert.embeddings.position_ids": "", "bert.pooler.dense.weight": "", "bert.pooler.dense.bias": "",
		"cls.seq_relationship.weight": "", "cls.seq_relationship.bias": "",
	},
}

// parseBERT reads BERT's config.json. transformers omits the values that are the defaults of its
// class, which are those of bert-base-uncased except for the vocabulary.
func parseBERT(p probe) (Config, error) {
	c := Config{Hidden: 768, Blocks: 12, Heads: 12, Inner: 3072, Length: 512, Types: 2, Epsilon: 1e-12, Tied: true, Noise: "loglinear", MaskID: facts.Unknown}
	s := p.settings()
	s.Need("vocab_size", &c.Columns)
	s.May("hidden_size", &c.Hidden)
	s.May("num_hidden_layers", &c.Blocks)
	s.May("num_attention_heads", &c.Heads)
	s.May("intermediate_size", &c.Inner)
	s.May("max_position_embeddings", &c.Length)
	s.May("type_vocab_size", &c.Types)
	s.May("layer_norm_eps", &c.Epsilon)
	s.May("mask_token_id", &c.MaskID)
	c.Tokens = c.Columns
	if err := s.Err(); err != nil {
		return c, err
	}
	if c.Types < 1 || c.Types > maxWidth {
		return c, fmt.Errorf("type_vocab_size is %d: must be in 1..%d", c.Types, maxWidth)
	}
	return c, nil
}

// encoderTensors lists the parameters of an [Encoder], whose head is the embedding of the
// vocabulary after a transform.
func encoderTensors(c Config) (l layout) {
	h := c.Hidden
	norm := func(name string) {
		l.add(name+".weight", h)
		l.add(name+".bias", h)
	}
	l.add("bert.embeddings.word_embeddings.weight", c.Columns, h)
	l.add("bert.embeddings.position_embeddings.weight", c.Length, h)
	l.add("bert.embeddings.token_type_embeddings.weight", c.Types, h)
	norm("bert.embeddings.LayerNorm")
	for i := range c.Blocks {
		b := fmt.Sprintf("bert.encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			l.linear(b+"attention.self."+part, h, h, true)
		}
		l.linear(b+"attention.output.dense", h, h, true)
		norm(b + "attention.output.LayerNorm")
		l.linear(b+"intermediate.dense", c.Inner, h, true)
		l.linear(b+"output.dense", h, c.Inner, true)
		norm(b + "output.LayerNorm")
	}
	l.linear("cls.predictions.transform.dense", h, h, true)
	norm("cls.predictions.transform.LayerNorm")
	l.add("cls.predictions.bias", c.Columns)
	return l
}
