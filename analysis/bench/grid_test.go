package bench_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

func ids(settings []bench.Setting) string {
	var out []string
	for _, s := range settings {
		out = append(out, s.ID())
	}
	return strings.Join(out, "; ")
}

func TestCross(t *testing.T) {
	for _, c := range []struct {
		names string
		axes  []bench.Axis
		want  string
	}{
		{"fhs,ddpm", []bench.Axis{{Key: "steps", Values: "8-16*2"}}, "fhs; tweedie steps=8; tweedie steps=16"},
		{"tweedie", []bench.Axis{{Key: "steps", Values: "8"}, {Key: "grid", Values: "uniform,theta:5,1,0"}}, "tweedie grid=uniform steps=8; tweedie grid=theta:5,1,0"},
		{"euler", []bench.Axis{{Key: "grid", Values: "paper"}, {Key: "kappa", Values: "0.1,0.2"}}, "euler grid=paper kappa=0.1; euler grid=paper kappa=0.2"},
		{"parallel-fhs", []bench.Axis{{Key: "sizes", Values: "cos2, 4,2"}, {Key: "steps", Values: "3"}}, "parallel-fhs sizes=cos2 steps=3; parallel-fhs sizes=4,2"},
		{"parallel-fhs", []bench.Axis{{Key: "sizes", Values: "cos2,equal"}, {Key: "steps", Values: "3"}}, "parallel-fhs sizes=cos2 steps=3; parallel-fhs sizes=equal steps=3"},
		{"parallel-fhs", []bench.Axis{{Key: "sizes", Values: "4,2"}, {Key: "batch", Values: "1,4"}}, "parallel-fhs sizes=4,2 batch=1; parallel-fhs sizes=4,2 batch=4"},
		{"fhs", []bench.Axis{{Key: "steps", Values: "8", Optional: true}, {Key: "temperature", Values: "0.5-1+0.5"}}, "fhs temperature=0.5; fhs temperature=1"},
		{"fhs", []bench.Axis{{Key: "threads", Values: "1,2"}, {Key: "length", Values: "8"}}, "fhs length=8 threads=1; fhs length=8 threads=2"},
	} {
		got, err := bench.Cross(strings.Split(c.names, ","), c.axes)
		if err != nil || ids(got) != c.want {
			t.Errorf("%s %v: %s, %v\nwant %s", c.names, c.axes, ids(got), err, c.want)
		}
	}
	for _, c := range []struct {
		names string
		axes  []bench.Axis
		want  string
	}{
		{"nobody", nil, "must be one of fhs"},
		{"fhs,fhs", nil, "twice"},
		{"fhs", []bench.Axis{{Key: "steps", Values: "8"}}, "no sampler of fhs uses it"},
		{"euler", []bench.Axis{{Key: "kappa", Values: "0.1"}}, "kappa"},
		{"fhs", []bench.Axis{{Key: "colour", Values: "8"}}, "not a key"},
		{"fhs", []bench.Axis{{Key: "batch", Values: "8"}, {Key: "batch", Values: "9"}}, "given twice"},
		{"tweedie", []bench.Axis{{Key: "grid", Values: "hexagon"}, {Key: "steps", Values: "8"}}, "hexagon"},
		{"tweedie", []bench.Axis{{Key: "grid", Values: "uniform,,paper"}}, "empty"},
		{"fhs", []bench.Axis{{Key: "temperature", Values: "NaN"}}, "temperature"},
		{"tweedie", []bench.Axis{{Key: "steps", Values: "1-4000"}, {Key: "batch", Values: "1,2"}}, "at most 4096"},
	} {
		reftest.Fails(t, reftest.Err(bench.Cross(strings.Split(c.names, ","), c.axes)), c.want, c.names, c.axes)
	}
}

// TestKeys checks that a case can set every option of every sampler, and that the option is part of
// its ID.
func TestKeys(t *testing.T) {
	for _, o := range catalog.AllOptions() {
		if !slices.Contains(bench.Keys(), o.Name) {
			t.Errorf("no key for --%s", o.Name)
		}
		for _, value := range []string{"7", "0.5"} {
			s := bench.Setting{Options: catalog.Options{Sampler: "fhs"}}
			if s.Options.Set(o.Name, value) == nil && s.ID() != "fhs "+o.Name+"="+value {
				t.Errorf("--%s %s is %q", o.Name, value, s.ID())
			}
		}
	}
}

func TestParseCase(t *testing.T) {
	got, err := bench.ParseCase("  ancestral steps=8,16 grid=paper noise=exp batch=2 ")
	if want := "tweedie grid=paper steps=8 batch=2; tweedie grid=paper steps=16 batch=2"; err == nil && ids(got) == want {
		t.Errorf("tweedie on the paper's grid uses no noise, but took it")
	}
	got, err = bench.ParseCase("euler steps=8,16 grid=paper noise=exp batch=2")
	if want := "euler grid=paper noise=exp steps=8 batch=2; euler grid=paper noise=exp steps=16 batch=2"; err != nil || ids(got) != want {
		t.Errorf("%s, %v", ids(got), err)
	}
	for _, in := range []string{"", "  ", "steps=8", "fhs steps=8", "tweedie steps", "tweedie =8", "tweedie steps=", "tweedie steps=8 steps=9", "tweedie colour=red", "tweedie steps=8-4", "tweedie T=NaN", "tweedie steps=8 top-p=2"} {
		reftest.FailsInLine(t, reftest.Err(bench.ParseCase(in)), "", in)
	}
}

// FuzzParseCase checks that a setting's ID is a case that parses to the same setting.
func FuzzParseCase(f *testing.F) {
	for _, s := range []string{"fhs", "tweedie steps=8-64*2 grid=cos2,lambda", "euler grid=theta:5,1,0.01", "ordered order=2,1,0", "parallel-fhs sizes=3,1 batch=4 threads=1,2", "euler T=inf delta=0 kappa=1e-3 grid=paper"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		settings, err := bench.ParseCase(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %q", s, err)
			}
			return
		}
		if len(settings) == 0 || len(settings) > bench.MaxCells {
			t.Fatalf("%q: %d settings", s, len(settings))
		}
		for _, x := range settings[:min(len(settings), 16)] {
			again, err := bench.ParseCase(x.ID())
			if err != nil || len(again) != 1 || again[0].ID() != x.ID() {
				t.Fatalf("%q has %q, which reads as %s, %v", s, x.ID(), ids(again), err)
			}
		}
	})
}

// TestAtCalls checks that the number of steps gives the nearest expected calls, and that the error
// names the nearest if they are not near.
func TestAtCalls(t *testing.T) {
	for _, c := range []struct {
		text     string
		d, calls int
		want     string
	}{
		{"parallel-fhs", 16, 4, "parallel-fhs steps=4"},
		{"tweedie noise=loglinear", 8, 2, "tweedie noise=loglinear steps=2"},
		{"tweedie noise=loglinear", 8, 4, "tweedie noise=loglinear steps=5"},
		{"tweedie noise=loglinear", 8, 8, "tweedie noise=loglinear steps=173"}, // 8 take infinitely many; 7.84 suffice
		{"euler noise=exp grid=paper", 8, 2, "euler grid=paper noise=exp steps=2"},
		{"confidence", 16, 4, "confidence steps=4"},
		{"fhs", 8, 8, "fhs"},
		{"fhs", 8, 4, "samplers: has no number of steps"},
		{"parallel-fhs", 8, 16, "samplers: parallel-fhs with 4096 steps makes 8"},
		{"confidence block-length=4", 16, 8, "confidence block-length=4 steps=5"}, // as many calls as for 8: 2 a block
		{"confidence rule=dream", 16, 4, "confidence rule=dream steps=4"},
		{"remdm", 16, 4, "remdm steps=4"},
		{"p2", 8, 15, "p2 steps=16"},
		{"fhs cache=window:4", 8, 8, "fhs cache=window:4"},
		{"parallel-fhs cache=window:4", 16, 4, "parallel-fhs cache=window:4 steps=4"},
		{"fhs lookahead=4", 8, 4, "samplers: its number of calls depends on the network's rows"},
		{"remdm remask=conf", 8, 4, "samplers: its number of calls depends on the network's rows"},
		{"threshold", 8, 4, "samplers: its number of calls depends on the network's rows"},
	} {
		s := reftest.Must(bench.ParseCase(c.text))(t)[0]
		var err error
		s.Options.Steps, _, err = catalog.AtCalls(s.Options, samplers.Spec{}, c.d, c.calls)
		got := s.ID()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %d calls over %d: %s, want %s", c.text, c.calls, c.d, got, c.want)
		}
	}
}

// TestExpectedCalls compares the expected calls of samplers without a plan, from which steps are
// computed, with the enumeration of a world or, if every run makes the same number, with a run.
func TestExpectedCalls(t *testing.T) {
	t.Parallel()
	m := open(t, "markov3-exact")
	canvas := slices.Repeat([]int{m.Spec().Mask}, m.Facts().Length)
	for _, c := range []struct {
		text    string
		counted bool // by enumeration
	}{
		{"remdm steps=3", true}, {"remdm steps=5 remask=rescale eta=0.3", true}, {"remdm steps=4 remask=loop", true}, {"remdm steps=3 remask=forward-backward", true}, {"remdm steps=2 remask=dfm", true},
		{"p2 steps=2", false}, {"p2 steps=7", false}, {"confidence steps=2", false}, {"confidence steps=3 rule=dream", false}, {"confidence steps=5 rule=dllm schedule=cosine", false}, {"confidence steps=4 block-length=2", false},
	} {
		cell := cells(t, m, c.text)[0]
		calls, finish, err := cell.Sampler.ExpectedCalls(len(canvas))
		reftest.OK(t, err)
		var want float64
		if c.counted {
			_, want, err = cell.Sampler.Outcomes(t.Context(), m, canvas, 1e6)
		} else {
			_, err = samplers.Sample(t.Context(), m, slices.Values([]samplers.Sequence{{Canvas: canvas}}), samplers.Config{Method: cell.Sampler, Seed: 1}, func(r samplers.Result) error {
				want = float64(r.Calls)
				return nil
			})
		}
		if err != nil || math.Abs(calls+finish-want) > 1e-12*want {
			t.Errorf("%s: %v calls, want %v, %v", c.text, calls+finish, want, err)
		}
	}
}
