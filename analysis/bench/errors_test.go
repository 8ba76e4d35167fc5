package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/model"
	"mdmgen/samplers/draw"
)

func errorConfig(m model.Model, samples int, seed uint64) bench.ErrorConfig {
	return bench.ErrorConfig{
		Target: likelihood.Whole(make([]int, m.Facts().Length)), Samples: samples, Seed: seed, Confidence: 0.95,
		Evaluator: func(d draw.Settings) (*likelihood.Evaluator, error) {
			return likelihood.New(m, likelihood.Options{Draw: d})
		},
	}
}

// exactDistances are the TV and KL distances of a sampler's law from first-hitting's, by enumeration.
func exactDistances(t *testing.T, w *laws.World, c *bench.Cell) (tv, kl float64) {
	t.Helper()
	steps, ok := c.Sampler.Steps()
	if !ok {
		t.Fatalf("%s has no grid", c.ID)
	}
	fhs, law := w.FHSLaw(), w.Run(steps).Denoised
	return laws.TV(fhs, law), laws.KL(fhs, law)
}

// TestErrors: on worlds, distances equal the exact ones within 4 standard errors.
func TestErrors(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "markov3-exact", "dirichlet3-noisy", "markov4-sharp", "parity4-exact", "pairs4-exact"} {
		t.Run(name, func(t *testing.T) {
			m := open(t, name)
			w, err := laws.New(m.World)
			if err != nil {
				t.Fatal(err)
			}
			all := cells(t, m, "fhs", "euler noise=exp steps=8-64*2", "tweedie noise=exp steps=8-64*2", "tweedie grid=paper steps=8-64*2")
			e := bench.GroupErrors(all, m.Facts().Length)
			if err := e.Measure(context.Background(), errorConfig(m, 400, 2)); err != nil {
				t.Fatal(err)
			}
			for i := range all[1:] {
				c := &all[1+i]
				q, ok := e.Quality(c)
				if !ok || q.Cell != c.ID {
					t.Fatalf("%s: %+v", c.ID, q)
				}
				tv, kl := exactDistances(t, w, c)
				for _, metric := range q.Metrics {
					v := metric.Value
					switch metric.Name {
					case "tv":
						if math.Abs(v.Mean-tv) > 4*v.SE+1e-12 {
							t.Errorf("%s: TV %v, exact %v", c.ID, v, tv)
						}
					case "kl":
						if math.Abs(v.Mean-kl) > 4*v.SE+1e-12 {
							t.Errorf("%s: KL %v, exact %v", c.ID, v, kl)
						}
					case "tv_collision_bound":
						if v.Mean < tv || metric.Bound != "upper" {
							t.Errorf("%s: TV %v above its bound %v", c.ID, tv, v)
						}
					}
				}
			}
			if q, ok := e.Quality(&all[0]); !ok || q.Metrics[0].Value.Mean != 0 {
				t.Errorf("fhs: %+v", q)
			}
		})
	}
}

// TestErrorsResume: samples that were made are taken as they are; those that a deadline cut off
// leave estimates of fewer.
func TestErrorsResume(t *testing.T) {
	m := open(t, "xor3-mixed")
	all := cells(t, m, "fhs", "tweedie steps=4 batch=1,2", "tweedie steps=8 temperature=0.5", "ordered")
	e := bench.GroupErrors(all, 3)
	var done []bench.ErrorSample
	cfg := errorConfig(m, 30, 9)
	cfg.OnSample = func(s bench.ErrorSample) error {
		done = append(done, s)
		return nil
	}
	if err := e.Measure(context.Background(), cfg); err != nil || len(done) != e.Work(cfg) || len(done) != 3*30 {
		t.Fatalf("%d samples of %d, %v", len(done), e.Work(cfg), err)
	}
	line, err := json.Marshal(done)
	if err != nil {
		t.Fatal(err)
	}
	var read []bench.ErrorSample
	if err := json.Unmarshal(line, &read); err != nil || !reflect.DeepEqual(read, done) {
		t.Fatalf("samples do not survive JSON: %v", err)
	}
	again := bench.GroupErrors(all, 3)
	cfg.Done, cfg.OnSample = read[:41], nil
	if err := again.Measure(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		a, _ := e.Quality(&all[i])
		b, ok := again.Quality(&all[i])
		if !ok || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, and resumed %+v", all[i].ID, a, b)
		}
	}
	late := bench.GroupErrors(all, 3)
	ctx, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	err = late.Measure(ctx, cfg)
	for i, n := range map[int]int{0: 30, 3: 11, 4: 0} { // cells of the three groups
		if q, ok := late.Quality(&all[i]); err != nil || ok != (n > 0) || ok && q.Metrics[0].Value.N != n {
			t.Errorf("%s: %+v, %v, want %d samples", all[i].ID, q, err, n)
		}
	}
	full := errors.New("the disk is full")
	cfg.Done, cfg.OnSample = nil, func(bench.ErrorSample) error { return full }
	if err := bench.GroupErrors(all, 3).Measure(context.Background(), cfg); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}
