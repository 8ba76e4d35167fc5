package samplers

import (
	"errors"
	"fmt"
	"math"

	"mdmgen/samplers/subset"
)

// Law is what is known of the distribution of a sampler's texts. The kinds are [ByGrid], [BySizes] and
// [ByList], which are [Planned]; [Replayed]; [ByCausal]; and [Unknown].
type Law interface {
	// Fits returns nil if −log P of a text with d free positions can be computed on a network,
	// time-conditioned or not. Otherwise it returns the reason, which is a [TooLargeError] if
	// shorter texts would do.
	Fits(d int, timed bool) error
	// Collision returns log p*, where p* is the probability that the path of a sampler over d free
	// positions is one of first-hitting's, with the same token probabilities: every call reveals a
	// single position, from the row of the previous state, in uniform order. For every network that
	// is not time-conditioned and every text x
	//
	//	P_N(x) ≥ p*·P_FHS(x),  TV(P_FHS,P_N) ≤ 1 − p*,  KL(P_FHS‖P_N) ≤ −log p*,
	//
	// without a network call. It is −Inf if there is no bound. It returns an error for orders that
	// are not uniform: their law differs from first-hitting's whatever their calls are.
	Collision(d int) (float64, error)
	// Likelihood describes in a few words how −log P is computed.
	Likelihood() string
}

// Is reports whether a law is of a kind.
func Is[Kind Law](l Law) bool { _, ok := l.(Kind); return ok }

// TooLargeError reports that an exact value would cost too much.
type TooLargeError struct {
	// Free is the number of free positions, Rows the number of network rows.
	Free int
	Rows float64
	// Most is the greatest number of free positions that can be computed; 0 if the steps are too
	// many for any.
	Most int
	// Plans is the number of plans to sum over, 0 if rows are the limit.
	Plans float64
	// Blocks reports whether any number of blocks of at most Most positions can be computed.
	Blocks bool
}

// Error implements error.
func (e *TooLargeError) Error() string {
	if e.Plans > 0 {
		return fmt.Sprintf("an exact value over %d free positions would be a sum over %.6g plans: at most %d free positions are supported; use an estimate or shorter windows", e.Free, e.Plans, e.Most)
	}
	if e.Most < 1 {
		return fmt.Sprintf("exact values over %d free positions would take %.6g network rows, and with this number of steps even one position takes too many: use fewer steps or an estimate", e.Free, e.Rows)
	}
	otherwise := "use an estimate or shorter windows"
	if e.Blocks {
		otherwise = fmt.Sprintf("use blocks of at most %d (block-length) or shorter windows", e.Most)
	}
	return fmt.Sprintf("exact values over %d free positions would take %.6g network rows: at most %d free positions are supported; %s", e.Free, e.Rows, e.Most, otherwise)
}

// Unknown is the law of a sampler whose texts have no known probability, with the reason.
type Unknown struct{ Why string }

// Fits returns the reason.
func (u Unknown) Fits(int, bool) error { return errors.New(u.Why) }

// Collision returns an error.
func (u Unknown) Collision(int) (float64, error) { return 0, errNoPlan }

// Likelihood returns the reason.
func (u Unknown) Likelihood() string { return "none, because " + u.Why }

var errNoPlan = errors.New("it has no plan: the network's rows, blocks, corrections, guidance or constraints decide what is drawn when, so it has no collision bound")

// Replay is the way to compute the probability of a text by repeating a decoder's choices on it.
type Replay int

// The ways to replay.
const (
	// ReplayOne is for choices determined by the canvas and its rows: one path leads to a text,
	// with as many calls as the decoder makes.
	ReplayOne Replay = iota
	// ReplayRandom is for random choices: a text is queried on all subsets of its positions, or of
	// those of each block. Paths can be drawn for any length.
	ReplayRandom
	// ReplayMany is for choices that depend on the drawn tokens, on the same subsets.
	ReplayMany
)

// Replayed is the law of a decoder without a plan whose choices can be repeated on a text.
type Replayed struct {
	By Replay
	// Block is the length of the blocks filled one after the other; 0 is one block.
	Block int
}

// Fits limits the positions whose subsets are enumerated.
func (r Replayed) Fits(d int, _ bool) error {
	if most := subset.MaxFree; r.By != ReplayOne && d > most && (r.Block == 0 || r.Block > most) {
		return &TooLargeError{Free: d, Rows: r.Rows(d), Most: most, Blocks: true}
	}
	return nil
}

// Rows returns the number of network rows that −log P takes: those of one path, or of all subsets of each block.
func (r Replayed) Rows(d int) float64 {
	if r.By == ReplayOne {
		return float64(d)
	}
	rows := 0.0
	for block := d; d > 0; d -= block {
		if r.Block > 0 {
			block = min(r.Block, d)
		}
		rows += math.Ldexp(1, block)
	}
	return rows
}

// Collision returns an error.
func (Replayed) Collision(int) (float64, error) { return 0, errNoPlan }

// Likelihood names the ways.
func (r Replayed) Likelihood() string {
	if r.By == ReplayOne {
		return "exact at any length, by a replay of as many rows as calls"
	}
	out := fmt.Sprintf("exact up to %d free positions, or in blocks of up to that many, by a replay on at most 2^d canvases", subset.MaxFree)
	if r.By == ReplayRandom {
		out += ", and bounds by paths at any length"
	}
	return out
}
