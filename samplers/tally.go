package samplers

// tally sums what decoders did that one sequence had one after the other.
type tally struct{ events, ruleCalls int }

func (t *tally) add(d Decoder) {
	t.events += eventsOf(d)
	t.ruleCalls += ruleCallsOf(d)
}

// Events is the number of events of the plans.
func (t *tally) Events() int { return t.events }

// RuleCalls counts the calls that the rules make.
func (t *tally) RuleCalls() int { return t.ruleCalls }

// eventsOf, ruleCallsOf and releaseOf are what a [Decoder] may have.
func eventsOf(d Decoder) int {
	if d, ok := d.(interface{ Events() int }); ok {
		return d.Events()
	}
	return 0
}

func ruleCallsOf(d Decoder) int {
	if d, ok := d.(interface{ RuleCalls() int }); ok {
		return d.RuleCalls()
	}
	return 0
}

func releaseOf(d Decoder) {
	if d, ok := d.(interface{ release() }); ok {
		d.release()
	}
}
