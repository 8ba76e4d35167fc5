package plan_test

import (
	"reflect"
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestPlanLaws checks the properties of every plan: it is a partition of the free positions into
// non-empty blocks and those left, times decrease, it uses one uniform per position, and it has the
// properties that the sampler's law declares.
func TestPlanLaws(t *testing.T) {
	reftest.Long(t)
	for _, o := range lawstest.Planned {
		s := lawstest.New(t, o)
		law := s.Law()
		list, listed := law.(samplers.ByList)
		var p plan.Plan
		var order []int
		for _, d := range []int{0, 1, 2, 3, 17, 200} {
			free := lawstest.UpTo(d)
			for i := range free {
				free[i] = 3*i + 1
			}
			plans := make(map[string]bool)
			if listed && d <= 17 && list.Plans(d) <= samplers.MaxListed {
				for i := range int(list.Plans(d)) {
					plans[lawstest.PlanKey(reftest.Must(list.Groups(free, i))(t))] = true
				}
			}
			for index := range uint64(20) {
				st := draw.NewStream(4, index)
				reftest.OK(t, lawstest.Method(t, s).Plan(&p, st, free), s)
				seen := slices.Clone(p.Left)
				if !slices.IsSorted(p.Left) {
					t.Errorf("%v: left positions %v are not ascending", s, p.Left)
				}
				step, hit := -1, 1.0
				var sizes, revealed []int
				for _, b := range p.Blocks {
					if len(b.Positions) == 0 || len(b.Hits) != len(b.Positions) || b.Step < step || b.Step == step && len(b.Positions) > 1 || b.Theta != b.Theta {
						t.Fatalf("%v: block %+v after step %d", s, b, step)
					}
					step = b.Step
					for _, h := range b.Hits {
						if h > hit || h < p.LeftLambda || h > b.Lambda+1e-15 {
							t.Fatalf("%v: hit at %v after %v, in a block at %v", s, h, hit, b.Lambda)
						}
						hit = h
					}
					sizes, revealed = append(sizes, len(b.Positions)), append(revealed, b.Positions...)
				}
				if law, ok := law.(samplers.BySizes); ok {
					found := false
					for want := range reftest.Must(law.Each(d))(t) {
						found = found || slices.Equal(sizes, want)
					}
					if !found {
						t.Fatalf("%v: blocks of %v, which the law does not declare", s, sizes)
					}
				}
				if single(law) && len(sizes) > 0 && slices.Max(sizes) > 1 {
					t.Fatalf("%v: blocks of %v, the law declares one by one", s, sizes)
				}
				if index == 0 {
					order = revealed
				}
				if len(plans) > 0 && !plans[lawstest.PlanKey(lawstest.Groups(&p))] {
					t.Fatalf("%v: plan %v is drawn and not listed", s, lawstest.Groups(&p))
				}
				if listed && list.Plans(d) == 1 && !slices.Equal(revealed, order) {
					t.Fatalf("%v: reveals %v and %v, the law declares a fixed order", s, order, revealed)
				}
				if seen = append(seen, revealed...); d == 200 && index == 1 && len(p.Left) == 0 && !listed && slices.Equal(revealed, order) {
					t.Fatalf("%v: two plans have one order, and the law declares a random one", s)
				}
				slices.Sort(seen)
				if !slices.Equal(seen, free) {
					t.Fatalf("%v: %v is not the partition of %v", s, seen, free)
				}
				after := draw.NewStream(4, index)
				for range free {
					after.Float64()
				}
				if st.Float64() != after.Float64() {
					t.Fatalf("%v: a plan over %d positions did not take %d uniforms", s, d, d)
				}
			}
		}
	}
}

// single reports whether a law declares that each call reveals one position, however many there are.
func single(law samplers.Law) bool {
	switch law := law.(type) {
	case samplers.ByGrid:
		return law.OneByOne
	case samplers.BySizes:
		return law.Of == nil && law.Random == nil
	case samplers.ByList:
		const many = 2 * samplers.DefaultSteps
		groups, err := law.Groups(lawstest.UpTo(many), 0)
		return err == nil && len(groups) == many
	}
	return false
}

// TestExpectedCalls compares the formula with plans for many positions and for few.
func TestExpectedCalls(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const n = 2000
	for _, o := range lawstest.Planned {
		s := lawstest.New(t, o)
		for _, d := range []int{2, 60} {
			want, wantLeft, err := s.ExpectedCalls(d)
			reftest.OK(t, err)
			var p plan.Plan
			var blocks, left lawstest.Average
			for i := range uint64(n) {
				lawstest.DrawPlan(t, s, &p, 9, i, lawstest.UpTo(d))
				blocks.Add(float64(len(p.Blocks)))
				left.Add(float64(min(len(p.Left), 1)))
			}
			blocks.Check(t, want, s, d, "blocks")
			if lawstest.Method(t, s).Denoise {
				left.Share(t, wantLeft, s, d, "something left")
			}
		}
	}
}

// TestPlanIsReusable checks that the memory of a previously drawn plan does not change the next one.
func TestPlanIsReusable(t *testing.T) {
	var used plan.Plan
	for _, o := range lawstest.Planned {
		for _, timed := range []bool{false, true} {
			s := lawstest.NewFor(t, o, samplers.Spec{TimeConditioned: timed})
			for _, d := range []int{30, 3} {
				var fresh plan.Plan
				lawstest.DrawPlan(t, s, &fresh, 1, 1, lawstest.UpTo(d))
				lawstest.DrawPlan(t, s, &used, 1, 1, lawstest.UpTo(d))
				if len(fresh.Blocks) != len(used.Blocks) || len(fresh.Blocks) > 0 && !reflect.DeepEqual(fresh.Blocks, used.Blocks) {
					t.Errorf("%v: %+v, on used memory %+v", s, fresh.Blocks, used.Blocks)
				}
			}
		}
	}
}
