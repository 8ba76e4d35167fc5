package likelihood

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"mdmgen/samplers/catalog"
)

// severalSamplers has laws of all kinds: from tables, from whole rows that they share or do
// not, and from rows of their own.
func severalSamplers(t *testing.T) (ss []*catalog.Sampler) {
	for _, o := range []catalog.Options{
		{}, {Sampler: "parallel-fhs", Steps: 2}, {Sampler: "ordered", Order: "left-to-right"}, {Sampler: "tweedie", Grid: "lambda", Steps: 3},
		{Sampler: "trapezoidal", Grid: "lambda", Steps: 1}, {Sampler: "trapezoidal", Grid: "lambda", Steps: 3},
		{Sampler: "paired-fhs", Steps: 2}, {Sampler: "paired-fhs", Steps: 3},
	} {
		ss = append(ss, mustSampler(t, o))
	}
	return ss
}

func severalTargets(n int) (ts []Target) {
	r := rand.New(rand.NewPCG(9, 1))
	for range n {
		ids := make([]int, 6)
		for l := range ids {
			ids[l] = r.IntN(99)
		}
		ts = append(ts, Target{IDs: ids, Free: []int{0, 1, 3, 4, 5}})
	}
	return ts
}

// TestLawsOf compares laws of windows in one call, bit for bit, with those of each by
// itself, and ends before the last.
func TestLawsOf(t *testing.T) {
	ctx := context.Background()
	e, ss, ts := tiny(t, "mdlm"), severalSamplers(t), severalTargets(5)
	for _, some := range [][]*catalog.Sampler{ss, ss[:4], ss[2:3], ss[4:5]} {
		var want [][]Exact
		var rows []int
		for _, target := range ts {
			before := e.Totals().Rows
			laws, err := e.Laws(ctx, target, some)
			if err != nil {
				t.Fatal(err)
			}
			want, rows = append(want, laws), append(rows, e.Totals().Rows-before)
		}
		var got [][]Exact
		err := e.LawsOf(ctx, ts, some, func(i int, laws []Exact, n int) error {
			if i != len(got) || n != rows[i] {
				t.Errorf("window %d after %d, of %d rows, not %d", i, len(got), n, rows[i])
			}
			got = append(got, laws)
			return nil
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d samplers: %v, %v: want %v", len(some), err, got, want)
		}
	}

	stop := errors.New("stop")
	for _, at := range []int{0, 2, 4} {
		seen := 0
		err := e.LawsOf(ctx, ts, ss, func(i int, _ []Exact, _ int) error {
			seen++
			if i == at {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || seen != at+1 {
			t.Errorf("stopped at %d: %v after %d windows", at, err, seen)
		}
		ended, cancel := context.WithCancel(ctx)
		seen = 0
		err = e.LawsOf(ended, ts, ss, func(i int, _ []Exact, _ int) error {
			if seen++; i == at {
				cancel()
			}
			return nil
		})
		cancel()
		if at < 4 && (!errors.Is(err, context.Canceled) || seen != at+1) || at == 4 && err != nil {
			t.Errorf("cancelled at %d: %v after %d windows", at, err, seen)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := e.LawsOf(ended, ts, ss, func(int, []Exact, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	bad := append(ts[:1:1], Target{})
	seen := 0
	if err := e.LawsOf(ctx, bad, ss, func(int, []Exact, int) error { seen++; return nil }); err == nil || seen != 1 {
		t.Errorf("no text: %v after %d windows", err, seen)
	}
}
