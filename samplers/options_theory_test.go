package samplers_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// profile is a loss profile of four positions: that of the reference world
// markov4-sharp, to four digits.
var profile = []float64{0.9976, 0.8715, 0.7830, 0.7148}

// TestTheorySettings: the records of the samplers of the theory, defaults filled in.
func TestTheorySettings(t *testing.T) {
	half := 0.5
	for _, test := range []struct {
		o      catalog.Options
		scores bool
		want   string
	}{
		{catalog.Options{Sampler: "uniformization", Kappa: 1}, false, `{"sampler":"uniformization","grid":"paper","steps":5,"kappa":1,"T":5,"delta":0.01,"finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "aatu", Grid: "uniform", Steps: 2, Noise: "loglinear"}, false, `{"sampler":"matu","grid":"uniform","steps":2,"noise":"loglinear","T":5,"delta":0.01,"finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "dmpm", Steps: 3, Finish: "leave"}, false, `{"sampler":"dmpm","grid":"uniform","steps":3,"noise":"exp","T":5,"delta":0.01,"finish":"leave","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 3}, false, `{"sampler":"trapezoidal","grid":"lambda","steps":3,"T":"inf","delta":0,"floor":0.1,"finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "trapezoidal", Grid: "profile", Steps: 3, Profile: profile, Floor: new(float64)}, false, `{"sampler":"trapezoidal","grid":"profile","steps":3,"T":"inf","delta":0,"floor":0,"finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "paired-fhs", Sizes: "cos2", Steps: 9, Floor: &half}, false, `{"sampler":"paired-fhs","steps":9,"sizes":"cos2","floor":0.5,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "paired-fhs", Sizes: "2,2"}, false, `{"sampler":"paired-fhs","sizes":"2,2","floor":0.1,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "truncated-tau", Grid: "lambda", Scores: "raw"}, true, `{"sampler":"tweedie","grid":"lambda","steps":128,"T":"inf","delta":0,"scores":"raw","finish":"denoise","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "ddpm", Grid: "lambda"}, true, `{"sampler":"tweedie","grid":"lambda","steps":128,"T":"inf","delta":0,"scores":"normalised","finish":"denoise","draw":"inverse","changes_law":false}`},
	} {
		s, err := catalog.New(test.o, samplers.Spec{LogScores: test.scores})
		if err != nil {
			t.Errorf("%+v: %v", test.o, err)
			continue
		}
		if got, err := json.Marshal(s.Settings()); err != nil || string(got) != test.want {
			t.Errorf("%+v: %s, %v\nwant %s", test.o, got, err, test.want)
		}
	}
	s := mustNew(t, catalog.Options{Sampler: "trapezoidal", Grid: "lambda", Steps: 3})
	if steps, ok := s.Steps(); !ok || steps.Rule != schedule.RuleTrapezoidal || steps.Grid.Steps() != 6 || math.Abs(steps.Grid.Lambda[1]-5.0/6) > 1e-15 {
		t.Errorf("half steps %+v", steps)
	}
}

// TestTheoryOptionErrors: wrong and unused options are refused with one line that
// names them.
func TestTheoryOptionErrors(t *testing.T) {
	two, nan := 2.0, math.NaN()
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{Sampler: "trapezoidal", Floor: &two}, "floor is 2"},
		{catalog.Options{Sampler: "trapezoidal", Floor: &nan}, "floor is NaN"},
		{catalog.Options{Sampler: "tweedie", Floor: new(float64)}, "does not use floor"},
		{catalog.Options{Sampler: "tweedie", Scores: "cooked"}, "scores is cooked: must be one of normalised, raw"},
		{catalog.Options{Sampler: "tau", Tau: "one", Scores: "raw"}, "does not use scores"},
		{catalog.Options{Sampler: "dmpm", Scores: "raw"}, "does not use scores"},
		{catalog.Options{Sampler: "uniformization", Noise: "exp"}, "does not use noise"},
		{catalog.Options{Sampler: "uniformization", Kappa: 0.1, Steps: 3}, "does not use steps"},
		{catalog.Options{Sampler: "trapezoidal", Kappa: 0.1}, "does not use kappa"},
		{catalog.Options{Sampler: "paired-fhs", Sizes: "1,2", Steps: 3}, "does not use steps"},
		{catalog.Options{Sampler: "paired-fhs", Grid: "lambda"}, "does not use grid"},
		{catalog.Options{Sampler: "tweedie", Grid: "profile"}, "no loss profile"},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "profile"}, "no loss profile"},
		{catalog.Options{Sampler: "parallel-fhs", Sizes: "profile", Profile: []float64{1, nan}}, "with 1 visible is NaN"},
		{catalog.Options{Sampler: "tweedie", Grid: "profile", Profile: []float64{-1}}, "with 0 visible is -1"},
		{catalog.Options{Sampler: "tweedie", Grid: "lambda", Profile: profile}, "leave it out"},
		{catalog.Options{Profile: profile}, "leave it out"},
	} {
		_, err := catalog.New(test.o, samplers.Spec{LogScores: true})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v: want one line with %q", test.o, err, test.want)
		}
	}
}

// TestProfileGrid: the grid named profile is the best one of the profile, taken to the
// ends that the sampler has.
func TestProfileGrid(t *testing.T) {
	best, _ := schedule.BestGrid(profile, 3)
	s := mustNew(t, catalog.Options{Sampler: "tweedie", Grid: "profile", Profile: profile, Steps: 3})
	if steps, _ := s.Steps(); !slices.Equal(steps.Grid.Lambda, best) {
		t.Errorf("grid %v, want %v", steps.Grid.Lambda, best)
	}
	T, delta := 3.0, 0.1
	s = mustNew(t, catalog.Options{Sampler: "euler", Grid: "profile", Profile: profile, Steps: 3, T: (*catalog.Theta)(&T), Delta: (*catalog.Theta)(&delta)})
	steps, _ := s.Steps()
	first, last := -math.Expm1(-T), -math.Expm1(-delta)
	for k, x := range best {
		if want := last + (first-last)*x; math.Abs(steps.Grid.Lambda[k]-want) > 1e-15 {
			t.Errorf("λ_%d = %v, want %v", k, steps.Grid.Lambda[k], want)
		}
	}
}

// TestProfileSizes: sizes are the best ones for as many positions as are free, the
// loss being a function of the visible fraction; they do not depend on what was asked
// before, or by whom.
func TestProfileSizes(t *testing.T) {
	sizes := func(s *catalog.Sampler, d int) []int {
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(d))
		var out []int
		for _, b := range p.Blocks {
			out = append(out, len(b.Positions))
		}
		return out
	}
	for _, name := range []string{"parallel-fhs", "paired-fhs"} {
		s := mustNew(t, catalog.Options{Sampler: name, Sizes: "profile", Profile: profile, Steps: 3})
		// Twice as finely spaced, the loss is linear between the values of the profile.
		fine := []float64{profile[0], (profile[0] + profile[1]) / 2, profile[1], (profile[1] + profile[2]) / 2, profile[2], (profile[2] + profile[3]) / 2, profile[3]}
		for d, c := range map[int][]float64{4: profile, 7: fine, 2: {profile[0], profile[3]}, 1: profile[:1]} {
			want, _ := schedule.BestSizes(c, 3)
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(func() {
					if got := sizes(s, d); !slices.Equal(got, want) {
						t.Errorf("%s, d = %d: sizes %v, want %v", name, d, got, want)
					}
				})
			}
			wait.Wait()
			if calls, _, err := s.ExpectedCalls(d); err != nil || calls != float64(len(want)) {
				t.Errorf("%s, d = %d: expects %v calls, %v, want %d", name, d, calls, err, len(want))
			}
		}
	}
	want, _ := schedule.BestSizes(slices.Repeat([]float64{2}, 6), 2)
	if got := sizes(mustNew(t, catalog.Options{Sampler: "parallel-fhs", Sizes: "profile", Profile: []float64{2}, Steps: 2}), 6); !slices.Equal(got, want) {
		t.Errorf("a profile of one value: sizes %v, want %v", got, want)
	}
}

// TestLookBackTimes: paired FHS asks a time-conditioned network at λ = m/d,
// and at the end of its noise where it has no row at λ = 1.
func TestLookBackTimes(t *testing.T) {
	for _, test := range []struct {
		c     samplers.Spec
		first float64
	}{
		{samplers.Spec{TimeConditioned: true, InfiniteSigma: true}, 1},
		{samplers.Spec{TimeConditioned: true}, -math.Expm1(-5)},
		{samplers.Spec{TimeConditioned: true, Noise: "loglinear"}, 1 - 1e-3},
	} {
		s, err := catalog.New(catalog.Options{Sampler: "paired-fhs", Sizes: "2,1,3"}, test.c)
		if err != nil {
			t.Fatal(err)
		}
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(6))
		for i, want := range []float64{test.first, 4.0 / 6, 3.0 / 6} {
			if b := p.Blocks[i]; math.Abs(b.Lambda-want) > 1e-12 {
				t.Errorf("block %d is asked at λ = %v, want %v", i, b.Lambda, want)
			}
		}
	}
}

// TestLookBackWeights checks which blocks look back, and how far.
func TestLookBackWeights(t *testing.T) {
	for _, test := range []struct {
		sizes string
		want  []float64
	}{
		{"2,2,1,3,4", []float64{0, 0.5, 0, 1, 0}},
		{"1,1,1", []float64{0, 0, 0}},
		{"1,2", []float64{0, 0.5}},
	} {
		s := mustNew(t, catalog.Options{Sampler: "paired-fhs", Sizes: test.sizes})
		d := 0
		for _, size := range strings.Split(test.sizes, ",") {
			d += int(size[0] - '0')
		}
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(d))
		for i, b := range p.Blocks {
			if b.Weight != test.want[i] || b.Weight != 0 && b.Floor != plan.DefaultFloor || i > 0 && slices.Equal(p.Blocks[i-1].Ahead, b.Positions) != (b.Weight != 0) {
				t.Errorf("%s: block %d has weight %v, floor %v, want %v", test.sizes, i, b.Weight, b.Floor, test.want[i])
			}
		}
	}
}
