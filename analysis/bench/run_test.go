package bench_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// table is a world as a model.
type table struct {
	*world.World
	// delay is the duration of a call.
	delay time.Duration
	calls int
}

func (t *table) Close() error { return nil }

func (t *table) Rows(ctx context.Context, c samplers.Call) (draw.Row, error) {
	t.calls++
	if t.delay > 0 {
		select {
		case <-time.After(t.delay):
		case <-ctx.Done():
			return draw.Row{}, ctx.Err()
		}
	}
	return t.World.Rows(ctx, c)
}

var _ model.Model = (*table)(nil)

func open(t testing.TB, name string) *table {
	t.Helper()
	return &table{World: reftest.Must(world.Open(reftest.Law(t, name)))(t)}
}

func cells(t testing.TB, m model.Model, cases ...string) []bench.Cell {
	t.Helper()
	var out []bench.Cell
	f := m.Facts()
	canvas := slices.Repeat([]int{f.MaskID}, f.Length)
	for _, text := range cases {
		settings := reftest.Must(bench.ParseCase(text))(t)
		for _, s := range settings {
			out = append(out, reftest.Must(bench.NewCell(s, m, canvas, 4))(t))
		}
	}
	return out
}

// untimed removes the fields in which two equal runs differ, and sorts repetitions.
func untimed(reps []bench.Repetition) []bench.Repetition {
	out := slices.Clone(reps)
	for i := range out {
		out[i].Seconds, out[i].PeakBytes, out[i].PeakOfProcess = bench.Seconds{}, 0, false
	}
	slices.SortFunc(out, func(a, b bench.Repetition) int {
		if a.Round != b.Round {
			return a.Round - b.Round
		}
		return strings.Compare(a.Cell, b.Cell)
	})
	return out
}

// run collects the repetitions of a run and reports whether it is complete.
func run(ctx context.Context, all []bench.Cell, cfg bench.Config) (reps []bench.Repetition, complete bool, err error) {
	reps, on := slices.Clone(cfg.Done), cfg.OnRepetition
	cfg.OnRepetition = func(r bench.Repetition) error {
		if reps = append(reps, r); on == nil {
			return nil
		}
		return on(r)
	}
	err = bench.Run(ctx, all, cfg)
	return reps, len(reps) == cfg.Repetitions*len(all), err
}

// TestRun checks counts, streams and order, and that finished repetitions are not repeated.
func TestRun(t *testing.T) {
	m := open(t, "xor3-mixed")
	all := cells(t, m, "fhs", "tweedie steps=2-8*2", "euler steps=4 noise=exp finish=leave", "matu steps=4", "remdm steps=8 eta=0.5")
	cfg := bench.Config{Repetitions: 4, Sequences: 6, Warmup: 1, Seed: 3, Keep: true}
	var order []string
	cfg.OnRepetition = func(r bench.Repetition) error {
		order = append(order, r.Cell)
		return nil
	}
	reps, complete, err := run(context.Background(), all, cfg)
	if err != nil || !complete || len(reps) != 4*len(all) {
		t.Fatalf("%d repetitions, complete %t, %v", len(reps), complete, err)
	}
	rounds := make(map[string]bool)
	for r := range 4 {
		round := order[r*len(all) : (r+1)*len(all)]
		rounds[strings.Join(round, ";")] = true
		if len(slices.Compact(slices.Sorted(slices.Values(round)))) != len(all) {
			t.Errorf("round %d is %q", r, round)
		}
	}
	if len(rounds) < 2 {
		t.Errorf("every round has the same order: %q", order)
	}
	for _, r := range reps {
		if r.Sequences != 6 || r.Rows != r.Calls+r.FinishCalls || r.Positions != 3*r.Rows || r.Tokens+r.Left != 18 || r.Seconds.Total < r.Seconds.Network || len(r.IDs) != 6 {
			t.Errorf("%+v", r)
		}
		if r.Cell == "fhs" && r.Calls != 18 {
			t.Errorf("%+v", r)
		}
	}
	// Round 2 of fhs equals sampling with the indices 12..17.
	want := make([][]int, 6)
	_, err = samplers.Sample(context.Background(), m, samplers.Copies(all[0].Canvas, 12, 6), samplers.Config{Method: plan.NewFHS(0), Seed: 3}, func(r samplers.Result) error {
		want[r.Index-12] = r.IDs
		return nil
	})
	i := slices.IndexFunc(reps, func(r bench.Repetition) bool { return r.Cell == "fhs" && r.Round == 2 })
	if err != nil || !reflect.DeepEqual(reps[i].IDs, want) {
		t.Errorf("round 2 of fhs is %v, want %v, %v", reps[i].IDs, want, err)
	}
	// A resumed run gives the same results as the run that it resumes.
	again := cfg
	again.Done = slices.Clone(reps[:7])
	made := 0
	again.OnRepetition = func(bench.Repetition) error { made++; return nil }
	resumed, complete, err := run(context.Background(), all, again)
	if err != nil || !complete || made != len(reps)-7 || !reflect.DeepEqual(untimed(resumed), untimed(reps)) {
		t.Errorf("resumed: %d made, complete %t, %v", made, complete, err)
	}
	for _, bad := range []bench.Config{{Sequences: 1}, {Repetitions: 1}, {Repetitions: 1, Sequences: 1, Warmup: -1}} {
		if _, _, err := run(context.Background(), all, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// TestDeadline checks that a run ends by its deadline, keeps only whole repetitions, and does not
// start a repetition that cannot fit.
func TestDeadline(t *testing.T) {
	m := open(t, "xor3-mixed")
	m.delay = 20 * time.Millisecond
	all := cells(t, m, "fhs batch=1", "tweedie steps=1 batch=1 grid=lambda")
	begin := time.Now()
	reps, complete, err := run(context.Background(), all, bench.Config{Repetitions: 1000, Sequences: 2, Seed: 1, Deadline: begin.Add(time.Second)})
	took := time.Since(begin)
	if err != nil || complete || len(reps) == 0 || took > time.Minute { // detects a hang, not slowness
		t.Errorf("%d repetitions in %v, complete %t, %v", len(reps), took, complete, err)
	}
	for _, r := range reps {
		if r.Sequences != 2 {
			t.Errorf("%+v is a part of a repetition", r)
		}
	}
	// fhs takes 120 ms: after one repetition is measured, another is not started with 60 ms left.
	before := m.calls
	reps, complete, err = run(context.Background(), all[:1], bench.Config{Repetitions: 9, Sequences: 2, Seed: 1, Deadline: time.Now().Add(190 * time.Millisecond)})
	if err != nil || complete || len(reps) > 1 || len(reps) == 1 && m.calls-before != 6 {
		t.Errorf("%d repetitions with %d calls, complete %t, %v", len(reps), m.calls-before, complete, err)
	}
	if _, complete, err = run(context.Background(), all, bench.Config{Repetitions: 1, Sequences: 1, Deadline: time.Now()}); err != nil || complete {
		t.Errorf("no time at all: complete %t, %v", complete, err)
	}
}

// TestOnceBeforeTwice checks that with little time every cell is measured once before any is
// measured twice, the cheapest first, and that a cell is not warmed up by calls that another cell
// has made.
func TestOnceBeforeTwice(t *testing.T) {
	for _, limit := range []time.Duration{900 * time.Millisecond, 1500 * time.Millisecond, 2700 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			m := open(t, "xor3-mixed")
			m.delay = 50 * time.Millisecond
			// 3, 2, 1 and 2 calls per sequence: 800 ms for 2 sequences of each, 150 ms for the
			// warm-up.
			all := cells(t, m, "fhs", "parallel-fhs steps=2", "parallel-fhs steps=1", "parallel-fhs sizes=1,2")
			for i := range all {
				all[i].Batch = 1
			}
			reps, complete, err := run(context.Background(), all, bench.Config{Repetitions: 3, Sequences: 2, Warmup: 1, Seed: 1, Deadline: time.Now().Add(limit)})
			counts := make(map[string]int)
			for _, r := range reps {
				counts[r.Cell]++
			}
			if err != nil || complete != (limit > 2500*time.Millisecond) || len(counts) != len(all) {
				t.Errorf("%v: complete %t, %v, %v", limit, complete, counts, err)
			}
		})
	}
}

// TestShares checks that groups of certificates get equal shares of the time.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, "xor3-mixed")
		m.delay = 50 * time.Millisecond
		all := cells(t, m, "tweedie steps=4", "tweedie steps=4 temperature=0.5")
		c := bench.GroupCertificates(all)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		runs := make(map[int]int)
		err := c.Measure(ctx, certificate.Config{Runs: 1000}, nil, func(r bench.CertifiedRun) error { runs[r.Group]++; return nil })
		if err != nil || runs[0] == 0 || runs[0] != runs[1] {
			t.Errorf("%v runs, %v", runs, err)
		}
	})
}

// TestInterrupt checks that finished repetitions are returned with the context's error.
func TestInterrupt(t *testing.T) {
	all := cells(t, open(t, "xor3-mixed"), "fhs", "tweedie steps=4")
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	reps, complete, err := run(ctx, all, bench.Config{Repetitions: 5, Sequences: 2, OnRepetition: func(bench.Repetition) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || complete || len(reps) != 3 {
		t.Errorf("%d repetitions, complete %t, %v", len(reps), complete, err)
	}
	failed := errors.New("the disk is full")
	if _, _, err := run(context.Background(), all, bench.Config{Repetitions: 1, Sequences: 1, OnRepetition: func(bench.Repetition) error { return failed }}); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
}

// TestCallsAgree checks that the calls and finishing calls of all samplers agree with the
// expectations of their laws within 4 standard errors.
func TestCallsAgree(t *testing.T) {
	m := open(t, "xor3-mixed")
	all := cells(t, m, "fhs", "ordered", "parallel-fhs steps=2", "euler noise=exp steps=2-32*4", "euler grid=paper steps=8", "tweedie steps=1-16*4 noise=exp", "tweedie grid=lambda,cos2,cosine steps=4",
		"tau-leaping tau=any,one noise=exp steps=4", "uniformization steps=4", "matu steps=4", "dmpm steps=4 noise=exp", "parallel-fhs sizes=1,2", "random-sizes steps=2", "euler steps=8 noise=exp finish=leave")
	reps, _, err := run(context.Background(), all, bench.Config{Repetitions: 4, Sequences: 500, Seed: 5})
	reftest.OK(t, err)
	r := bench.Summarise(all, reps, bench.RunSettings{Confidence: 0.95}, func(*bench.Cell) int { return 1 })
	for _, c := range r.Cells {
		for _, x := range []struct {
			got, want float64
			e         estimate.Estimate
		}{
			{c.Summary.Calls.Mean, float64(c.Expected.Calls), c.Summary.Calls}, {c.Summary.FinishCalls.Mean, float64(c.Expected.Finish), c.Summary.FinishCalls},
		} {
			off, se := math.Abs(x.got-x.want), x.e.SE
			if se == 0 { // all are equal: allow for missed rare events, whose variance is their mean
				se = math.Sqrt(off / float64(c.Summary.Sequences))
			}
			if off > 4*se+1e-9*(1+x.want) {
				t.Errorf("%s: %v calls, expected %v", c.ID, x.e, x.want)
			}
		}
		if want := c.ID == "euler noise=exp finish=leave steps=8"; (c.Summary.Left.Mean > 0) != want {
			t.Errorf("%s: %v masks left", c.ID, c.Summary.Left)
		}
	}
}
