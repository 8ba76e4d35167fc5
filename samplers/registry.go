package samplers

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/samplers/draw"
)

// Descriptor tells what a sampler is.
type Descriptor struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Summary is one line.
	Summary string `json:"summary"`
	// Law says what is drawn, Cost how many network calls it takes, Source where it
	// is from.
	Law    string `json:"law"`
	Cost   string `json:"cost"`
	Source string `json:"source"`
	// Calls is Cost in a few words, for d free positions.
	Calls string `json:"calls"`
	// Flags are the names of the options ([AllOptions]) that the sampler can use.
	// Which of them a given combination uses is told by [Options.Unused].
	Flags []string `json:"flags"`
	// make sets the sampler's law and settings.
	make func(s *Sampler, o Options, spec Spec) error
}

// rawSamplers are those that have a kernel of their own for raw scores.
var rawSamplers = []string{"euler", "tweedie", "tau-leaping"}

var (
	// drawFlags are those of all samplers.
	drawFlags = []string{"draw", "temperature", "top-k", "top-p", "suppress-tokens", "block-length", "prompt-length", "stop", "correct",
		"guidance", "guidance-scale", "unconditional", "keep-tokens", "negative-tokens", "bad-words-ids", "min-length", "max-length"}
	// oneFlags are those of a sampler that reveals one position a call.
	oneFlags  = slices.Concat([]string{"lookahead"}, drawFlags)
	gridFlags = []string{"steps", "grid", "kappa", "noise", "T", "delta", "finish"}
)

// Descriptors lists the samplers, the default first.
func Descriptors() []Descriptor { return slices.Clone(descriptors) }

// Names lists the samplers' names, the default first.
func Names() []string {
	var out []string
	for _, d := range descriptors {
		out = append(out, d.Name)
	}
	return out
}

// Likelihood says how −log P of a text under the sampler is worked out, and for which of its
// scores: what [Sampler.Law] of each declares.
func (d Descriptor) Likelihood() string {
	var how []string
	scores := make(map[string][]string)
	tell := func(score string, o Options) {
		s, err := New(o, Spec{})
		if err != nil {
			return // not one of its scores
		}
		text := s.law.declare().likelihood(s.Planned())
		if scores[text] == nil {
			how = append(how, text)
		}
		scores[text] = append(scores[text], score)
	}
	if !slices.Contains(d.Flags, "score") {
		tell("", Options{Sampler: d.Name})
		text := strings.ToUpper(how[0][:1]) + how[0][1:] + "."
		if !strings.HasPrefix(how[0], "none") {
			text += " None in blocks, with corrections or guidance, or with banned words or a shortest length."
		}
		return text
	}
	for _, score := range []Score{ScoreConfidence, ScoreMaskGIT, ScoreMargin, ScoreEntropy, ScoreRandom} {
		tell("score "+string(score), Options{Sampler: d.Name, Deciding: Deciding{Score: score}})
	}
	tell("temperature 0", Options{Sampler: d.Name, Draw: draw.Draw{Temperature: new(float64)}})
	var out []string
	for _, text := range how {
		out = append(out, "With "+strings.Join(scores[text], ", ")+": "+text+".")
	}
	return strings.Join(out, " ")
}

// likelihood says how −log P is worked out.
func (l Law) likelihood(planned bool) string {
	switch {
	case l.Replay == ReplayOne:
		return "exact at any length, by a replay of as many rows as calls"
	case l.Replay != NoReplay:
		also := map[bool]string{true: ", and bounds by paths at any length"}[l.Replay == ReplayRandom]
		return fmt.Sprintf("exact up to %d free positions, or in blocks of up to as many, by a replay on at most 2^d canvases", MostReplayed) + also
	case !planned:
		return "none, because " + l.Why
	case l.Fixed:
		return "exact at any length, from d rows"
	case l.LookBack:
		return "exact up to 14 free positions, from 2^d rows that are kept whole, and bounds by plans"
	}
	return "exact up to 16 free positions, from 2^d rows, and bounds by plans"
}

// Describe finds a sampler by its name or an alias.
func Describe(name string) (Descriptor, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, d := range descriptors {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return Descriptor{}, false
}
