package certificate

import (
	"cmp"
	"math"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// Families are the samplers that a search goes through, without their steps: block sizes and grids
// along curves and, where profile is not nil, those chosen by a loss profile (see [catalog.Options]). All
// draw tokens in one way.
func Families(how draw.Settings, profile []float64) []catalog.Options {
	curves := []string{"", "cos2", "cosine"}
	if profile != nil {
		curves = append(curves, "profile")
	}
	var out []catalog.Options
	add := func(o catalog.Options, curve string) {
		if o.Draw = how; curve == "profile" {
			o.Profile = profile
		}
		out = append(out, o)
	}
	for _, curve := range curves {
		add(catalog.Options{Sampler: "parallel-fhs", Sizes: cmp.Or(curve, "equal")}, curve)
	}
	for _, curve := range curves {
		add(catalog.Options{Sampler: "tweedie", Grid: cmp.Or(curve, "lambda")}, curve)
	}
	return out
}

// SearchConfig is what is searched.
type SearchConfig struct {
	// Most is the greatest TV from first-hitting's law, in (0,1).
	Most float64
	// Families are samplers whose steps are not set; all draw tokens alike.
	Families []catalog.Options
	// Runs of first-hitting confirm the setting; half as many find out where to look. 0 is enough for a limit
	// that is about a quarter of the target above the certificate.
	Runs  int
	Seed  uint64
	Batch int
	// Confidence is the probability of the promise; 0 is 0.95.
	Confidence float64
	// OnRun, where it is not nil, is called after each run.
	OnRun func()
}

// Work is the number of runs that a search makes.
func (cfg SearchConfig) Work() int { return cfg.confirming() + cfg.finding() }

func (cfg SearchConfig) confirming() int {
	return cmp.Or(cfg.Runs, int(min(max(math.Ceil(12.8/cfg.Most), 64), 4096)))
}
func (cfg SearchConfig) finding() int { return (cfg.confirming() + 1) / 2 }

// Candidate is a setting that was tried.
type Candidate struct {
	// Options are the setting's, Name what they say.
	Options catalog.Options `json:"-"`
	Name    string          `json:"name"`
	N       int             `json:"n"`
	// Calls is the expected number of network calls a text, finishing included.
	Calls float64 `json:"calls"`
	// Bound is the certificate's estimate, Limit what it does not exceed with the
	// probability of the search.
	Bound estimate.Estimate `json:"certificate"`
	Limit estimate.Number   `json:"limit"`
}

// Flags are the flags of a command that has the setting used, but for a profile's file.
func (c Candidate) Flags() string {
	out := []string{"--sampler " + c.Options.Sampler}
	for _, o := range catalog.AllOptions() {
		if value := o.Get(c.Options); value != "" {
			out = append(out, "--"+o.Name+" "+value)
		}
	}
	return strings.Join(out, " ")
}

// Found is the result of a search.
type Found struct {
	// Most is the target.
	Most float64 `json:"most"`
	// D is the number of free positions, and of first-hitting's calls.
	D          int     `json:"positions"`
	Confidence float64 `json:"confidence"`
	// Draw is how tokens are drawn, by first-hitting too.
	Draw draw.Settings `json:"draw"`
	// FindingRuns found out where to look, Runs confirmed. Calls counts the network's calls
	// of both.
	FindingRuns int `json:"finding_runs"`
	Runs        int `json:"runs"`
	Calls       int `json:"network_calls"`
	// Searched has the settings of the first runs, family by family, by falling calls.
	Searched []Candidate `json:"searched"`
	// Confirmed has those of the family that takes fewest calls on the other runs, by
	// falling calls, up to the first whose limit is above the target.
	Confirmed []Candidate `json:"confirmed"`
	// Best is the last of these whose limit is not; nil where first-hitting takes fewer
	// calls than any that is certified.
	Best *Candidate `json:"best,omitempty"`
}
