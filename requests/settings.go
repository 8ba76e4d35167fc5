package requests

import (
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Settings holds all that the samples depend on, as resolved: defaults are
// filled in, and what the sampler does not use is omitted.
type Settings struct {
	catalog.Settings
	// Renormalised reports whether the network's rows are scores, whose mass is not 1, and tokens
	// are drawn from the normalised scores.
	Renormalised bool `json:"renormalised,omitempty"`
	N            int  `json:"n"`
	Batch        int  `json:"batch"`
	// Length is the length of the canvas, omitted if lines of the input have their own.
	Length  int    `json:"length,omitempty"`
	Seed    uint64 `json:"seed"`
	Threads int    `json:"threads"`
	// Head is what the network returned for a position: rows to draw from, or best if it drew the
	// token itself. Ids are the same either way, except for uniforms within rounding of a boundary
	// between two tokens.
	Head   samplers.Head `json:"head"`
	Device string        `json:"device"`
	Prefix string        `json:"prefix,omitempty"`
	Suffix string        `json:"suffix,omitempty"`
	Infill string        `json:"infill,omitempty"`
	// Negative and BadWords are the texts of NegativeTokens and BadWordsIDs.
	Negative string   `json:"negative,omitempty"`
	BadWords []string `json:"bad_words,omitempty"`
	Input    string   `json:"input,omitempty"`
	// Match are the patterns that texts must match, without those of lines of the input; MatchLaw
	// describes the resulting distribution.
	Match    []Pattern `json:"match,omitempty"`
	MatchLaw string    `json:"match_law,omitempty"`
	// Chat is the user's message; ChatTemplate is "sha256:…" of the template that turned messages
	// into prompts.
	Chat         string `json:"chat,omitempty"`
	ChatTemplate string `json:"chat_template,omitempty"`
	// ChatTemplateKwargs are the values of variables of the template.
	ChatTemplateKwargs map[string]any `json:"chat_template_kwargs,omitempty"`
	// Profile is "sha256:…" of the interactions by which spread chose, "" for assumed ones.
	Profile string `json:"profile,omitempty"`
	// Groups describes the groups of spread.
	Groups *Groups `json:"groups,omitempty"`
	// Audit is the fraction of groups, or of calls of a cache, that was audited.
	Audit float64 `json:"audit,omitempty"`
	// Facts and Sidecar override the model's facts.
	Facts   []string `json:"facts,omitempty"`
	Sidecar string   `json:"sidecar,omitempty"`
}

// Groups describes how spread chose its groups.
type Groups struct {
	// Interactions is "measured" for those of the profile, or "assumed" without one.
	Interactions string `json:"interactions"`
	// Predicted is the predicted KL relative to the same order one position at a time, in nats per
	// token, for a single canvas and measured interactions; else it is omitted.
	Predicted *float64 `json:"predicted_kl_per_token,omitempty"`
}

// Settings returns the settings of a job's record.
func (b *Builder) Settings(j *Job) Settings {
	s := b.Record
	s.Settings, s.N, s.Length, s.ChatTemplate = j.Sampler.Settings(), j.N, len(j.Tokens), b.Words.Template()
	if j.Seed != nil {
		s.Seed = *j.Seed
	}
	return s
}
