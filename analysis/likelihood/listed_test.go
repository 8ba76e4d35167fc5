package likelihood_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// TestListed checks that the likelihood of samplers that list their plans is the mean over plans of
// the product of rows, on every network, and sums to 1 over texts.
func TestListed(t *testing.T) {
	for name, w := range worlds(t) {
		f := w.Facts()
		if f.TimeConditioned {
			continue
		}
		d, v := f.Length, f.Columns
		e := evaluator(t, w)
		free := likelihood.Whole(sequence(0, d, v)).Free
		for _, o := range []catalog.Options{
			{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "dus"}, {Sampler: "spread", Steps: 2},
		} {
			s := reftest.Must(catalog.New(o, samplers.Spec{}))(t)
			law := s.Law().(samplers.ByList)
			plans, total := int(law.Plans(d)), 0.0
			for index := range int(math.Pow(float64(v), float64(d))) {
				text := sequence(index, d, v)
				var want float64
				for i := range plans {
					canvas, q := slices.Repeat([]int{f.MaskID}, d), 1.0
					for _, group := range reftest.Must(law.Groups(free, i))(t) {
						state := w.State(canvas)
						for _, l := range group {
							row := make([]float64, v)
							lawstest.Mu(w, row, state, l, 0)
							q *= row[text[l]]
							canvas[l] = text[l]
						}
					}
					want += q / float64(plans)
				}
				got := reftest.Must(e.Exact(context.Background(), likelihood.Whole(text), s))(t)
				p := math.Exp(-got.NegLog)
				if math.Abs(p-want) > 1e-6*want+1e-12 {
					t.Errorf("%s, %v, text %v: %v, want %v", name, s, text, p, want)
				}
				total += p
			}
			if math.Abs(total-1) > 1e-6 {
				t.Errorf("%s, %v: texts sum to %v", name, s, total)
			}
		}
	}
}

// TestListedTooMany checks that a sum over too many plans is an error that gives the possible
// number.
func TestListedTooMany(t *testing.T) {
	for _, w := range worlds(t) {
		e := evaluator(t, w)
		const most = samplers.MaxListed / 2
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "spread", Steps: 20}, samplers.Spec{}))(t)
		var large *samplers.TooLargeError
		if err := e.Fits(most+1, s); !errors.As(err, &large) || large.Most != most {
			t.Errorf("spread of %d positions: %v", most+1, err)
		}
		reftest.OK(t, e.Fits(most, s), most, "positions:")
		return
	}
}

// TestAlong checks that the law of samplers that list their plans is the same from a table of all
// subsets as from a row for each group, with and without context.
func TestAlong(t *testing.T) {
	for name, w := range worlds(t) {
		f := w.Facts()
		if f.TimeConditioned {
			continue
		}
		d := f.Length
		for index := range int(math.Pow(float64(f.Columns), float64(d))) {
			text := sequence(index, d, f.Columns)
			for _, free := range [][]int{likelihood.Whole(text).Free, {0, d - 1}} {
				target, order := likelihood.Target{IDs: text, Free: free}, strings.Trim(strings.ReplaceAll(fmt.Sprint(free), " ", ","), "[]")
				for _, o := range []catalog.Options{
					{Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: order}},
					{Sampler: "spread", Steps: 1}, {Sampler: "spread", Steps: 2}, {Sampler: "spread", Steps: 3},
				} {
					s := reftest.Must(catalog.New(o, samplers.Spec{}))(t)
					e := evaluator(t, w)
					asked := reftest.Must(e.Exact(context.Background(), target, s))(t)
					if rows, most := e.Totals().Rows, int(s.Law().(samplers.ByList).Plans(len(free)))*len(free); rows < 1 || rows > most {
						t.Errorf("%s, %v, text %v, free %v: %d rows, want at most %d", name, s, text, free, rows, most)
					}
					_, laws, err := evaluator(t, w).TableLaws(context.Background(), []likelihood.Target{target}, []*catalog.Sampler{s}, false)
					reftest.OK(t, err)
					got := laws[0][0]
					// First-hitting computes a table, which the other sampler then reads.
					fhs := reftest.Must(catalog.New(catalog.Options{}, samplers.Spec{}))(t)
					e = evaluator(t, w)
					beside := reftest.Must(e.Laws(context.Background(), target, []*catalog.Sampler{fhs, s}))(t)[1]
					if rows := e.Totals().Rows; rows != 1<<len(free)-1 {
						t.Errorf("%s, %v: %d rows beside first-hitting", name, s, rows)
					}
					if got.NegLog != asked.NegLog || beside.NegLog != asked.NegLog {
						t.Errorf("%s, %v, text %v, free %v: %v asked, %v from a table, %v beside first-hitting", name, s, text, free, asked.NegLog, got.NegLog, beside.NegLog)
					}
				}
			}
		}
	}
}
