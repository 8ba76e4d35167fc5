package rank

// choosing decides how many of the ranked candidates a call commits. It is the difference between
// the decoders that rank.
type choosing interface {
	// consider returns how many of the best candidates the next call of the block may commit, or 0
	// for a call that the upstream program makes and that cannot commit anything. more is false if
	// the block has no more calls.
	consider(b *blockRun) (n int, more bool)
	// choose returns the candidates to commit, given those considered, best first.
	choose(b *blockRun, best []candidate) []candidate
}

// blockRun is the state of the block that is being filled.
type blockRun struct {
	// length is the number of positions, first the number masked at the start, and masked the
	// number masked now. candidates is the number of positions that the next call may commit.
	length, first, masked, candidates int
	// calls counts the calls that the rule has made, of at most steps. quotas holds the number of
	// tokens of each call, if the rule fixes them in advance.
	calls  int
	steps  int
	quotas []int
	// refused counts the candidates that the last call had a share for and did not commit. polished
	// counts the calls that began without masks, and idle reports whether the last of these changed
	// nothing.
	refused, polished int
	idle              bool
}

// quota returns the quota of the call, or 0 after the last.
func (b *blockRun) quota() int {
	if b.calls < len(b.quotas) {
		return b.quotas[b.calls]
	}
	return 0
}

// untilFilled makes calls until the block is filled, and at least one, like Fast-dLLM.
func untilFilled(b *blockRun) (int, bool) { return b.candidates, b.calls == 0 || b.masked > 0 }

// excluding is a choice that implies bounds on the scores of all candidates outside a chosen set.
type excluding interface {
	// others returns the bounds on the other candidates if exactly best is chosen, in the given
	// order. ok is false if that set is never chosen.
	others(b *blockRun, best []candidate, considered int) (limits, bool)
}

// limits bound candidates: they come after another in the order, and their scores are less than a
// limit, or +Inf for none.
type limits struct {
	behind candidate
	below  float64
	// Within radius of the positions near, the limit is belowNearby.
	near        []int
	radius      int
	belowNearby float64
}

// at returns the limit at a position.
func (x limits) at(position int) float64 {
	for _, l := range x.near {
		if max(l-position, position-l) <= x.radius {
			return x.belowNearby
		}
	}
	return x.below
}
