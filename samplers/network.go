package samplers

import "context"

// Network is what a sampler needs of a model: the rows at wanted positions of some
// canvases.
type Network interface {
	// Spec describes the network. It does not change.
	Spec() Spec
	// Logits is one call. It returns the row of each of the call's positions, in their
	// order, [len(Positions)·columns] values that the caller must not keep beyond the next
	// call, as the network must not keep what it is handed. It is not safe for concurrent
	// use.
	Logits(ctx context.Context, c Call) ([]float32, error)
}

// Head is what a network makes of a wanted position.
type Head string

// The heads.
const (
	// HeadRows gives the row of logits.
	HeadRows Head = "rows"
	// HeadLogProbability gives the log-probability of one given token.
	HeadLogProbability Head = "log-probability"
)

// Call is what a network is asked at once: one or more canvases of one length L, each with
// as many wanted positions as it likes.
type Call struct {
	// IDs [len(Counts)·L] are the canvases, one after another.
	IDs []int64
	// Positions are the wanted positions, those of the first canvas first; Counts says how
	// many each canvas has, at least one.
	Positions []int64
	Counts    []int
	// Sigma, one a canvas, is the −log α that it is asked at; nil unless the network is
	// time-conditioned.
	Sigma []float64
}

// Length is that of a canvas.
func (c Call) Length() int { return len(c.IDs) / len(c.Counts) }
