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
	for at := range 5 {
		seen := 0
		err := e.LawsOf(ctx, ts, ss, func(i int, _ []Exact, _ int) error {
			if seen++; i == at {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || seen != at+1 {
			t.Errorf("stopped at %d: %v after %d windows", at, err, seen)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	seen := 0
	err := e.LawsOf(ended, ts, ss, func(int, []Exact, int) error { seen++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("cancelled: %v after %d windows", err, seen)
	}
	err = e.LawsOf(ctx, append(ts[:1:1], Target{}), ss, func(int, []Exact, int) error { seen++; return nil })
	if err == nil || seen != 2 {
		t.Errorf("no text: %v after %d windows", err, seen)
	}
}
