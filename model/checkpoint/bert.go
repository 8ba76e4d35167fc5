package checkpoint

import (
	"fmt"

	"mdmgen/model/facts"
)

var bertFamily = Family{
	Name:    "bert",
	Models:  "BERT's masked language model (Devlin et al. 2019, arXiv 1810.04805), such as bert-base-uncased, AntiBERTy and rxnfp's, as μ",
	Checked: "transformers, on AntiBERTy and rxnfp's too",
	classes: []string{"BertForMaskedLM"},
	// The class may be anybody's, or missing as in files of before 2020; the tensors show whether it
	// has BERT's parts. Other heads beside the language model's are not used.
	recognise: func(p probe) bool {
		kind := p.kind()
		return kind == "bert" || kind == "" && p.keys["type_vocab_size"] != nil && p.keys["num_attention_heads"] != nil
	},
	parse: parseBERT,
	pins: []pin{{"hidden_act", `"gelu"`, true}, {"position_embedding_type", `"absolute"`, true},
		{"is_decoder", "false", true}},
	ignored: []string{"pooler_*", "directionality", "output_past", "rnn*", "num_rnn_layer", "split"}, // DNABERT's are of other heads.
	naming:  naming{Network: Encoder, embedding: "bert.embeddings.word_embeddings.weight", names: Names{Head: encoderHead}, parts: []string{"bert", "cls.predictions"}},
	extra: map[string]string{
		"cls.predictions.decoder.bias": "cls.predictions.bias",
		"bert.embeddings.position_ids": "", "bert.embeddings.token_type_ids": "", "bert.pooler.dense.weight": "", "bert.pooler.dense.bias": "",
	},
}

// encoderHead is the name of the last layer of an [Encoder] that does not share the embedding.
const encoderHead = "cls.predictions.decoder"

// parseBERT reads BERT's config.json. transformers omits the values that are the defaults of its
// class, which are those of bert-base-uncased except for the vocabulary.
func parseBERT(p probe) (Config, error) {
	c := Config{Hidden: 768, Blocks: 12, Heads: 12, Inner: 3072, Length: 512, Types: 2, Epsilon: 1e-12, Tied: true, Noise: "loglinear", MaskID: facts.Unknown}
	s := p.root
	s.Need("vocab_size", &c.Columns)
	s.May("hidden_size", &c.Hidden)
	s.May("num_hidden_layers", &c.Blocks)
	s.May("num_attention_heads", &c.Heads)
	s.May("intermediate_size", &c.Inner)
	s.May("max_position_embeddings", &c.Length)
	s.May("type_vocab_size", &c.Types)
	s.May("layer_norm_eps", &c.Epsilon)
	s.May("mask_token_id", &c.MaskID)
	s.May("tie_word_embeddings", &c.Tied)
	c.Tokens = c.Columns
	if c.Types < 1 || c.Types > maxWidth {
		s.Fail("type_vocab_size is %d: must be in 1..%d", c.Types, maxWidth)
	}
	return c, s.Err()
}

// encoderTensors lists the parameters of an [Encoder], whose head is a transform and then, if it is
// tied, the embedding of the vocabulary.
func encoderTensors(c Config) (l layout) {
	h := c.Hidden
	l.add("bert.embeddings.word_embeddings.weight", c.Columns, h)
	l.add("bert.embeddings.position_embeddings.weight", c.Length, h)
	l.add("bert.embeddings.token_type_embeddings.weight", c.Types, h)
	l.norm("bert.embeddings.LayerNorm", h, true)
	for i := range c.Blocks {
		b := fmt.Sprintf("bert.encoder.layer.%d.", i)
		for _, part := range []string{"query", "key", "value"} {
			l.linear(b+"attention.self."+part, h, h, true)
		}
		l.linear(b+"attention.output.dense", h, h, true)
		l.norm(b+"attention.output.LayerNorm", h, true)
		l.linear(b+"intermediate.dense", c.Inner, h, true)
		l.linear(b+"output.dense", h, c.Inner, true)
		l.norm(b+"output.LayerNorm", h, true)
	}
	l.linear("cls.predictions.transform.dense", h, h, true)
	l.norm("cls.predictions.transform.LayerNorm", h, true)
	l.add("cls.predictions.bias", c.Columns)
	if !c.Tied {
		l.linear(encoderHead, c.Columns, h, false)
	}
	return l
}
