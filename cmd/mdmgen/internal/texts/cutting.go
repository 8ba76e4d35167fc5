package texts

import (
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/model"
	"mdmgen/requests"
	"mdmgen/tokenize"
)

// Cutting holds the flags that determine how a text is cut into windows.
type Cutting struct {
	// As is the kind of input; "" means by the file's name.
	As   string `json:"as"`
	Join bool   `json:"join,omitempty"`
	// Length is the length of a window, 0 for the default; a Stride of 0 scores every token once.
	Length  int    `json:"length"`
	Stride  int    `json:"stride,omitempty"`
	Context int    `json:"context,omitempty"`
	Frame   string `json:"frame"`
	Tail    string `json:"tail"`
	// Limit is the maximum number of windows, 0 for all.
	Limit int `json:"limit,omitempty"`
	// KeepBlank leaves a blank at the end of a context there.
	KeepBlank bool `json:"keep_blank,omitempty"`
	// CutContext cuts contexts on the left that do not fit into a canvas with their text.
	CutContext bool `json:"cut_context,omitempty"`
}

// ExactLength is the default length of windows for exact values: 2^10 rows.
const ExactLength = 10

var kinds = []string{"corpus", "lines", "jsonl"}

// most is the maximum of lengths and numbers of windows before a model is known.
const most = 1 << 20

// Flags returns score's flags; length and limit are the defaults in the help.
func (c *Cutting) Flags(length, limit string) kit.Set {
	c.Frame, c.Tail = "own", "keep"
	return kit.Set{
		kit.Words(&c.As, kinds, kit.Flag{Name: "as", Category: kit.CatInput, Default: "by the file's name", Usage: "read the input as `KIND`: " + strings.Join(kinds, ", ")}),
		kit.Bool(&c.Join, kit.Flag{Name: "join", Category: kit.CatInput, Usage: "join the texts, each followed by its end token, before cutting windows"}),
		kit.Int(&c.Length, 1, most, kit.Flag{Name: "length", Category: kit.CatInput, Default: length, Usage: "cut windows of `N` tokens"}),
		kit.Int(&c.Stride, 1, most, kit.Flag{Name: "stride", Category: kit.CatInput, Default: "every token once", Usage: "start a window every `N` tokens"}),
		kit.Int(&c.Context, 0, most, kit.Flag{Name: "context", Category: kit.CatInput, Usage: "score each window after its first `N` tokens, the context; the start of a text is scored too, except for exact values and networks that need the first token"}),
		kit.Words(&c.Frame, []string{"own", "none", "bos-eos"}, kit.Flag{Name: "frame", Category: kit.CatInput, Usage: "put `FRAME` around each window: own, the model's, if it has one, which is given; none; or bos-eos, two tokens that are also scored"}),
		kit.Words(&c.Tail, []string{"keep", "drop"}, kit.Flag{Name: "tail", Category: kit.CatInput, Usage: "treat a shorter last window by `HOW`: keep or drop"}),
		kit.Int(&c.Limit, 1, most, kit.Flag{Name: "limit", Category: kit.CatInput, Default: limit, Usage: "use only the first `N` windows"}),
		kit.KeepBlank(&c.KeepBlank),
		kit.Bool(&c.CutContext, kit.Flag{Name: "cut-context", Category: kit.CatInput, Rare: true, Usage: "cut a context of a line on the left if the canvas has no room for all of it; count these"}),
	}
}

// cut returns how documents are cut, according to the flags.
func (r *Reader) cut() (tokenize.Cut, error) {
	cut := tokenize.Cut{
		Length: r.Facts.Length, Stride: r.Stride, Context: r.Cutting.Context, BOS: tokenize.None, EOS: tokenize.None,
		DropTail: r.Tail == "drop",
		// A network with shifted or causal rows has none for the first token of a text.
		ContextAlways: r.Short || r.Facts.NeedsFirst(),
	}
	if r.Facts.FixedLength && (r.Kind() == "corpus" || r.Join) {
		cut.DropTail = true // A shorter window cannot be scored; a shorter text is an error.
	}
	switch {
	case r.Length > 0:
		cut.Length = r.Length
	case r.Short && !r.Facts.FixedLength:
		cut.Length = min(cut.Length, ExactLength+cut.Context+len(r.Facts.Frame))
	}
	if err := CheckLength(cut.Length, r.Facts); err != nil {
		return cut, err
	}
	if own := r.Facts.Frame; r.Frame == "own" && own != nil {
		cut.BOS, cut.EOS, cut.Given = own[0], own[1], true
	} else if r.Frame == "own" {
		r.Frame = "none"
	}
	if framed := r.Frame == "bos-eos"; framed || r.Join {
		if r.Tokenizer == nil {
			return cut, exit.Missingf("--frame and --join need a tokenizer, for its begin and end tokens; give one with --tokenizer")
		}
		bos, eos, err := r.Tokenizer.Frame()
		if err != nil {
			return cut, err
		}
		r.eos = eos
		if framed {
			cut.BOS, cut.EOS = bos, eos
		}
	}
	if err := cut.Validate(); err != nil {
		return cut, r.Flags.Refuse(r.Command, err)
	}
	return cut, nil
}

// CheckLength returns an error if a model does not take canvases of n positions.
func CheckLength(n int, f model.Facts) error {
	if err := (requests.Layout{Facts: f}).Check(n); err != nil {
		return exit.Usagef("--%w", err)
	}
	return nil
}
