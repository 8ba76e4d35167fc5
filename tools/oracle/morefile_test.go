package oracle

import (
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/model/world"
	"mdmgen/samplers/schedule"
)

// moreFile recomputes a file of the layout mdm-laws-more/1: laws of further samplers on a world. The file
// names its world, whose own file holds q0 and μ.
func moreFile(m *matcher, f *file) {
	var want object
	want, m.notOffered = moreValues(m.t, f)
	m.match("", f.doc, want)
}

// moreValues returns all values that follow from the world and the settings, and the number of those
// that are [notOffered].
func moreValues(t testing.TB, f *file) (want object, skipped int) {
	r := more{t: t, doc: f.doc, in: inputs[moreInputs](t, f), found: make(differences)}
	r.world, r.model, r.w = f.in.world(t, r.in.World)
	r.fhs, r.c = r.w.FHSLaw(), profile(r.w)
	want = object{
		"d": r.w.D, "V": r.w.V, "T": given{}, "delta": given{}, "seed": exempt{},
		"q0_entropy": laws.Entropy(r.w.Q0),
	}
	entries := list{}
	for i := range r.in.Laws {
		entries = append(entries, r.law(&r.in.Laws[i]))
	}
	want["laws"], want["checks"] = entries, r.checks()
	r.skip(f.doc, want)
	return want, r.skipped
}

// more holds what the values of such a file are computed from.
type more struct {
	t   testing.TB
	doc map[string]any
	in  moreInputs
	w   *laws.World
	// world is the world's own file, model the world as a model.
	world *file
	model *world.World
	fhs   []float64
	// c is the loss by the number of visible positions.
	c []float64
	// found holds the differences that the file's "checks" may have.
	found differences
	// skipped counts what is [notOffered].
	skipped int
}

type moreInputs struct {
	World    string
	T, Delta float64
	Laws     []moreLaw
}

// moreLaw is an entry of "laws".
type moreLaw struct {
	Sampler string
	Law     any
	Calls   *float64 `json:"expected_calls"`
	// Candidates is the expected number of events.
	Candidates *float64 `json:"expected_candidates"`
	Settings   moreSettings
}

// moreSettings holds the settings of all samplers. Each sampler has some of them.
type moreSettings struct {
	Grid     string
	Times    []*float64 `json:"forward_times"` // nil for +∞
	Theta    float64
	Lambda   []float64 `json:"masked_fractions"`
	Schedule string
	Sizes    []float64
	Gamma    float64
}

// tweedie returns Tweedie's steps on decreasing masked fractions.
func (r *more) tweedie(lambda []float64) schedule.Steps {
	return lawstest.Steps(r.t, schedule.RuleTweedie, schedule.GridSpec{Kind: schedule.GridLambdaList, List: lambda})
}

func total(p []float64) float64 {
	var s laws.Sum
	for _, x := range p {
		s.Add(x)
	}
	return s.Value()
}
