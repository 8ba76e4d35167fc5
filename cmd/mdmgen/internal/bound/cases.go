package bound

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/baseline"
	"mdmgen/analysis/bench"
	"mdmgen/analysis/bound"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/causal"
	"mdmgen/model/hub"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/spread"
	"mdmgen/tokenize"
)

// readCases reads the flags that choose samplers. A flag applies to the samplers that use it; at
// least one must. m is nil before the model is open.
func (r *bounding) readCases(cond samplers.Spec, m model.Model) ([]bound.Case, error) {
	numbers, err := bench.Ints(r.steps, 1, 1<<20)
	if err != nil {
		return nil, exit.Usagef("--steps: %s", fault.Plain(err))
	}
	slices.Sort(numbers)
	var axes []bench.Axis
	for _, flag := range caseFlags() {
		values := r.all.Text(flag)
		if flag == "steps" {
			values = strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
		} else if flag == "sampler" || !r.all.Given(flag) {
			continue
		}
		axes = append(axes, bench.Axis{Key: flag, Values: values, Optional: !r.all.Given(flag)})
	}
	names := r.compared()
	if r.samplers != "" || r.all.Given("sampler") {
		names = strings.Split(r.samplers, ",")
	}
	settings, err := bench.Cross(names, axes)
	if err != nil {
		return nil, r.all.Refuse("bound", err)
	}
	var out []bound.Case
	for _, set := range settings {
		if err := r.sampler.Profile.Use(r.ctx, r.all, &set.Options); err != nil {
			return nil, err
		}
		if m != nil {
			if err := r.sampler.Profile.For(r.ctx, r.streams, m, &set.Options); err != nil {
				return nil, err
			}
		}
		s, err := catalog.New(set.Options, cond)
		if err != nil {
			return nil, r.all.Refuse("bound", err)
		}
		if s.Planned() && s.Settings().Draw.ChangesLaw() {
			return nil, exit.Usagef("--sampler %s: here, a sampler with a plan must draw from the network's own distribution", set.Options.Sampler)
		}
		c := bound.Case{Name: set.Options.Sampler, N: set.Options.Steps, Sampler: s}
		if set.Options.Correct != "" {
			c.Name += "." + set.Options.Correct
		}
		// The number of steps may follow from κ or a list.
		if _, ok := s.Grid(); ok {
			c.N = s.Settings().Steps
		}
		out = append(out, c)
	}
	if doubled(out) != "" {
		for i := range out {
			settings[i].Options.Steps = 0
			out[i].Name = strings.ReplaceAll(settings[i].ID(), " ", ",")
		}
	}
	if name := doubled(out); name != "" {
		return nil, exit.Usagef("--sampler: %s appears twice", name)
	}
	return out, nil
}

// doubled returns a name that two cases share, "" if there is none.
func doubled(cases []bound.Case) string {
	seen := make(map[string]bool)
	for _, c := range cases {
		if seen[c.String()] {
			return c.String()
		}
		seen[c.String()] = true
	}
	return ""
}

// fitting returns an error if the exact values of a named sampler over d positions are too
// expensive to compute. It omits such samplers if they were not named.
func (r *bounding) fitting(e *likelihood.Evaluator, d int) error {
	var kept []bound.Case
	for _, k := range r.cases {
		switch err := e.Fits(d, k.Sampler); {
		case err == nil:
			kept = append(kept, k)
		case r.all.Given("sampler"):
			return r.all.Refuse("bound", err)
		default:
			r.streams.Notice(fmt.Sprintf("%s is left out: %s", k.Name, fault.Plain(err)))
		}
	}
	r.compare(kept)
	return nil
}

// calls returns the expected number of network calls over the windows' positions, by the name of
// the case in lines. The number of steps is not a cost.
func (r *bounding) calls() map[string]string {
	out := make(map[string]string)
	for _, k := range r.cases {
		if calls, finish, err := k.Sampler.ExpectedCalls(r.free); err == nil && r.free > 0 && !math.IsNaN(calls) {
			out[k.String()] = fmt.Sprintf("%.4g", calls+finish)
		}
	}
	return out
}

// compared returns the samplers to compare where none are named: beside the causal law those that fill blocks in
// groups, otherwise a benchmark's, without spread, which no collision bound compares with first-hitting.
func (o *options) compared() []string {
	if o.q0 == "causal" {
		return []string{spread.Spread.Name, plan.ParallelFHS.Name}
	}
	return slices.DeleteFunc(bench.Compared(o.all.Given), func(name string) bool { return name == spread.Spread.Name })
}

// referenceKinds are the values of --reference before the colon.
var referenceKinds = []string{"causal", "masked"}

// checkReference returns the errors of --reference that can be found before anything is opened.
func (o *options) checkReference() error {
	kind, what, _ := strings.Cut(o.reference, ":")
	if o.all.Given("reference") && (what == "" || !slices.Contains(referenceKinds, kind)) {
		return exit.Usagef("--reference %s: must be KIND:WHAT with a KIND of %s", o.reference, strings.Join(referenceKinds, ", "))
	}
	return nil
}

// openReference opens the model of --reference, nil if it is not given. done closes it.
func (r *bounding) openReference(in *texts.Reader) (ref *bound.Baseline, done func(), err error) {
	done = func() {}
	kind, what, _ := strings.Cut(r.reference, ":")
	if what == "" {
		return nil, done, nil
	}
	ref = &bound.Baseline{Name: r.reference}
	set := &r.settings
	set.Reference = ref.Name
	switch kind {
	case "causal":
		runtime, err := r.model.Config(r.streams, r.all)
		if err != nil {
			return nil, done, err
		}
		eos := tokenize.None
		if in.Tokenizer != nil {
			_, eos, _ = in.Tokenizer.Frame()
		}
		if what, err = setup.LocalFolder(r.ctx, r.streams, r.model.Offline(), what, hub.Graph); err != nil {
			return nil, done, fmt.Errorf("--reference %s: %w", r.reference, err)
		}
		m, err := causal.Open(r.ctx, what, runtime)
		if err != nil {
			return nil, done, fmt.Errorf("--reference %s: %w", r.reference, err)
		}
		set.ReferenceDigest, ref.Distribution, done = m.Origin().Digest, baseline.Causal{Model: m, Begin: eos}, func() { m.Close() }
	case "masked":
		other := r.model
		other.Ref = what
		m, err := other.Open(r.ctx, r.streams, r.all)
		if err != nil {
			return nil, done, err
		}
		done = func() { m.Close() }
		e, err := likelihood.New(m, likelihood.Options{Batch: r.sampler.Batch})
		if err != nil {
			return nil, done, err
		}
		if f := m.Facts(); f.Columns != in.Facts.Columns {
			return nil, done, fmt.Errorf("--reference %s: has %d tokens, the model %d: they must be the same", ref.Name, f.Columns, in.Facts.Columns)
		}
		set.ReferenceDigest, ref.Distribution = m.(model.Describer).Origin().Digest, baseline.FirstHitting{Evaluator: e}
	}
	return ref, done, nil
}
