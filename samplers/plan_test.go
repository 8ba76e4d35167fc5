package samplers_test

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// made returns the sampler of some options for a network.
func made(t testing.TB, o catalog.Options, spec samplers.Spec) *catalog.Sampler {
	t.Helper()
	return reftest.Must(catalog.New(o, spec))(t)
}

func mustNew(t testing.TB, o catalog.Options) *catalog.Sampler {
	t.Helper()
	return made(t, o, samplers.Spec{})
}

// method returns the method that draws a sampler's plans.
func method(t testing.TB, s *catalog.Sampler) *plan.Method {
	t.Helper()
	m, ok := s.Plan()
	if !ok {
		t.Fatalf("%v has no plan", s)
	}
	return m
}

func drawPlan(t testing.TB, s *catalog.Sampler, p *plan.Plan, seed, index uint64, free []int) {
	t.Helper()
	reftest.OK(t, method(t, s).Plan(p, draw.NewNumbers(seed, index), free))
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// kolmogorov returns the p-value of the Kolmogorov–Smirnov test that x is uniform on (0,1), by the
// asymptotic law for large samples.
func kolmogorov(x []float64) float64 {
	slices.Sort(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		d = max(d, v-float64(i)/n, float64(i+1)/n-v)
	}
	y, p := d*math.Sqrt(n), 0.0
	for k := 1.0; k < 100; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*y*y)
	}
	return p
}

// TestAlgorithm1 checks Proposition 3 of the paper: for any network, the ratio λ_{k−1}/λ_k of FHS
// is u^(1/k), independently of the past, and the revealed position is uniform among the masked.
func TestAlgorithm1(t *testing.T) {
	const d, n, seed = 5, 20000, 3
	s := mustNew(t, catalog.Options{})
	var p plan.Plan
	ratios := make([][]float64, d)
	product := make([]float64, 0, n)
	order := make(map[string]int)
	for i := range uint64(n) {
		drawPlan(t, s, &p, seed, i, upTo(d))
		lambda := 1.0
		var label strings.Builder
		for j, b := range p.Blocks {
			k := d - j
			if len(b.Positions) != 1 || b.Hits[0] != b.Lambda || b.Theta != -math.Log1p(-b.Lambda) {
				t.Fatalf("block %d is %+v", j, b)
			}
			ratios[j] = append(ratios[j], math.Pow(b.Lambda/lambda, float64(k)))
			lambda = b.Lambda
			fmt.Fprint(&label, b.Positions[0])
		}
		order[label.String()]++
		// If consecutive ratios were dependent, their sum modulo 1 would not be uniform.
		product = append(product, math.Mod(ratios[0][i]+ratios[1][i]+ratios[2][i], 1))
	}
	const level = 1e-3 / (d + 2)
	for j, x := range ratios {
		if got := kolmogorov(x); got < level {
			t.Errorf("(λ_%d/λ_%d)^%d: Kolmogorov–Smirnov p = %v", d-j-1, d-j, d-j, got)
		}
	}
	if got := kolmogorov(product); got < level {
		t.Errorf("ratios are dependent: p = %v", got)
	}
	counts := make([]int, 120)
	i := 0
	for _, c := range order {
		counts[i] = c
		i++
	}
	if len(order) != 120 || reftest.Goodness(counts, slices.Repeat([]float64{1.0 / 120}, 120)) < level {
		t.Errorf("orders are not uniform: %d of 120 seen", len(order))
	}
}

// TestTweedieIsFHSDiscretised checks that on a grid from λ = 1, with the same seed, Tweedie reveals
// each position in the step that contains its hitting time under FHS.
func TestTweedieIsFHSDiscretised(t *testing.T) {
	for _, grid := range []string{"lambda", "cos2", "cosine", "lambda:1,0.9,0.3,0.2,0"} {
		tweedie, fhs := mustNew(t, catalog.Options{Sampler: "ddpm", PlanOptions: catalog.PlanOptions{Grid: grid}}), mustNew(t, catalog.Options{})
		steps, _ := tweedie.Grid()
		free := upTo(50)
		var p, q plan.Plan
		drawPlan(t, tweedie, &p, 1, 2, free)
		drawPlan(t, fhs, &q, 1, 2, free)
		i := 0
		for _, b := range p.Blocks {
			if b.Lambda != steps.Grid.Lambda[b.Step] || b.Theta != steps.Grid.Theta[b.Step] {
				t.Errorf("%s: step %d is asked at %v, %v", grid, b.Step, b.Lambda, b.Theta)
			}
			for j, l := range b.Positions {
				hit := q.Blocks[i]
				i++
				if l != hit.Positions[0] || math.Abs(b.Hits[j]-hit.Lambda) > 1e-12 {
					t.Fatalf("%s: position %d at %v, FHS has %d at %v", grid, l, b.Hits[j], hit.Positions[0], hit.Lambda)
				}
				if hit.Lambda >= steps.Grid.Lambda[b.Step] || hit.Lambda < steps.Grid.Lambda[b.Step+1] {
					t.Errorf("%s: %v is not in step %d", grid, hit.Lambda, b.Step)
				}
			}
		}
		if i != 50 || len(p.Left) != 0 {
			t.Errorf("%s: %d of 50 positions revealed, %d left", grid, i, len(p.Left))
		}
	}
}

// everySampler has samplers of each kind, for laws that hold for all plans.
var everySampler = []catalog.Options{
	{}, {Sampler: "euler", Steps: 20}, {Sampler: "euler", PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.2, Finish: "leave"}}, {Sampler: "tweedie", Steps: 9, PlanOptions: catalog.PlanOptions{Grid: "cosine"}},
	{Sampler: "tweedie", Steps: 30, PlanOptions: catalog.PlanOptions{Noise: "cosine"}}, {Sampler: "tau-leaping", Steps: 5, PlanOptions: catalog.PlanOptions{Tau: "one"}}, {Sampler: "tau-leaping", Steps: 1000},
	{Sampler: "parallel-fhs", Steps: 4}, {Sampler: "parallel-fhs", Steps: 7, PlanOptions: catalog.PlanOptions{Sizes: "cos2"}}, {Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "cosine"}},
	{Sampler: "ordered"}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}},
	{Sampler: "uniformization", Steps: 6}, {Sampler: "matu", Steps: 9, PlanOptions: catalog.PlanOptions{Grid: "lambda", Finish: "leave"}}, {Sampler: "dmpm", Steps: 7}, {Sampler: "dmpm", PlanOptions: catalog.PlanOptions{Grid: "paper", Kappa: 0.3, Finish: "leave"}},
	{Sampler: "random-sizes", Steps: 4}, {Sampler: "random-sizes", Steps: 7, PlanOptions: catalog.PlanOptions{Correlation: "dual"}}, {Sampler: "random-sizes", Steps: 1}, {Sampler: "spread", Steps: 6}, {Sampler: "dus"},
}

// TestPlanLaws checks the properties of every plan: it is a partition of the free positions into
// non-empty blocks and those left, times decrease, it uses one uniform per position, and it has the
// properties that the sampler's law declares.
func TestPlanLaws(t *testing.T) {
	reftest.Long(t)
	for _, d := range catalog.Descriptors() {
		if mustNew(t, catalog.Options{Sampler: d.Name}).Planned() && !slices.ContainsFunc(everySampler, func(o catalog.Options) bool { return cmp.Or(o.Sampler, "fhs") == d.Name }) {
			t.Errorf("%s is not among the samplers of these tests", d.Name)
		}
	}
	for _, o := range everySampler {
		s := mustNew(t, o)
		law := s.Law()
		list, listed := law.(samplers.ByList)
		var p plan.Plan
		var order []int
		for _, d := range []int{0, 1, 2, 3, 17, 200} {
			free := upTo(d)
			for i := range free {
				free[i] = 3*i + 1
			}
			plans := make(map[string]bool)
			if listed && d <= 17 && list.Plans(d) <= samplers.MaxListed {
				for i := range int(list.Plans(d)) {
					plans[planKey(reftest.Must(list.Groups(free, i))(t))] = true
				}
			}
			for index := range uint64(20) {
				st := draw.NewStream(4, index)
				reftest.OK(t, method(t, s).Plan(&p, st, free), s)
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
					if want, err := law.Sizes(d); err != nil || !slices.Equal(sizes, want) {
						t.Fatalf("%v: blocks of %v, the law declares %v, %v", s, sizes, want, err)
					}
				}
				if single(law) && len(sizes) > 0 && slices.Max(sizes) > 1 {
					t.Fatalf("%v: blocks of %v, the law declares one by one", s, sizes)
				}
				if index == 0 {
					order = revealed
				}
				if len(plans) > 0 && !plans[planKey(groups(&p))] {
					t.Fatalf("%v: plan %v is drawn and not listed", s, groups(&p))
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
		return law.Of == nil
	case samplers.ByList:
		const many = 2 * samplers.DefaultSteps
		groups, err := law.Groups(upTo(many), 0)
		return err == nil && len(groups) == many
	}
	return false
}

// groups returns the groups of a plan.
func groups(p *plan.Plan) (out [][]int) {
	for _, b := range p.Blocks {
		out = append(out, b.Positions)
	}
	return out
}

// planKey returns a name for the groups of a plan.
func planKey(groups [][]int) string {
	var key string
	for _, group := range groups {
		key += fmt.Sprint(slices.Sorted(slices.Values(group)))
	}
	return key
}

// TestSizes checks the groups of parallel-fhs.
func TestSizes(t *testing.T) {
	for _, test := range []struct {
		sizes    string
		steps, d int
		want     []int
	}{
		{"equal", 4, 12, []int{3, 3, 3, 3}},
		{"equal", 4, 10, []int{2, 3, 2, 3}},
		{"", 200, 3, []int{1, 1, 1}},
		{"cos2", 4, 100, []int{15, 35, 35, 15}},
		{"cos2", 2, 10, []int{5, 5}},
		{"cosine", 4, 100, []int{8, 21, 33, 38}},
		{"cosine", 5, 6, []int{1, 1, 1, 1, 2}},
		{"cos2", 4, 4, []int{1, 1, 1, 1}},
		{"3,1,2", 0, 6, []int{3, 1, 2}},
		{"equal", 5, 0, nil},
	} {
		s := mustNew(t, catalog.Options{Sampler: "parallel-fhs", Steps: test.steps, PlanOptions: catalog.PlanOptions{Sizes: test.sizes}})
		var p plan.Plan
		drawPlan(t, s, &p, 1, 1, upTo(test.d))
		var got []int
		for _, b := range p.Blocks {
			got = append(got, len(b.Positions))
			if b.Lambda != b.Hits[0] {
				t.Errorf("%s: asked at %v, first hit at %v", test.sizes, b.Lambda, b.Hits[0])
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q in %d of %d: %v, want %v", test.sizes, test.steps, test.d, got, test.want)
		}
		if calls, finish, err := s.ExpectedCalls(test.d); calls != float64(len(test.want)) || finish != 0 || err != nil {
			t.Errorf("%q: expects %v calls, %v, %v", test.sizes, calls, finish, err)
		}
	}
	s := mustNew(t, catalog.Options{Sampler: "parallel-fhs", PlanOptions: catalog.PlanOptions{Sizes: "3,1,2"}})
	err := method(t, s).Plan(new(plan.Plan), draw.NewStream(1, 1), upTo(7))
	reftest.Fails(t, err, "sum to 6", "sizes that do not fit")
}

// TestOrders checks the ordered sampler's orders, and the λ of its queries.
func TestOrders(t *testing.T) {
	free := []int{1, 3, 4, 8}
	var p plan.Plan
	for order, want := range map[string][]int{
		"":              {1, 3, 4, 8},
		"left-to-right": {1, 3, 4, 8},
		"right-to-left": {8, 4, 3, 1},
		"8,7,1,0,4,3":   {8, 1, 4, 3},
	} {
		drawPlan(t, mustNew(t, catalog.Options{Sampler: "ar", PlanOptions: catalog.PlanOptions{Order: order}}), &p, 1, 1, free)
		var got []int
		for i, b := range p.Blocks {
			got = append(got, b.Positions...)
			if want := float64(4-i) / 5; b.Lambda != want {
				t.Errorf("%s: λ = %v with %d of 4 masked, want %v", order, b.Lambda, 4-i, want)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", order, got, want)
		}
	}
	s := mustNew(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "8,1,4"}})
	reftest.Fails(t, method(t, s).Plan(&p, draw.NewStream(1, 1), free), "position 3", "an order that leaves out position 3")
	var q plan.Plan
	drawPlan(t, mustNew(t, catalog.Options{Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "random"}}), &p, 1, 1, free)
	drawPlan(t, mustNew(t, catalog.Options{}), &q, 1, 1, free)
	for i := range p.Blocks {
		if !reflect.DeepEqual(p.Blocks[i].Positions, q.Blocks[i].Positions) {
			t.Errorf("random order and fhs differ in block %d", i)
		}
	}
}

// TestExpectedCalls compares the formula with plans for many positions and for few.
func TestExpectedCalls(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	const n = 2000
	for _, o := range everySampler {
		s := mustNew(t, o)
		for _, d := range []int{2, 60} {
			want, wantLeft, err := s.ExpectedCalls(d)
			reftest.OK(t, err)
			var p plan.Plan
			var blocks, left average
			for i := range uint64(n) {
				drawPlan(t, s, &p, 9, i, upTo(d))
				blocks.add(float64(len(p.Blocks)))
				left.add(float64(min(len(p.Left), 1)))
			}
			blocks.check(t, want, s, d, "blocks")
			if method(t, s).Denoise {
				left.share(t, wantLeft, s, d, "something left")
			}
		}
	}
}
