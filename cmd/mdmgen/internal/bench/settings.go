package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

// grid returns the settings of the grid.
func (r *benching) grid(ctx context.Context) ([]bench.Setting, error) {
	o := r.options
	cross := !o.all.Given("case") || o.all.Given("sampler")
	var axes, run []bench.Axis
	for _, key := range slices.Sorted(maps.Keys(o.lists)) {
		if key == "sampler" || !o.all.Given(key) {
			continue
		}
		axis := bench.Axis{Key: key, Values: *o.lists[key]}
		switch key {
		case bench.KeyLength, bench.KeyBatch, bench.KeyThreads:
			run = append(run, axis)
		default:
			axes = append(axes, axis)
		}
	}
	for _, text := range o.set {
		key, values, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, exit.Usagef("--set %.40s: must be KEY=VALUES", text)
		}
		axes = append(axes, bench.Axis{Key: key, Values: values})
	}
	if !o.all.Given(bench.KeyThreads) && !setup.IsWorld(o.model.Ref) {
		n, err := o.model.Threads(nil)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			run = append(run, bench.Axis{Key: bench.KeyThreads, Values: strconv.Itoa(n)})
		}
	}
	var out []bench.Setting
	if cross {
		names := bench.Compared(func(key string) bool {
			return slices.ContainsFunc(axes, func(a bench.Axis) bool { return a.Key == key })
		})
		if o.all.Given("sampler") {
			names = strings.Split(*o.lists["sampler"], ",")
		}
		if !o.all.Given("steps") && o.calls == nil {
			axes = append(axes, bench.Axis{Key: "steps", Values: defaultSteps, Optional: true})
		}
		made, err := bench.Cross(names, axes)
		if err != nil {
			return nil, r.all.Refuse("bench", err)
		}
		out = made
	} else if len(axes) > 0 {
		return nil, exit.Usagef("%s: applies to the samplers of --sampler, and none is given: write it into --case", axes[0].Key)
	}
	for _, text := range o.cases {
		made, err := bench.ParseCase(text)
		if err != nil {
			return nil, r.all.Refuse("bench", err)
		}
		out = append(out, made...)
	}
	out, err := bench.Fill(out, run)
	if err == nil {
		err = bench.Distinct(out)
	}
	if err != nil {
		return nil, r.all.Refuse("bench", err)
	}
	if err := o.useProfile(ctx, out); err != nil {
		return nil, err
	}
	kept := out[:0]
	for _, s := range out {
		spec := samplers.Spec{}
		if _, err := catalog.New(s.Options, spec); err == nil {
			kept = append(kept, s)
		} else if err := r.leave(s, spec, err); err != nil {
			return nil, err
		}
	}
	return kept, r.left(len(kept))
}

// leave omits a setting whose only fault is its cache. Any other fault is a usage error.
func (r *benching) leave(s bench.Setting, spec samplers.Spec, wrong error) error {
	bare := s.Options
	bare.Cache = ""
	_, unknown := cache.Parse(s.Options.Cache)
	if _, err := catalog.New(bare, spec); s.Options.Cache == "" || unknown != nil || err != nil {
		return r.all.Refuse("bench: "+s.ID(), wrong)
	}
	r.leftOut = append(r.leftOut, s.ID()+": "+fault.Plain(wrong))
	return nil
}

// left returns an error if no setting is left.
func (r *benching) left(settings int) error {
	if settings == 0 {
		return exit.Usagef("bench: %s", r.leftOut[0])
	}
	return nil
}

// atCalls replaces each setting without steps by one for each of --calls. A setting whose number of
// calls is fixed stays as a reference. A setting that cannot make a number of calls is omitted for
// that number, and named.
func (r *benching) atCalls(settings []bench.Setting) (out []bench.Setting, err error) {
	near := false
	add := func(s bench.Setting) bool {
		again := slices.ContainsFunc(out, func(o bench.Setting) bool { return o.ID() == s.ID() })
		if !again {
			out = append(out, s)
		}
		return !again
	}
	for _, s := range settings {
		if r.calls == nil || s.Options.Steps > 0 {
			near = true
			add(s)
			continue
		}
		ids, err := r.canvas(s.Length)
		if err != nil {
			return nil, err
		}
		spec := r.models[s.Threads].Spec()
		for _, calls := range r.calls {
			steps, made, err := catalog.AtCalls(s.Options, spec, len(spec.Masked(ids)), calls)
			at := s
			at.Options.Steps = steps
			switch {
			case err == catalog.ErrNoSteps:
				if add(s) {
					r.fixed = append(r.fixed, fmt.Sprintf("%s always makes %.4g calls; shown as a reference", s.ID(), made))
				}
			case err != nil:
				r.leftOut = append(r.leftOut, fmt.Sprintf("%s for %d calls: %s", s.ID(), calls, fault.Plain(err)))
			default:
				near = true
				add(at)
			}
		}
	}
	if r.calls != nil && !near {
		return nil, exit.Usagef("--calls: no sampler makes that many: %s", strings.Join(append(r.fixed, r.leftOut...), "; "))
	}
	return out, nil
}

// useProfile fills in the interactions that settings use.
func (o *options) useProfile(ctx context.Context, settings []bench.Setting) error {
	for i := range settings {
		set := &settings[i].Options
		if err := o.sampler.Profile.Fill(ctx, set); err != nil {
			return err
		}
	}
	if o.sampler.Profile.Path != "" && o.sampler.Profile.Digest() == "" {
		return exit.Usagef("--profile: only spread reads it")
	}
	return nil
}
