package catalog_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/rank"
	"mdmgen/samplers/remask"
	"mdmgen/samplers/schedule"
)

// TestDefaults checks the options in effect if none are given.
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
		{"a noise given", catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Noise: "geometric"}}, loglinear, 20, 1e-4, "geometric"},
		{"linear reaches infinity", catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Noise: "linear"}}, samplers.Spec{}, inf, 0, "linear"},
		{"paper's grid", catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "paper"}}, loglinear, 5, 0.01, "loglinear"},
		{"tweedie on lambda", catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, loglinear, inf, 0, ""},
		{"tweedie on cos2, time-conditioned", catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "cos2"}}, timed, 5, 0, ""},
		{"euler on lambda", catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, loglinear, -math.Log(1e-3), 0, "loglinear"},
		{"a list", catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "theta:3,1,0.5"}}, samplers.Spec{}, 3, 0.5, ""},
		{"kappa", catalog.Options{Sampler: "tau", PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.5}}, samplers.Spec{}, 5, 0.01, "exp"},
	} {
		s, err := catalog.New(test.o, test.c)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := s.Settings()
		if float64(*got.T) != test.T || float64(*got.Delta) != test.delta || got.Noise != test.noise || got.Finish != "denoise" || !lawstest.Method(t, s).Denoise {
			t.Errorf("%s: T %v, delta %v, noise %q, finish %q; want %v, %v, %q", test.name, *got.T, *got.Delta, got.Noise, got.Finish, test.T, test.delta, test.noise)
		}
		steps, ok := s.Grid()
		if !ok || steps.Grid.Steps() != got.Steps || test.o.Steps == 0 && test.o.Kappa == 0 && !strings.Contains(test.o.Grid, ":") && got.Steps != 128 {
			t.Errorf("%s: %d steps", test.name, got.Steps)
		}
	}
	s := lawstest.New(t, catalog.Options{})
	if got := s.Settings(); got.Sampler != "fhs" || got.T != nil || got.Steps != 0 || got.Finish != "" {
		t.Errorf("fhs: settings %+v", got)
	}
}

// TestSamplerString checks that a sampler's string includes the options that change its law.
func TestSamplerString(t *testing.T) {
	spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 4, Mask: 3}}
	for want, o := range map[string]catalog.Options{
		"fhs":                                 {},
		"confidence 128 steps block-length 4": {Sampler: "confidence", LayerOptions: catalog.LayerOptions{BlockLength: 4}},
		"ordered left-to-right guidance 0.5":  {Sampler: "ordered", LayerOptions: catalog.LayerOptions{Guidance: 0.5}},
		"fhs guidance -0.5 correct gibbs:1x2": {LayerOptions: catalog.LayerOptions{Guidance: -0.5, Correct: "gibbs:1x2"}},
	} {
		if s, err := catalog.New(o, spec); err != nil || s.String() != want {
			t.Errorf("%v, %v, want %s", s, err, want)
		}
	}
}

// TestSettingsJSON checks that a record holds exactly the options in effect, including an infinite T.
func TestSettingsJSON(t *testing.T) {
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{}, `{"sampler":"fhs","draw":"inverse","changes_law":false}`},
		{catalog.Options{Draw: draw.Settings{TopP: 1}}, `{"sampler":"fhs","draw":"inverse","top_p":1,"changes_law":false}`},
		{catalog.Options{Draw: draw.Settings{Temperature: new(0.0)}}, `{"sampler":"fhs","draw":"inverse","temperature":0,"changes_law":true}`},
		{catalog.Options{Sampler: "ddpm", Steps: 7, PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, `{"sampler":"tweedie","grid":"lambda","T":"inf","delta":0,"finish":"denoise","steps":7,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "tau", PlanOptions: catalog.PlanOptions{Tau: "one", Grid: "paper", Kappa: 1}}, `{"sampler":"tau-leaping","grid":"paper","kappa":1,"noise":"exp","T":5,"delta":0.01,"tau":"one","finish":"denoise","steps":5,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,1"}}, `{"sampler":"parallel-fhs","sizes":"3,1","draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "ordered", Draw: draw.Settings{TopK: 2}}, `{"sampler":"ordered","order":"left-to-right","draw":"inverse","top_k":2,"changes_law":true}`},
		{catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Kappa: 1}}, `{"sampler":"uniformization","grid":"paper","kappa":1,"T":5,"delta":0.01,"finish":"denoise","steps":5,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "aatu", Steps: 2, PlanOptions: catalog.PlanOptions{Grid: "uniform", Noise: "loglinear"}}, `{"sampler":"matu","grid":"uniform","noise":"loglinear","T":5,"delta":0.01,"finish":"denoise","steps":2,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "dmpm", Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave"}}, `{"sampler":"dmpm","grid":"uniform","noise":"exp","T":5,"delta":0.01,"finish":"leave","steps":3,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "parallel-fhs", Steps: 9, PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}, `{"sampler":"parallel-fhs","sizes":"cos2","steps":9,"draw":"inverse","changes_law":false}`},
		{catalog.Options{Sampler: "truncated-tau", PlanOptions: catalog.PlanOptions{Grid: "lambda"}}, `{"sampler":"tweedie","grid":"lambda","T":"inf","delta":0,"finish":"denoise","steps":128,"draw":"inverse","changes_law":false}`},
	} {
		s, err := catalog.New(test.o, samplers.Spec{})
		if err != nil {
			t.Errorf("%+v: %v", test.o, err)
			continue
		}
		if got, err := json.Marshal(s.Settings()); err != nil || string(got) != test.want {
			t.Errorf("%+v: %s, %v\nwant %s", test.o, got, err, test.want)
		}
	}
}

// TestOptionErrors checks that invalid options, and those that a sampler does not use, are rejected with
// one line that names them. TestEveryOption covers words and numbers that are not values of an option.
func TestOptionErrors(t *testing.T) {
	spec := lawstest.NewHashNet(false).Spec()
	for _, test := range []struct {
		o    catalog.Options
		want string
	}{
		{catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Grid: "lambda", Delta: new(catalog.Theta(0.0))}}, "delta is 0"},
		{catalog.Options{Sampler: "matu", PlanOptions: catalog.PlanOptions{Grid: "theta:3,1,0"}}, "delta is 0"},
		{catalog.Options{Sampler: "matu", PlanOptions: catalog.PlanOptions{Grid: "lambda", T: new(catalog.Theta(math.Inf(1)))}}, "T is infinite"},
		{catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Grid: "lambda:1,0.5"}}, "T is infinite"},
		{catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Delta: new(catalog.Theta(0.0))}}, "delta is 0"},
		{catalog.Options{Sampler: "gibbs"}, `"gibbs"`},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "hex"}}, `"hex"`},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "theta:1,x"}}, `"x"`},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "sigma:1,0"}}, "theta: or lambda:"},
		{catalog.Options{Sampler: "euler", Steps: -1}, "steps is -1"},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Delta: new(catalog.Theta(-1.0))}}, "delta is -1"},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Noise: "loglinear", T: new(catalog.Theta(9.0))}}, "0..6.90776"},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Noise: "cosine", Delta: new(catalog.Theta)}}, "step 127"},
		{catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,0"}}, "at least 1"},
		{catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "many"}}, `"many"`},
		{catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "1,1"}}, "position 1 appears twice"},
		{catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "1,-2"}}, "at least 0"},
		{catalog.Options{Steps: -1, Draw: draw.Settings{TopP: 2, TopK: -1}}, "steps is -1: must be"},
		{catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Threshold: math.NaN()}}, "threshold is NaN"},
		{catalog.Options{Sampler: "entropy-bounded", RankOptions: catalog.RankOptions{Gamma: new(math.NaN())}}, "gamma is NaN"},
		{catalog.Options{Sampler: "uniformization", PlanOptions: catalog.PlanOptions{Noise: "exp"}}, "does not use noise"},
		{catalog.Options{Sampler: "uniformization", Steps: 3, PlanOptions: catalog.PlanOptions{Kappa: 0.1}}, "does not use steps"},
		{catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Score: rank.ByEntropy}}, `score "entropy"`},
		{catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Rule: schedule.RoundLLaDA}}, `rule "llada": must be dream or dllm`},
		{catalog.Options{Sampler: "confidence", RankOptions: catalog.RankOptions{Rule: schedule.RoundDLLM, Schedule: "square", Columns: "all"}}, "schedule is square: must be one of linear, cosine; columns is all"},
		{catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{Reach: "inside"}}, "does not use reach"},
		{catalog.Options{Sampler: "threshold", Draw: draw.Settings{SuppressTokens: "7"}}, "suppress-tokens: id 7: must be in 0..6"},
		{catalog.Options{Sampler: "threshold", Draw: draw.Settings{SuppressTokens: "0,1,2,3,5"}}, "all of 7 columns are excluded: no token is left"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{NegativeTokens: "1"}}, "does not use negative-tokens"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{MinLength: 1}}, "min-length 1: give stop too, the id of the token"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{MaxLength: 9}}, "does not use max-length"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{BadWordsIDs: "1 2,,3"}}, "a word without tokens"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{BadWordsIDs: "1 9"}}, "bad-words-ids: id 9: must be in 0..6"},
		{catalog.Options{Sampler: "threshold", RankOptions: catalog.RankOptions{BeginSuppressTokens: "x"}}, `begin-suppress-tokens: must be a list of ids: "x"`},
		{catalog.Options{Sampler: "threshold", Steps: 3}, "does not use steps"},
		{catalog.Options{Sampler: "llada2", RankOptions: catalog.RankOptions{PostSteps: 3}}, "does not use post-steps"},
		{catalog.Options{LayerOptions: catalog.LayerOptions{Correct: "gibbs:2"}}, `correct "gibbs:2": must be gibbs:MxN`},
		{catalog.Options{LayerOptions: catalog.LayerOptions{Correct: "mh:2x1"}}, `correct "mh:2x1"`},
		{catalog.Options{LayerOptions: catalog.LayerOptions{Correct: "gibbs:0x1"}}, `correct "gibbs:0x1"`},
		{catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Eta: 2}}, "eta 2: is a probability in remdm: must be at most 1"},
		{catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskConf, Eta: 0.1}}, "does not use eta"},
		{catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskLoop, TOn: new(0.01)}}, "t-off 0.05, t-on 0.01"},
		{catalog.Options{Sampler: "remdm", RemaskOptions: catalog.RemaskOptions{Remask: remask.RemaskLoop, Eta: 0.5}}, "eta 0.5 with alpha-on 0.9"},
		{catalog.Options{Steps: 3, PlanOptions: catalog.PlanOptions{Finish: "leave", T: new(catalog.Theta(3.0))}}, "fhs does not use T, finish, steps"},
		{catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda", Noise: "linear"}}, "noise"},
		{catalog.Options{Sampler: "euler", PlanOptions: catalog.PlanOptions{Kappa: 0.1}}, "kappa"},
		{catalog.Options{Sampler: "euler", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.1}}, "steps"},
		{catalog.Options{Sampler: "euler", Steps: 3, PlanOptions: catalog.PlanOptions{Grid: "theta:2,1", Delta: new(catalog.Theta(3.0))}}, "delta, steps"},
		{catalog.Options{Sampler: "parallel-fhs", Steps: 3, PlanOptions: catalog.PlanOptions{Sizes: "1,2"}}, "steps"},
	} {
		reftest.FailsInLine(t, reftest.Err(catalog.New(test.o, spec)), test.want, test.o)
	}
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "euler"}, samplers.Spec{Noise: "pink"})), "", "a model with noise pink was accepted")
}

// TestDefaultsWork makes every sampler with a grid, with each noise and each kind of grid, by name
// only: no default may be rejected.
func TestDefaultsWork(t *testing.T) {
	for _, sampler := range []string{"euler", "tweedie", "tau-leaping", "uniformization", "matu", "dmpm"} {
		for _, noise := range schedule.Noises() {
			for _, grid := range []string{"", "uniform", "lambda", "paper", "cos2", "cosine"} {
				for _, timed := range []bool{false, true} {
					if timed && noise == "linear" && sampler != "uniformization" && sampler != "matu" {
						continue // It ends at T = ∞, where the network has no row.
					}
					reftest.Must(catalog.New(catalog.Options{Sampler: sampler, PlanOptions: catalog.PlanOptions{Grid: grid}}, samplers.Spec{Noise: noise, TimeConditioned: timed}))(t, sampler, grid, noise, timed)
				}
			}
		}
	}
}

// TestInfiniteT checks that the linear noise reaches T = ∞ at t = 1, and the exp noise never does.
func TestInfiniteT(t *testing.T) {
	inf := math.Inf(1)
	reftest.OK(t, reftest.Err(catalog.New(catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{Noise: "linear", T: new(catalog.Theta(inf))}}, samplers.Spec{})), "euler, linear noise")
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "euler", Steps: 4, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(inf))}}, samplers.Spec{})), "", "euler, exp noise: an infinite T was accepted")
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tau-leaping", PlanOptions: catalog.PlanOptions{Grid: "theta:inf,1,0.1"}}, samplers.Spec{})), "", "tau-leaping on a list: an infinite T was accepted")
	timed := samplers.Spec{TimeConditioned: true}
	reftest.Fails(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda", T: new(catalog.Theta(inf))}}, timed)), "finite T", "time-conditioned")
	timed.InfiniteSigma = true
	reftest.OK(t, reftest.Err(catalog.New(catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda", T: new(catalog.Theta(inf))}}, timed)), "time-conditioned with rows at infinity")
}

// TestDraftingCache checks that wino and look-ahead, which query other canvases than the
// sequence's, are rejected with a cache, whose keys and values are of the sequence's canvas.
// Options that were not set are not named.
func TestDraftingCache(t *testing.T) {
	const others = ": it also queries other canvases: "
	for _, c := range []struct {
		o    catalog.Options
		spec samplers.Spec
		want string
	}{
		{catalog.Options{Sampler: "wino", Cache: "dual"}, samplers.Spec{}, "cache dual cannot be combined with the sampler wino" + others + "choose another sampler"},
		{catalog.Options{Sampler: "wino"}, samplers.Spec{BlockSize: 4}, "of a block-causal network cannot be combined with the sampler wino" + others + "choose another sampler"},
		{catalog.Options{Sampler: "threshold", Lookahead: 2, Draw: draw.Settings{Temperature: new(0.0)}}, samplers.Spec{BlockSize: 4},
			"of a block-causal network cannot be combined with the sampler threshold with lookahead" + others + "leave lookahead out"},
	} {
		c.o.BlockLength = 4
		if _, err := catalog.New(c.o, c.spec); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s, blocks of %d: error %v, want %s", c.o.Sampler, c.spec.BlockSize, err, c.want)
		}
	}
}
