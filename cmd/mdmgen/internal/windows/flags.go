// Package windows cuts texts into windows, for the commands that compute how probable they are.
package windows

import (
	"strings"

	"mdmgen/cmd/mdmgen/internal/flags"
)

// Cutting is how a text becomes windows, by the flags.
type Cutting struct {
	// As is the kind of input, "" to go by the file's name.
	As   string
	Join bool
	// Length is 0 where none is given; Stride 0 for every token once.
	Length, Stride, Context int
	Frame, Tail             string
	// Limit is how many windows there are at most, 0 for all.
	Limit int
}

// ExactLength is the length of windows of exact values where none is given: 2^10 rows.
const ExactLength = 10

var kinds = []string{"corpus", "lines", "jsonl"}

// most bounds lengths and numbers of windows before a model is known.
const most = 1 << 20

// Flags are score's; length and limit are the defaults in the help.
func (c *Cutting) Flags(length, limit string) flags.Set {
	c.Frame, c.Tail = "none", "keep"
	return flags.Set{
		flags.Words(&c.As, kinds, flags.Flag{Name: "as", Category: flags.CatInput, Default: "by the file's name", Usage: "`KIND` of input: " + strings.Join(kinds, ", ")}),
		flags.Bool(&c.Join, flags.Flag{Name: "join", Category: flags.CatInput, Usage: "join the texts, each followed by its end token, and cut them as one"}),
		flags.Int(&c.Length, 1, most, flags.Flag{Name: "length", Category: flags.CatInput, Default: length, Usage: "`N` tokens per window"}),
		flags.Int(&c.Stride, 1, most, flags.Flag{Name: "stride", Category: flags.CatInput, Default: "every token once", Usage: "`N` tokens from one window to the next"}),
		flags.Int(&c.Context, 0, most, flags.Flag{Name: "context", Category: flags.CatInput, Usage: "`N` tokens at the start of each window that are given and not scored; those that begin a text are scored, but for exact values and for networks that need the first token"}),
		flags.Words(&c.Frame, []string{"none", "bos-eos"}, flags.Flag{Name: "frame", Category: flags.CatInput, Usage: "`FRAME` around each window: none, or bos-eos, two tokens that are scored too"}),
		flags.Words(&c.Tail, []string{"keep", "drop"}, flags.Flag{Name: "tail", Category: flags.CatInput, Usage: "`HOW` to treat a last window that is shorter: keep or drop it"}),
		flags.Int(&c.Limit, 1, most, flags.Flag{Name: "limit", Category: flags.CatInput, Default: limit, Usage: "use the first `N` windows only"}),
	}
}
