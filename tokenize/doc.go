// Package tokenize reads Hugging Face tokenizer.json files and turns text into token ids and back,
// with exactly the ids of the Rust library "tokenizers" (add_special_tokens=false: no template is
// put around the text).
//
// Four families are supported:
//
//   - GPT-2: byte-level BPE, with the pre-tokenizer's own regular expression;
//   - LLaMA-3, Qwen2.5, Dream: byte-level BPE after a Split expression, with NFC or
//     no normalizer;
//   - LLaDA: the same after the Bailing expression (possessive quantifiers);
//   - bert-base-uncased: BertNormalizer, BertPreTokenizer, WordPiece.
//
// Split expressions are recognised verbatim and run as hand-written scanners. A file with any other
// expression, normalizer, pre-tokenizer, model or decoder is rejected with a one-line error,
// because approximate ids are worse than none. So is a file that contradicts itself: an id given
// twice, a merge of unknown parts, an added token whose id differs from the one that the Rust
// library would assign. A byte that the vocabulary lacks becomes the unknown token; without an
// unknown token the Rust library drops the byte, while this package rejects the text. The file's
// truncation, padding and post-processor are settings of a call, not of the vocabulary, and are not
// applied.
//
// # Two ways of reading text
//
// [Tokenizer.Encode] matches added and special tokens in the text as the file specifies.
// [Tokenizer.EncodePlain] reads all text as text: a prompt or a corpus that spells <|mask|> can
// never become the mask's id. It never returns the id of an added or special token, with one
// exception: the unknown token, for a word without pieces or a byte without a token.
//
// Both read invalid UTF-8 as U+FFFD, one for each maximal invalid part.
//
// # Long texts
//
// [Tokenizer.Stream] reads a text of any length piece by piece, with the ids of the whole, and
// [Cut.Stream] cuts windows from it. It reads no more of the text than the requested windows need,
// and keeps none of it.
//
// # Provenance
//
// The WordPiece model, its decoder and the byte alphabet are those of github.com/sugarme/tokenizer.
// The BPE model, the scanners, the normalizers and the matching of added tokens are this package's
// own: the library's differ from the reference (merges of equal rank, white space, lookahead, NFC,
// accents, adjacent special tokens).
//
// A [Tokenizer] is safe for concurrent use, except for [Tokenizer.Pad].
package tokenize
