package tokenize

import (
	"iter"

	"mdmgen/internal/fault"
)

// None represents no token in [Cut].
const None = -1

// Cut specifies how the ids of a document are cut into windows.
type Cut struct {
	// Length is the maximum length of a window in tokens, including its frame.
	Length int
	// Context is the number of tokens at the beginning of each window, except a document's first,
	// that are given and not scored: the tokens before it.
	Context int
	// ContextAlways makes the beginning of a document context as well: it is never scored, and all
	// windows score the same number of tokens.
	ContextAlways bool
	// Stride is the distance between the starts of two windows; 0 means the one that scores every
	// token once. A smaller stride scores tokens several times.
	Stride int
	// BOS and EOS are put around each window, unless they are None. They are scored, unless Given is
	// set; Windows then have the EOS after what is scored.
	BOS, EOS int
	Given    bool
	// DropTail omits a last window that is shorter than the others.
	DropTail bool
}

// Window is a piece of a document.
type Window struct {
	// IDs are the tokens with their frame. They may share memory with the document.
	IDs []int
	// Context is the number of leading IDs that are given, including BOS unless it is 0.
	Context int
	// Start is the index of the first token in its document.
	Start int
}

// frame returns the number of tokens put around a window.
func (c Cut) frame() int {
	n := 0
	if c.BOS != None {
		n++
	}
	if c.EOS != None {
		n++
	}
	return n
}

// stride returns Stride or its default.
func (c Cut) stride() int {
	if c.Stride > 0 {
		return c.Stride
	}
	return c.Length - c.frame() - c.Context
}

// Validate reports all faults together.
func (c Cut) Validate() error {
	var faults fault.List
	inner := c.Length - c.frame()
	faults.If(inner < 1, "length %d: must hold at least one token in addition to the frame", c.Length)
	faults.If(c.Context < 0 || inner >= 1 && c.Context >= inner, "context %d: must leave at least one of %d tokens to be scored", c.Context, inner)
	faults.If(c.Stride < 0 || inner >= 1 && c.Stride > max(inner-c.Context, 1), "stride %d: must be in 1..%d, or tokens are left out", c.Stride, max(inner-c.Context, 1))
	faults.If(c.BOS < None || c.EOS < None, "a token of the frame is below 0")
	return fault.Join("tokenize", faults...)
}

// Overlaps reports whether windows score some token twice.
func (c Cut) Overlaps() bool { return c.stride() < c.Length-c.frame()-c.Context }

// All yields the windows of a document in order. Every token is scored in at least one of them,
// except in a tail that is dropped or a beginning that is context. It panics if Validate returns an
// error.
func (c Cut) All(ids []int) iter.Seq[Window] {
	windows := c.Stream(func(yield func([]int, error) bool) { yield(ids, nil) })
	return func(yield func(Window) bool) {
		for w := range windows {
			if !yield(w) {
				return
			}
		}
	}
}

// Stream is All for a document whose ids come in pieces, such as [Tokenizer.Stream] yields. A
// window is yielded as soon as its tokens are available; only then is the next piece requested.
// Windows may share memory with the pieces, which must not be changed afterwards. An error from the
// pieces is yielded and ends the windows.
func (c Cut) Stream(pieces iter.Seq2[[]int, error]) iter.Seq2[Window, error] {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	inner, stride := c.Length-c.frame(), c.stride()
	return func(yield func(Window, error) bool) {
		var held []int // the document's tokens, starting with number from
		from := 0
		window := func(n int) bool {
			context := 0
			if from > 0 || c.ContextAlways {
				context = c.Context
			}
			if context >= n {
				return true // nothing to score
			}
			return yield(c.window(held[:n:n], from, context), nil)
		}
		for ids, err := range pieces {
			if err != nil {
				yield(Window{}, err)
				return
			}
			if len(held) == 0 {
				held = ids[:len(ids):len(ids)]
			} else {
				held = append(held, ids...)
			}
			for len(held) >= inner {
				if !window(inner) {
					return
				}
				held, from = held[stride:], from+stride
			}
		}
		// What is left is a tail, unless the last window ended with the document.
		if ended := from > 0 && len(held) == inner-stride; !ended && len(held) > 0 && !c.DropTail {
			window(len(held))
		}
	}
}

// window puts the frame around a piece.
func (c Cut) window(piece []int, start, context int) Window {
	if c.frame() == 0 {
		return Window{IDs: piece, Context: context, Start: start}
	}
	out := make([]int, 0, len(piece)+2)
	if c.BOS != None {
		out = append(out, c.BOS)
		if context > 0 || c.Given {
			context++
		}
	}
	out = append(out, piece...)
	if c.EOS != None {
		out = append(out, c.EOS)
	}
	return Window{IDs: out, Context: context, Start: start}
}

// Bytes returns the number of bytes of text in ids. Special tokens have none. With byte-level
// tokens it is exact for any piece of a text, even if a character is cut in two; with others it is
// the length of the decoded text.
func (t *Tokenizer) Bytes(ids []int) (int, error) {
	tokens, err := t.spelled(ids, true)
	if _, ok := t.plain.model.(bpe); !ok {
		return len(t.decode(tokens)), err
	}
	n := 0
	for _, token := range tokens {
		n += len(bytesOf(token))
	}
	return n, err
}

// Texts returns the bytes of each id, whatever its neighbours, nil for added and special tokens. It
// returns an error if the bytes depend on neighbouring tokens, as in WordPiece.
func (t *Tokenizer) Texts() ([][]byte, error) {
	model, ok := t.plain.model.(bpe)
	if !ok && !t.whole {
		return nil, fault.Errorf("tokenize", "%s: the text of a WordPiece token depends on its neighbours: byte-level BPE is needed", t.name)
	}
	texts := make([][]byte, len(t.tokens))
	for id, token := range t.tokens {
		switch {
		case !t.known[id] || model.barred[id] || t.whole && t.special[id]:
		case t.whole:
			texts[id] = []byte(token)
		default:
			texts[id] = []byte(bytesOf(token))
		}
	}
	return texts, nil
}

// Frame returns the tokens at the beginning and the end of a text with this vocabulary, by the
// names used in published models.
func (t *Tokenizer) Frame() (bos, eos int, err error) {
	pick := func(names ...string) int {
		for _, name := range names {
			if id, ok := t.ID(name); ok {
				return id
			}
		}
		return None
	}
	bos = pick("<|begin_of_text|>", "<|startoftext|>", "<s>", "[CLS]", "<|endoftext|>")
	eos = pick("<|end_of_text|>", "</s>", "[SEP]", "<|endoftext|>")
	if bos == None || eos == None {
		return None, None, fault.Errorf("tokenize", "%s: no tokens for the beginning and the end of a text are known", t.name)
	}
	return bos, eos, nil
}
