package samplers_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// TestDefaults checks what is in force where nothing is given.
func TestDefaults(t *testing.T) {
	inf := math.Inf(1)
	timed := samplers.Spec{TimeConditioned: true}
	loglinear := samplers.Spec{Noise: "loglinear"}
	for _, test := range []struct {
		name     string
		o        catalog.Options
		c        samplers.Spec
		T, delta float64
		noise    string
	}{
		{"exp", catalog.Options{Sampler: "euler"}, samplers.Spec{}, 5, 0.01, "exp"},
		{"the model's noise", catalog.Options{Sampler: "euler"}, loglinear, -math.Log(1e-3), 0, "loglinear"},
		{"a noise given", catalog.Options{Sampler: "tweedie", Noise: "geometric"}, loglinear, 20, 1e-4, "geometric"},
		{"linear reaches infinity", catalog.Options{Sampler: "euler", Noise: "linear"}, samplers.Spec{}, inf, 0, "linear"},
		{"paper's grid", catalog.Options{Sampler: "euler", Grid: "paper"}, loglinear, 5, 0.01, "loglinear"},
		{"tweedie on lambda", catalog.Options{Sampler: "tweedie", Grid: "lambda"}, loglinear, inf, 0, ""},
		{"tweedie on cos2, time-conditioned", catalog.Options{Sampler: "tweedie", Grid: "cos2"}, timed, 5, 0, ""},
		{"euler on lambda", catalog.Options{Sampler: "euler", Grid: "lambda"}, loglinear, -math.Log(1e-3), 0, "loglinear"},
		{"a list", catalog.Options{Sampler: "tweedie", Grid: "theta:3,1,0.5"}, samplers.Spec{}, 3, 0.5, ""},
		{"kappa", catalog.Options{Sampler: "tau", Grid: "paper", Kappa: 0.5}, samplers.Spec{}, 5, 0.01, "exp"},
	} {
		s, err := catalog.New(test.o, test.c)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := s.Settings()
		if float64(*got.T) != test.T || float64(*got.Delta) != test.delta || got.Noise != test.noise || got.Finish != "denoise" || !s.Denoises() {
			t.Errorf("%s: T %v, delta %v, noise %q, finish %q; want %v, %v, %q", test.name, *got.T, *got.Delta, got.Noise, got.Finish, test.T, test.delta, test.noise)
		}
		steps, ok := s.Steps()
		if !ok || steps.Grid.Steps() != got.Steps || test.o.Steps == 0 && test.o.Kappa == 0 && !strings.Contains(test.o.Grid, ":") && got.Steps != 128 {
			t.Errorf("%s: %d steps", test.name, got.Steps)
		}
	}
	s := mustNew(t, catalog.Options{})
	if got := s.Settings(); got.Sampler != "fhs" || got.T != nil || got.Steps != 0 || got.Finish != "" {
		t.Errorf("fhs: settings %+v", got)
	}
}

// A sampler's name says what makes it another law.
func TestSamplerString(t *testing.T) {
	spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 4, Mask: 3}}
	for want, o := range map[string]catalog.Options{
		"fhs":                                 {},
		"confidence 128 steps block-length 4": {Sampler: "confidence", RankOptions: catalog.RankOptions{BlockLength: 4}},
		"ordered left-to-right guidance 0.5":  {Sampler: "ordered", RankOptions: catalog.RankOptions{Guidance: 0.5}},
		"fhs guidance -0.5 correct gibbs:1x2": {RankOptions: catalog.RankOptions{Guidance: -0.5}, RemaskOptions: catalog.RemaskOptions{Correct: "gibbs:1x2"}},
	} {
		if s, err := catalog.New(o, spec); err != nil || s.String() != want {
			t.Errorf("%v, %v, want %s", s, err, want)
		}
	}
}

// TestSettingsJSON: a record holds what is in force and nothing else, an infinite T
// included.
func TestSettingsJSON(t *testing.T) {
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{}, `{"sampler":"fhs","draw":"inverse","changes_law":false}`},
		{catalog.Options{Draw: draw.Settings{TopP: 1}}, `{"sampler":"fhs","draw":"inverse","top_p":1,"changes_law":false}`},
		{catalog.Options{Draw: draw.Settings{Temperature: new(0.0)}}, `{"sampler":"fhs","draw":"inverse","temperature":0,"changes_law":true}`},
		{catalog.Options{Sampler: "ddpm", Grid: "lambda", Steps: 7}, `{"sampler":"tweedie","grid":"lambda","steps":7,"T":"inf","delta":0,"finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "tau", Tau: "one", Grid: "paper", Kappa: 1}, `{"sampler":"tau-leaping","grid":"paper","steps":5,"kappa":1,"noise":"exp","T":5,"delta":0.01,"tau":"one","finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "3,1"}, `{"sampler":"parallel-fhs","sizes":"3,1","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "ordered", Draw: draw.Settings{TopK: 2}}, `{"sampler":"ordered","order":"left-to-right","draw":"inverse","top_k":2,"changes_law":true}`},
	} {
		got, err := json.Marshal(mustNew(t, test.o).Settings())
		if err != nil || string(got) != test.want {
			t.Errorf("%+v: %s, %v\nwant %s", test.o, got, err, test.want)
		}
	}
}

// TestUnusedOptions: whatever a sampler does not use is refused by name.
func TestUnusedOptions(t *testing.T) {
	T := 3.0
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{Steps: 3, Finish: "leave", T: (*catalog.Theta)(&T)}, "fhs does not use T, finish, steps"},
		{catalog.Options{Sampler: "fhs", Noise: "exp"}, "noise"},
		{catalog.Options{Sampler: "tweedie", Grid: "lambda", Noise: "linear"}, "noise"},
		{catalog.Options{Sampler: "tweedie", Tau: "one"}, "tau"},
		{catalog.Options{Sampler: "euler", Kappa: 0.1}, "kappa"},
		{catalog.Options{Sampler: "euler", Grid: "paper", Kappa: 0.1, Steps: 3}, "steps"},
		{catalog.Options{Sampler: "euler", Grid: "theta:2,1", Steps: 3, Delta: (*catalog.Theta)(&T)}, "delta, steps"},
		{catalog.Options{Sampler: "euler", Sizes: "equal", Order: "random"}, "order, sizes"},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "1,2", Steps: 3}, "steps"},
		{catalog.Options{Sampler: "parallel-fhs", Grid: "lambda"}, "grid"},
		{catalog.Options{Sampler: "ordered", Steps: 2}, "steps"},
	} {
		_, err := catalog.New(test.o, samplers.Spec{})
		if err == nil || !strings.Contains(err.Error(), "does not use") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v: want one with %q", test.o, err, test.want)
		}
	}
}

// TestOptionErrors: wrong values are refused with one line that names them.
func TestOptionErrors(t *testing.T) {
	negative, big := -1.0, 9.0
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{Sampler: "gibbs"}, `"gibbs"`},
		{catalog.Options{Sampler: "euler", Grid: "hex"}, `"hex"`},
		{catalog.Options{Sampler: "euler", Grid: "theta:1,x"}, `"x"`},
		{catalog.Options{Sampler: "euler", Grid: "sigma:1,0"}, "theta: or lambda:"},
		{catalog.Options{Sampler: "euler", Noise: "pink"}, "noise is pink: must be one of"},
		{catalog.Options{Sampler: "euler", Steps: -1}, "steps is -1"},
		{catalog.Options{Sampler: "euler", Finish: "stop"}, "finish is stop: must be one of denoise, leave"},
		{catalog.Options{Sampler: "euler", Delta: (*catalog.Theta)(&negative)}, "delta is -1"},
		{catalog.Options{Sampler: "euler", Noise: "loglinear", T: (*catalog.Theta)(&big)}, "0..6.90776"},
		{catalog.Options{Sampler: "euler", Noise: "cosine", Delta: (*catalog.Theta)(new(float64))}, "step 127"},
		{catalog.Options{Sampler: "tau-leaping", Tau: "two"}, "tau is two: must be one of any, one"},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "3,0"}, `"0"`},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "many"}, `"many"`},
		{catalog.Options{Sampler: "ordered", Order: "1,1"}, "position 1 appears twice"},
		{catalog.Options{Sampler: "ordered", Order: "1,-2"}, `"-2"`},
		{catalog.Options{Draw: draw.Settings{TopP: 2}}, "top-p is 2"},
		{catalog.Options{Steps: -1, Draw: draw.Settings{TopP: 2, TopK: -1}}, "steps is -1: must be"},
	} {
		_, err := catalog.New(test.o, samplers.Spec{})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v: want one line with %q", test.o, err, test.want)
		}
	}
	if _, err := catalog.New(catalog.Options{Sampler: "euler"}, samplers.Spec{Noise: "pink"}); err == nil {
		t.Error("a model with noise pink was accepted")
	}
}

// TestDescriptors: every sampler is told about in full, its names are found, and
// every flag of it exists.
func TestDescriptors(t *testing.T) {
	seen := make(map[string]bool)
	for _, d := range catalog.Descriptors() {
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			if seen[name] {
				t.Errorf("%s names two samplers", name)
			}
			seen[name] = true
			if got, ok := catalog.Describe(name); !ok || got.Name != d.Name {
				t.Errorf("%s is %q", name, got.Name)
			}
			if s := mustNew(t, catalog.Options{Sampler: name}); s.Settings().Sampler != d.Name {
				t.Errorf("%s makes %s", name, s.Settings().Sampler)
			}
		}
		if d.Summary == "" || d.Law == "" || d.Cost == "" || d.Source == "" {
			t.Errorf("%s: something is not told: %+v", d.Name, d)
		}
		for _, f := range d.Flags {
			if !slices.ContainsFunc(catalog.AllOptions(), func(o catalog.Option) bool { return o.Name == f }) {
				t.Errorf("%s: flag %q does not exist", d.Name, f)
			}
		}
		unused, err := catalog.Options{Sampler: d.Name}.Unused()
		if err != nil || len(unused)+len(d.Flags) < len(catalog.AllOptions()) {
			t.Errorf("%s: does not use %v, %v", d.Name, unused, err)
		}
	}
	for _, o := range catalog.AllOptions() {
		if !slices.ContainsFunc(catalog.Descriptors(), func(d catalog.Descriptor) bool { return slices.Contains(d.Flags, o.Name) }) {
			t.Errorf("no sampler has the option %q", o.Name)
		}
	}
	if _, ok := catalog.Describe("gibbs"); ok {
		t.Error("gibbs was found")
	}
}

// FuzzOptions: whatever text is given, it is refused in one line or makes a
// sampler whose plans reveal or leave every free position once.
func FuzzOptions(f *testing.F) {
	f.Add("fhs", "", "", "", "", 0)
	f.Add("ddpm", "lambda:1,0.5,0", "", "", "", 0)
	f.Add("euler", "paper", "", "", "cosine", 7)
	f.Add("parallel-fhs", "", "2,3", "", "", 0)
	f.Add("ordered", "", "", "4,3,2,1,0", "", 0)
	f.Add("matu", "theta:3,1,0.1", "", "", "", 0)
	f.Add("trapezoidal", "cos2", "", "", "", 3)
	f.Add("paired-fhs", "", "1,4", "", "", 0)
	f.Add("paired-fhs", "", "profile", "", "", 2)
	f.Add("fhs", "", "", "", "\n", 0)
	f.Fuzz(func(t *testing.T, sampler, grid, sizes, order, noise string, steps int) {
		s, err := catalog.New(catalog.Options{Sampler: sampler, Grid: grid, Sizes: sizes, Order: order, Noise: noise, Steps: min(steps, 1000)}, samplers.Spec{})
		var p plan.Plan
		if err == nil {
			err = s.Plan(&p, draw.NewStream(1, 1), upTo(5))
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		all := slices.Clone(p.Left)
		for _, b := range p.Blocks {
			all = append(all, b.Positions...)
		}
		slices.Sort(all)
		if !slices.Equal(all, upTo(5)) {
			t.Errorf("positions %v", all)
		}
	})
}

// TestDefaultsWork makes every grid sampler with each noise and each kind of grid
// from nothing but their names: a default must not be refused.
func TestDefaultsWork(t *testing.T) {
	for _, sampler := range []string{"euler", "tweedie", "tau-leaping"} {
		for _, noise := range schedule.Noises() {
			for _, grid := range []string{"uniform", "lambda", "paper", "cos2", "cosine"} {
				o := catalog.Options{Sampler: sampler, Grid: grid}
				_, err := catalog.New(o, samplers.Spec{Noise: noise})
				if err != nil {
					t.Errorf("%s with the %s noise on the %s grid: %v", sampler, noise, grid, err)
				}
			}
		}
	}
}
