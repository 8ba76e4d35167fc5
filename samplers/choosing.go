package samplers

import "mdmgen/samplers/schedule"

// choosing says how many of the ranked candidates a call commits: what one decoder that looks
// at rows has and another has not.
type choosing interface {
	// consider says how many of the best candidates the next call of the block may commit:
	// 0 for a call that upstream makes and that can commit nothing. more is false where the
	// block has had its calls.
	consider(b *blockRun) (n int, more bool)
	// choose returns those of the considered candidates, best first, that are committed.
	choose(b *blockRun, best []candidate) []candidate
}

// blockRun is what is known of the block that is being filled.
type blockRun struct {
	// length are its positions, first those that were masked at its start, and masked those
	// that are; candidates are all that the next call may commit.
	length, first, masked, candidates int
	// calls counts those that the rule has made, of so many steps; quotas are the tokens of
	// each, where the rule fixes them before.
	calls  int
	steps  int
	quotas []int
	// refused counts candidates that the last call considered and did not commit; polished
	// counts calls that began without masks, and idle says that the last of these changed
	// nothing.
	refused, polished int
	idle              bool
}

// quota is the quota of the call, 0 behind the last.
func (b *blockRun) quota() int {
	if b.calls < len(b.quotas) {
		return b.quotas[b.calls]
	}
	return 0
}

// quotaChoice commits a quota a call.
type quotaChoice struct {
	rounding schedule.Rounding
	eps      float64
}

func (q quotaChoice) consider(b *blockRun) (int, bool) {
	if q.rounding == schedule.RoundDream {
		// Where a mask was drawn and committed it is still one.
		return schedule.DreamQuota(b.calls, b.steps, b.masked, q.eps), b.calls < b.steps
	}
	return b.quota(), b.calls < len(b.quotas)
}

func (quotaChoice) choose(_ *blockRun, best []candidate) []candidate { return best }

// thresholdChoice commits the best candidate and all others of at least a score, of all or,
// where there are quotas, of so many as are due and those that were refused before.
type thresholdChoice struct {
	threshold float64
	rounding  schedule.Rounding // "" for no quotas
}

func (t thresholdChoice) consider(b *blockRun) (int, bool) {
	switch t.rounding {
	case schedule.RoundDream:
		return b.quota() + b.refused, b.calls < len(b.quotas) || b.refused > 0
	case schedule.RoundDLLM:
		n := b.masked
		for i := b.calls + 1; i < len(b.quotas); i++ {
			n -= b.quotas[i]
		}
		return n, b.masked > 0
	}
	return untilFilled(b)
}

// untilFilled makes calls until the block is filled, one at least, as Fast-dLLM does.
func untilFilled(b *blockRun) (int, bool) { return b.candidates, b.calls == 0 || b.masked > 0 }

func (t thresholdChoice) choose(_ *blockRun, best []candidate) []candidate {
	n := 1
	for n < len(best) && best[n].score >= t.threshold {
		n++
	}
	return best[:n]
}

// factorChoice accepts the r-th best candidate where its score is at least 1 − f/(r+1), until
// the first that fails. One that fails as the last of all is accepted, unless strict.
type factorChoice struct {
	factor float64
	strict bool
}

func (factorChoice) consider(b *blockRun) (int, bool) { return untilFilled(b) }

func (f factorChoice) choose(_ *blockRun, best []candidate) []candidate {
	n := 1
	for n < len(best) && best[n].score >= 1-f.factor/float64(n+2) {
		n++
	}
	if n == len(best)-1 && !f.strict {
		n++ // upstream's loop ends there whatever the score of the last is
	}
	return best[:n]
}

// leapChoice commits the best candidate, those of at least the threshold, which are anchors,
// and within the radius of an anchor those of at least the relaxed threshold.
type leapChoice struct {
	threshold, relaxed float64
	radius             int
}

func (leapChoice) consider(b *blockRun) (int, bool) { return b.candidates, b.masked > 0 }

func (c leapChoice) choose(_ *blockRun, best []candidate) []candidate {
	var anchors []int
	for _, x := range best {
		if x.score >= c.threshold {
			anchors = append(anchors, x.position)
		}
	}
	out := best[:1:1]
	for _, x := range best[1:] {
		near := x.score >= c.threshold
		for _, l := range anchors {
			near = near || x.score >= c.relaxed && max(l-x.position, x.position-l) <= c.radius
		}
		if near {
			out = append(out, x)
		}
	}
	return out
}

// boundedChoice commits as many of the best as keep the sum of their entropies but the
// greatest within gamma.
type boundedChoice struct{ gamma float64 }

func (boundedChoice) consider(b *blockRun) (int, bool) { return b.candidates, b.masked > 0 }

func (c boundedChoice) choose(_ *blockRun, best []candidate) []candidate {
	var sum, greatest float64
	for n, x := range best {
		sum, greatest = sum+x.entropy, max(greatest, x.entropy)
		if n > 0 && sum-greatest > c.gamma+tie {
			return best[:n]
		}
	}
	return best
}

// surelyChoice commits all candidates above a threshold if they are at least the quota, which
// is of the length of the block, and as many as the quota otherwise. With edits it then goes
// on until a call changes nothing, polishes at most.
type surelyChoice struct {
	threshold float64
	least     int // in place of the quota, 0 for none
	edits     bool
	polishes  int
}

func (c surelyChoice) consider(b *blockRun) (int, bool) {
	return b.candidates, b.masked > 0 || c.edits && !b.idle && b.polished < c.polishes
}

// due is how many are committed at least, where there are as many.
func (c surelyChoice) due(b *blockRun) int {
	if c.least > 0 {
		return c.least
	}
	return max(b.quota(), 1)
}

func (c surelyChoice) choose(b *blockRun, best []candidate) []candidate {
	n := 0
	for n < len(best) && best[n].score > c.threshold {
		n++
	}
	return best[:min(max(n, c.due(b)), len(best))]
}
