package bench_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/laws"
	"mdmgen/analysis/quality"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// measure measures n texts; on, if not nil, is called with each.
func measure(ctx context.Context, e *bench.Errors, n int, seed uint64, on func(bench.ErrorSample) error) error {
	if on == nil {
		on = func(bench.ErrorSample) error { return nil }
	}
	return e.Measure(ctx, quality.Config{Samples: n, Seed: seed, Confidence: 0.95}, nil, on)
}

// TestErrors checks on worlds that distances from first-hitting equal those of enumerated laws
// within 4 standard errors, for samplers with and without a plan. A sampler without a likelihood
// gets a note with the reason.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"markov3-exact", "dirichlet3-noisy", "markov4-sharp"} {
		m := open(t, name)
		w := reftest.Must(laws.New(m.World))(t)
		all := cells(t, m, "fhs", "euler noise=exp steps=8-64*2", "tweedie grid=paper steps=8,32", "confidence steps=2 score=confidence,margin,random", "threshold threshold=0.7", "entropy-bounded gamma=0.3", "remdm steps=3")
		e := bench.GroupErrors(all)
		if len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "remdm") || !strings.Contains(e.Notes[0], "masks again") {
			t.Errorf("%s: notes %q", name, e.Notes)
		}
		reftest.OK(t, measure(t.Context(), e, 300, 2, nil))
		fhs, told := w.FHSLaw(), 0
		for i := range all[:len(all)-1] {
			metrics := e.Metrics(&all[i])
			law, err := w.SamplerLaw(all[i].Sampler)
			if err != nil || metrics == nil {
				t.Fatal(all[i].ID, err)
			}
			p := w.OnSequences(law)
			want := map[string]float64{"tv": laws.TV(fhs, p), "kl": laws.KL(fhs, p)}
			for _, metric := range metrics {
				v := metric.Value
				if x, known := want[metric.Name]; known {
					told++
					if math.Abs(v.Mean-x) > 4*v.SE+1e-9 {
						t.Errorf("%s, %s: %s %v, exact %v", name, all[i].ID, metric.Name, v, x)
					}
				}
				if metric.Name == "tv_collision_bound" && (v.Mean < want["tv"] || metric.Bound != "upper") {
					t.Errorf("%s, %s: TV %v above its bound %v", name, all[i].ID, want["tv"], v)
				}
			}
		}
		if told != 2*(len(all)-1) {
			t.Errorf("%s: %d distances of %d samplers", name, told, len(all)-1)
		}
	}
}

// TestErrorsOfCanvas checks that distances are those of the cell's own canvas: with a token given, of
// parallel-fhs in one group from the mean over both orders.
func TestErrorsOfCanvas(t *testing.T) {
	t.Parallel()
	m := open(t, "markov3-exact")
	w := reftest.Must(laws.New(m.World))(t)
	mask := m.Facts().MaskID
	setting := bench.Setting{Options: catalog.Options{Sampler: "parallel-fhs", Steps: 1}}
	all := []bench.Cell{reftest.Must(bench.NewCell(setting, m, []int{1, mask, mask}, 1))(t)}
	rows := w.Rows(1)
	at := w.Reveal(w.AllMask(), 0, 1)
	var fhs, once []float64
	for a, p := range w.Row(rows, at, 1) {
		for b, q := range w.Row(rows, at, 2) {
			once = append(once, p*q)
			fhs = append(fhs, (p*w.Row(rows, w.Reveal(at, 1, a), 2)[b]+q*w.Row(rows, w.Reveal(at, 2, b), 1)[a])/2)
		}
	}
	e := bench.GroupErrors(all)
	reftest.OK(t, measure(t.Context(), e, 300, 2, nil))
	metrics := e.Metrics(&all[0])
	if want := laws.TV(fhs, once); metrics == nil || want < 0.01 || math.Abs(metrics[0].Value.Mean-want) > 4*metrics[0].Value.SE {
		t.Errorf("%+v, want %v", metrics, want)
	}
}

// TestErrorsDeadline checks that a deadline leaves estimates from fewer samples, and that an error
// from the callback ends the run.
func TestErrorsDeadline(t *testing.T) {
	m := open(t, "xor3-mixed")
	all := cells(t, m, "fhs", "tweedie steps=4 batch=1,2", "tweedie steps=8 temperature=0.5", "ordered")
	e := bench.GroupErrors(all)
	var done []bench.ErrorSample
	keep := func(s bench.ErrorSample) error {
		done = append(done, s)
		return nil
	}
	if err := measure(context.Background(), e, 30, 9, keep); err != nil || len(done) != e.Work(30) || len(done) != 3*30 {
		t.Fatalf("%d samples of %d, %v", len(done), e.Work(30), err)
	}
	// The deadline passes with the last sample of the first of three groups.
	late := bench.GroupErrors(all)
	ctx, cancel := context.WithCancelCause(context.Background())
	made := 0
	stop := func(bench.ErrorSample) error {
		if made++; made == 30 {
			cancel(context.DeadlineExceeded)
		}
		return nil
	}
	err := measure(ctx, late, 30, 9, stop)
	for i, n := range map[int]int{0: 30, 3: 0, 4: 0} { // cells of the three groups
		if metrics := late.Metrics(&all[i]); err != nil || (metrics != nil) != (n > 0) || n > 0 && metrics[0].Value.N != n {
			t.Errorf("%s: %+v, %v, want %d samples", all[i].ID, metrics, err, n)
		}
	}
	full := errors.New("the disk is full")
	fails := func(bench.ErrorSample) error { return full }
	if err := measure(context.Background(), bench.GroupErrors(all), 30, 9, fails); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}

// TestErrorsOfTime checks that no sampling error is computed on a network with time, which
// first-hitting queries at random times, and that the note says so.
func TestErrorsOfTime(t *testing.T) {
	m := open(t, "timed3")
	all := cells(t, m, "fhs", "tweedie steps=4", "uniformization steps=4")
	e := bench.GroupErrors(all)
	const want = "The sampling error of fhs; tweedie steps=4; uniformization steps=4 is not computed: it queries this time-conditioned network at random times"
	if len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], want) || e.Work(30) != 0 {
		t.Errorf("%d samples, notes %q", e.Work(30), e.Notes)
	}
	reftest.OK(t, measure(t.Context(), e, 30, 2, func(bench.ErrorSample) error { return errors.New("a text is drawn") }))
	for i := range all {
		if metrics := e.Metrics(&all[i]); metrics != nil {
			t.Errorf("%s: %+v", all[i].ID, metrics)
		}
	}
}
