package rank

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mdmgen/internal/expsum"
	"mdmgen/samplers"
	"mdmgen/samplers/subset"
)

// given returns the candidates with the tokens of a text, and the distributions that tokens are
// drawn from.
func (d *rankDecoder) given(rows samplers.Rows, text []int) ([]candidate, []distribution, error) {
	given, dists := make([]candidate, len(d.asked)), make([]distribution, len(d.asked))
	for i, l := range d.asked {
		dist, err := d.reader.distribution(rows, i)
		if err != nil {
			return nil, nil, fmt.Errorf("position %d: %w", l, err)
		}
		if d.kernel.byToken {
			score := dist.score(text[l])
			given[i] = candidate{position: l, token: text[l], logP: dist.logs[text[l]], score: score, key: rounded(score)}
		} else {
			// The score does not depend on the token.
			given[i] = d.reader.candidate(dist.best, dist.own, l)
			given[i].token, given[i].logP = text[l], dist.logs[text[l]]
		}
		dists[i] = dist
	}
	return given, dists, nil
}

// ways calls do for each set of positions that the call may reveal with the tokens of a text, with
// the log-probability of that.
func (d *rankDecoder) ways(rows samplers.Rows, text []int, do func(chosen []candidate, logP float64) error) error {
	given, dists, err := d.given(rows, text)
	if err != nil {
		return err
	}
	if !d.kernel.byToken && d.kernel.temper == 0 && d.kernel.score != ByRandom {
		chosen := d.best(given)
		if logP := logTokens(chosen); !math.IsInf(logP, -1) {
			return do(chosen, logP)
		}
		return nil
	}
	if d.kernel.byToken {
		return d.afterDrawing(given, dists, do)
	}
	if err := few(given); err != nil {
		return err
	}
	share := d.shares(given)
	return eachSet(given, d.considered, d.considered, func(chosen, _ []candidate, set int) error {
		return do(chosen, logTokens(chosen)+share(set))
	})
}

// best returns the candidates that the rule chooses in the order of their keys.
func (d *rankDecoder) best(all []candidate) []candidate {
	slices.SortFunc(all, compareKeys)
	return d.kernel.choosing.choose(&d.run, all[:d.considered])
}

// few returns an error if there are too many candidates to enumerate all their sets.
func few(all []candidate) error {
	if len(all) > subset.MaxFree {
		return fmt.Errorf("cannot enumerate a choice among %d positions: at most %d are supported", len(all), subset.MaxFree)
	}
	return nil
}

// logTokens returns the log-probability of the tokens of candidates.
func logTokens(all []candidate) (logP float64) {
	for _, c := range all {
		logP += c.logP
	}
	return logP
}

// eachSet calls do for each set of least to most candidates whose tokens have probability, and the
// others, both in the order of all, with the set as bits. do owns the slices.
func eachSet(all []candidate, least, most int, do func(chosen, others []candidate, set int) error) error {
	var chosen, others []candidate
	var choose func(i, set int) error
	choose = func(i, set int) error {
		if len(chosen)+len(all)-i < least {
			return nil
		}
		if i == len(all) {
			return do(slices.Clone(chosen), slices.Clone(others), set)
		}
		if len(chosen) < most && !math.IsInf(all[i].logP, -1) {
			chosen = append(chosen, all[i])
			if err := choose(i+1, set|1<<i); err != nil {
				return err
			}
			chosen = chosen[:len(chosen)-1]
		}
		others = append(others, all[i])
		defer func() { others = others[:len(others)-1] }()
		return choose(i+1, set)
	}
	return choose(0, 0)
}

// shares returns the log-probabilities of the sets of d.considered candidates, indexed by their
// bits: those of a uniform choice, or of drawing one after the other in proportion to e^key.
func (d *rankDecoder) shares(all []candidate) func(set int) float64 {
	if d.kernel.temper == 0 {
		a, _ := math.Lgamma(float64(len(all) + 1))
		b, _ := math.Lgamma(float64(d.considered + 1))
		c, _ := math.Lgamma(float64(len(all) - d.considered + 1))
		return func(int) float64 { return b + c - a }
	}
	p := slices.Repeat([]float64{math.Inf(-1)}, 1<<len(all))
	p[0] = 0
	for set := range p {
		if math.IsInf(p[set], -1) || bits.OnesCount(uint(set)) >= d.considered {
			continue
		}
		greatest, sum := math.Inf(-1), 0.0
		for i, c := range all {
			if set>>i&1 == 0 {
				greatest = max(greatest, c.key)
			}
		}
		for i, c := range all {
			if set>>i&1 == 0 {
				sum += math.Exp(c.key - greatest)
			}
		}
		for i, c := range all {
			if set>>i&1 == 0 {
				p[set|1<<i] = expsum.Add(p[set|1<<i], p[set]+c.key-greatest-math.Log(sum))
			}
		}
	}
	return func(set int) float64 { return p[set] }
}

// afterDrawing calls do for the ways of a choice that depends on drawn tokens. Tokens are drawn
// independently, so each other position stays out with the probability that its own token does.
func (d *rankDecoder) afterDrawing(given []candidate, dists []distribution, do func(chosen []candidate, logP float64) error) error {
	if err := few(given); err != nil {
		return err
	}
	at := make(map[int]int) // by position
	for i, c := range given {
		at[c.position] = i
	}
	type limit struct {
		position, behind int
		below            float64
	}
	known := make(map[limit]float64)
	out := func(position int, x limits) float64 {
		limit := limit{position, x.behind.position, x.at(position)}
		if p, ok := known[limit]; ok {
			return p
		}
		dist, logs := dists[at[position]], []float64(nil)
		for a, p := range dist.logs {
			if math.IsInf(p, -1) {
				continue
			}
			score := dist.score(a)
			if key := rounded(score); score < limit.below && (key < x.behind.key || key == x.behind.key && position > x.behind.position) {
				logs = append(logs, p)
			}
		}
		known[limit] = subset.LogSum(logs)
		return known[limit]
	}
	rule := d.kernel.choosing.(excluding)
	slices.SortFunc(given, compareKeys)
	least := 1
	if _, fixed := rule.(quotaChoice); fixed {
		least = d.considered
	}
	return eachSet(given, least, d.considered, func(chosen, others []candidate, _ int) error {
		x, ok := rule.others(&d.run, chosen, d.considered)
		if !ok {
			return nil
		}
		logP := logTokens(chosen)
		for _, c := range others {
			logP += out(c.position, x)
		}
		if math.IsInf(logP, -1) {
			return nil
		}
		return do(chosen, logP)
	})
}
