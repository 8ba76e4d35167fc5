package generate

import (
	"mdmgen/analysis/interaction"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/requests"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
)

// Schema names the layout of the record of a run.
const Schema = "mdmgen.run/1"

// Record is what generate prints as json. For other formats it is written without samples.
type Record struct {
	Schema     string            `json:"schema"`
	Provenance kit.Provenance    `json:"provenance"`
	Settings   requests.Settings `json:"settings"`
	Samples    []requests.Sample `json:"samples,omitzero"`
	Totals     totals            `json:"totals"`
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

// grouping describes the groups for the options. It returns nil if the sampler is not spread.
func (g *generation) grouping(o catalog.Options) *requests.Groups {
	if !o.Spreads() {
		return nil
	}
	out := &requests.Groups{Interactions: "assumed"}
	if o.Interactions != nil {
		out.Interactions = "measured"
	}
	if len(g.jobs) == 1 && o.Interactions != nil {
		if free := g.free(g.jobs[0].Tokens); len(free) > 0 {
			best := spread.Choose(o.Interactions, free, g.builder.Sampler().Settings().Steps)
			out.Predicted = new(best.Nats / float64(len(free)))
		}
	}
	return out
}
