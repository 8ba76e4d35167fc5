package score

import (
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// schema names the layout of score's records.
const schema = "mdmgen.score/1"

// settings are all that the numbers depend on besides model and text.
type settings struct {
	// Value says what the nats are; Bound that they are an upper bound in expectation
	// on −log P of what it names.
	Value string `json:"value"`
	Bound bool   `json:"bound"`
	Exact bool   `json:"exact,omitempty"`
	// Estimator, Draws and Plans are those of an estimate.
	Estimator string            `json:"estimator,omitempty"`
	Draws     int               `json:"draws,omitempty"`
	Plans     int               `json:"plans,omitempty"`
	Sampler   *catalog.Settings `json:"sampler,omitempty"`
	// Differs lists what the windows have otherwise than the protocol.
	Differs []string `json:"differs_from_protocol,omitempty"`
	// Renormalised is set where the network's rows are scores whose mass is not 1, and
	// were divided by it.
	Renormalised bool `json:"renormalised,omitempty"`
	// Draw is a change of the network's law, none where it is empty.
	Draw draw.Settings `json:"draw,omitzero"`
	// Seed is null where nothing is drawn.
	Seed       *uint64 `json:"seed"`
	Confidence float64 `json:"confidence"`
	As         string  `json:"as"`
	Join       bool    `json:"join,omitempty"`
	Length     int     `json:"length"`
	Stride     int     `json:"stride,omitempty"`
	Context    int     `json:"context,omitempty"`
	Frame      string  `json:"frame"`
	Tail       string  `json:"tail"`
	Limit      int     `json:"limit,omitempty"`
	Batch      int     `json:"batch,omitempty"`
	Threads    int     `json:"threads"`
	// Head is what the network was asked for at a position, "" for a table.
	Head   samplers.Head `json:"head,omitempty"`
	Device string        `json:"device"`
	// Text is "sha256:…" of the windows' ids, Profile that of the file of a sampler's
	// loss profile.
	Text    string `json:"text"`
	Profile string `json:"profile,omitempty"`
}

// seed is the seed, 0 where nothing is drawn.
func (s settings) seed() uint64 {
	if s.Seed == nil {
		return 0
	}
	return *s.Seed
}

// scoredWindow is the result for one window.
type scoredWindow struct {
	Window   int  `json:"window"`
	Document int  `json:"document"`
	Line     int  `json:"line,omitempty"`
	Start    int  `json:"start"`
	Tokens   int  `json:"tokens"`
	Context  int  `json:"context,omitempty"`
	Bytes    *int `json:"bytes"`
	// Nats is what settings.value says, summed over the window's scored tokens.
	Nats estimate.Estimate `json:"nats"`
	// Lower is, for plans, the bound from below, or why there is none.
	Lower *likelihood.Lower `json:"lower,omitempty"`
	// Price is what the mass of raw scores adds, for score networks.
	Price     *estimate.Estimate `json:"price,omitempty"`
	Deviation float64            `json:"mass_deviation,omitempty"`
	Exact     *likelihood.Values `json:"exact,omitempty"`
	Rows      int                `json:"rows"`
}

// Record is what score prints as json, and ends jsonl with.
type Record struct {
	Schema      string             `json:"schema"`
	Provenance  kit.Provenance     `json:"provenance"`
	Settings    settings           `json:"settings"`
	Windows     []scoredWindow     `json:"windows,omitzero"`
	Corpus      *likelihood.Corpus `json:"corpus"`
	Totals      totals             `json:"totals"`
	Interrupted bool               `json:"interrupted,omitempty"`
	// Mixture names what parts that were merged all the same have unlike.
	Mixture []string `json:"mixture,omitempty"`
}

// totals add up the chunks of a run, also those that other processes worked out.
type totals struct {
	Windows   int     `json:"windows"`
	Rows      int     `json:"rows"`
	Calls     int     `json:"network_calls"`
	Positions int     `json:"positions"`
	Seconds   seconds `json:"seconds"`
}

// seconds are wall-clock times: inside the network, and of all work on chunks. Opening the
// model and reading the text are not in them.
type seconds struct {
	Network float64 `json:"network"`
	Total   float64 `json:"total"`
}
