package generate

import (
	"cmp"

	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/canvas"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
)

// Schema names the layout of the record of a run.
const Schema = "mdmgen.run/1"

// Record is what generate prints as json. For other formats it is written without samples.
type Record struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Settings   settings       `json:"settings"`
	Samples    []sample       `json:"samples,omitzero"`
	Totals     totals         `json:"totals"`
	// Faults are the samples that failed.
	Faults []failure `json:"faults,omitempty"`
	// Interrupted reports whether some samples were not made.
	Interrupted bool `json:"interrupted,omitempty"`
	// Mixture names what differs between the programs or machines of parts with merge --force.
	Mixture []string `json:"mixture,omitempty"`
}

// failure is a sample that failed, and why.
type failure struct {
	Index int `json:"index"`
	// Line is the line of --input that asked for it.
	Line  int    `json:"line,omitempty"`
	Error string `json:"error"`
}

// settings holds all that the samples depend on, as resolved: defaults are
// filled in, and what the sampler does not use is omitted.
type settings struct {
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
	Match    []canvas.Pattern `json:"match,omitempty"`
	MatchLaw string           `json:"match_law,omitempty"`
	// Chat is the user's message; ChatTemplate is "sha256:…" of the template that turned messages
	// into prompts.
	Chat         string `json:"chat,omitempty"`
	ChatTemplate string `json:"chat_template,omitempty"`
	// Profile is "sha256:…" of the file of the sampler's profile.
	Profile string `json:"profile,omitempty"`
	// Groups describes the groups of spread.
	Groups *grouping `json:"groups,omitempty"`
	// Audit is the fraction of groups, or of calls of a cache, that was audited.
	Audit float64 `json:"audit,omitempty"`
	// Facts and Sidecar override the model's facts.
	Facts   []string `json:"facts,omitempty"`
	Sidecar string   `json:"sidecar,omitempty"`
}

// sample is one finished sequence.
type sample struct {
	Index int `json:"index"`
	// Line is the line of --input that asked for it.
	Line int `json:"line,omitempty"`
	// Seed and Settings are the line's own, omitted if those of the run apply.
	Seed     *uint64           `json:"seed,omitempty"`
	Settings *catalog.Settings `json:"settings,omitempty"`
	// Match are the line's own patterns.
	Match []canvas.Pattern `json:"match,omitempty"`
	// IDs holds null for each remaining mask.
	IDs []*int `json:"ids"`
	// Text is null if there is no tokenizer. For a chat it is the answer alone.
	Text *string `json:"text"`
	// Filled holds the text of each gap of the canvas, in order. Continuation is the text of the
	// only gap, if that reaches to the end, as after a prefix.
	Filled       []string `json:"filled,omitempty"`
	Continuation *string  `json:"continuation,omitempty"`
	// Calls is the number of network calls that this sequence took part in: its non-empty blocks.
	// FinishCalls, 0 or 1, counts the call that filled what no step revealed.
	Calls       int `json:"calls"`
	FinishCalls int `json:"finish_calls"`
	// RuleCalls is the number of calls by the rule of a decoder that looks at rows: Calls plus the
	// calls that can reveal nothing and are not made.
	RuleCalls int `json:"rule_calls,omitempty"`
	// Rounds and Rows are set if the sampler looks ahead or is guided. Rounds is the number of
	// network calls that the sequence took part in, FinishCalls included; Rows is the number of its
	// canvases in them.
	Rounds int `json:"rounds,omitempty"`
	Rows   int `json:"rows,omitempty"`
	// Left is the number of remaining masks.
	Left int `json:"left"`
	// Audit compares its rows with cached keys and values to full rows.
	Audit *samplers.Audit `json:"audit,omitempty"`
}

// totals are sums over the chunks of a run.
type totals struct {
	counts
	// Cache holds the costs and effects of a cache.
	Cache           *cacheTotals    `json:"cache,omitempty"`
	Seconds         seconds         `json:"seconds"`
	TokensPerSecond tokensPerSecond `json:"tokens_per_second"`
	// Audit is the loss of groups relative to revealing one position at a time, if it was asked
	// for.
	Audit *interaction.Audited `json:"audit,omitempty"`
}

// seconds are wall-clock times: in the network, in plans and draws, and of all work on samples.
// They do not include opening the model.
type seconds struct {
	Network  float64 `json:"network"`
	Sampling float64 `json:"sampling"`
	Total    float64 `json:"total"`
}

// tokensPerSecond holds the two figures called tokens per second: tokens sampled
// per second, and canvas positions (canvas length times rows) computed per second.
type tokensPerSecond struct {
	Effective float64 `json:"effective"`
	InStep    float64 `json:"in_step"`
}

// grouping describes how spread chose its groups.
type grouping struct {
	// Interactions is "measured" for those of the profile, or "assumed" without one.
	Interactions string `json:"interactions"`
	// Predicted is the predicted KL relative to the same order one position at a time, in nats per
	// token, for a single canvas; omitted if there are several.
	Predicted *float64 `json:"predicted_kl_per_token,omitempty"`
}

// grouping describes the groups for the options. It returns nil if the sampler is not spread.
func (g *generation) grouping(o catalog.Options) *grouping {
	if !o.Spreads() {
		return nil
	}
	out := &grouping{Interactions: "assumed"}
	if o.Interactions != nil {
		out.Interactions = "measured"
	}
	if len(g.jobs) == 1 {
		if free := g.free(g.jobs[0].Canvas); len(free) > 0 {
			best := spread.Choose(cmp.Or(o.Interactions, spread.Assumed), free, g.method.Settings().Steps)
			out.Predicted = new(best.Nats / float64(len(free)))
		}
	}
	return out
}
