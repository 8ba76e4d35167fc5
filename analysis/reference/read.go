package reference

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
	"mdmgen/model/facts"
)

// Counted is an n-gram with what a report says of it.
type Counted struct {
	*NGram
	// Digest is "sha256:…" of the training text's ids, Note what the windows share with it.
	Digest, Note string
}

// Count reads a training text, whose name errors have, piece by piece and counts its runs of up
// to order tokens, for windows that must be apart from it ([NGram.Apart]). The law is over all
// tokens of a network with these facts.
func Count(pieces iter.Seq2[[]int, error], order int, f facts.Facts, windows []likelihood.Target, document []int) (Counted, error) {
	excluded, sum := f.Excluded(), sha256.New()
	var ids []int
	for piece, err := range pieces {
		if err != nil {
			return Counted{}, err
		}
		for _, id := range piece {
			if id >= f.Columns || slices.Contains(excluded, id) {
				return Counted{}, fault.Errorf("reference", "token %d is none of the model's", id)
			}
			sum.Write(binary.LittleEndian.AppendUint64(nil, uint64(id)))
		}
		ids = append(ids, piece...)
	}
	g, err := NewNGram(ids, order, f.Columns-len(excluded))
	if err != nil {
		return Counted{}, err
	}
	shared, err := g.Apart(windows, document)
	if err != nil {
		return Counted{}, err
	}
	return Counted{g, fmt.Sprintf("sha256:%x", sum.Sum(nil)),
		fmt.Sprintf("The text was kept apart from what the n-gram was counted on: no run of %d of its tokens is there. %d of %d windows are, as stock phrases.", leak, shared, len(windows))}, nil
}
