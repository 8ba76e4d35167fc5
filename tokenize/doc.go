// Package tokenize reads Hugging Face tokenizer.json files and turns text into
// token ids and back, with exactly the ids of the Rust library "tokenizers"
// (add_special_tokens=false: no template is put around the text).
//
// Four families are read:
//
//   - GPT-2: byte-level BPE, the pre-tokenizer's own regular expression;
//   - LLaMA-3, Qwen2.5, Dream: byte-level BPE behind a Split expression, NFC or
//     no normalizer;
//   - LLaDA: the same behind the Bailing expression (possessive quantifiers);
//   - bert-base-uncased: BertNormalizer, BertPreTokenizer, WordPiece.
//
// Split expressions are recognised verbatim and run as hand-written scanners; a
// file with any other expression, normalizer, pre-tokenizer, model or decoder is
// refused with one line, because approximate ids are worse than none. So is a
// file that contradicts itself: an id given twice, a merge of unknown parts, an
// added token whose id is not the one that the Rust library would give it. A byte that
// the vocabulary lacks becomes the unknown token; where there is none the Rust library
// drops it, and here the text is refused. The file's truncation, padding and post-processor are settings
// of a call, not of the vocabulary, and are not applied.
//
// # Two ways of reading text
//
// [Tokenizer.Encode] matches added and special tokens in the text as the file
// says. [Tokenizer.EncodePlain] reads all text as text: a prompt or a corpus that
// spells <|mask|> can never become the mask's id. It never yields the id of an
// added or special token, with one exception: the
// unknown token, which is what a word without pieces is, or a byte without a token.
//
// Both read invalid UTF-8 as U+FFFD, one for each maximal invalid part.
//
// # Long texts
//
// [Tokenizer.Stream] reads a text of any length piece by piece, with the ids of the
// whole, and [Cut.Stream] cuts windows from it. No more of the text is read than the
// windows take that are asked for, and none of it is kept.
//
// # What is whose
//
// The WordPiece model, its decoder and the byte alphabet are those of
// github.com/sugarme/tokenizer. The BPE model, the scanners, the normalizers and the
// matching of added tokens are this package's own: those of the library differ
// from the reference (merges of equal rank, white space, lookahead, NFC, accents,
// adjacent special tokens).
//
// A [Tokenizer] does not change after it was opened and is safe for concurrent
// use.
package tokenize
