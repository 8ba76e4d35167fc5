package cache_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"mdmgen/internal/lawstest"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

// TestAuditBounds enumerates all paths of four positions with three tokens. The sums of the audit
// must bound KL and TV of the laws of texts, and its path form must be TV of the laws of paths.
func TestAuditBounds(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	net := newToy(3, 6)
	canvas := masks(net, 6)
	canvas[1], canvas[4] = 2, 0
	free := []int{0, 2, 3, 5}
	const texts = 81
	plainly := make(map[string]float64) // by path, with full rows
	for _, how := range []cache.Settings{
		{Kind: cache.Window, W: 0}, {Kind: cache.Window, W: 0, Refresh: 3, Round: 1},
		{Kind: cache.Dual, Block: 6}, {Kind: cache.Prefix, Block: 3, Prompt: 1},
	} {
		for _, groups := range []int{1, 2} {
			kept, full := make([]float64, texts), make([]float64, texts)
			var kl, tv, path, pathTV float64
			orders := combin.Permutations(4, 4)
			for _, order := range orders {
				var calls [][]int
				for i, k := range order {
					if i%groups == 0 {
						calls = append(calls, nil)
					}
					calls[len(calls)-1] = append(calls[len(calls)-1], free[k])
				}
				for x := range texts {
					token := slices.Clone(canvas)
					for i, l := range free {
						token[l] = x / int(math.Pow(3, float64(i))) % 3
					}
					q, audit := run(t, net, how, canvas, calls, token)
					key := fmt.Sprint(calls, token)
					p, known := plainly[key]
					if !known {
						p, _ = run(t, net, cache.Settings{}, canvas, calls, token)
						plainly[key] = p
					}
					q, p = q/float64(len(orders)), p/float64(len(orders))
					kept[x], full[x] = kept[x]+q, full[x]+p
					kl, tv, path, pathTV = kl+q*audit.KL, tv+q*audit.TV, path+q*max(-math.Expm1(audit.LogRatio), 0), pathTV+max(q-p, 0)
					if audit.Tokens != 4 || !(audit.MostKL <= audit.KL) {
						t.Fatalf("%+v", audit)
					}
				}
			}
			var lawKL, lawTV float64
			for x := range texts {
				lawKL += kept[x] * math.Log(kept[x]/full[x])
				lawTV += math.Abs(kept[x]-full[x]) / 2
			}
			if !(lawKL <= kl) || !(lawTV <= tv) || !(lawTV <= path) || !(path <= tv+1e-12) || math.Abs(path-pathTV) > 1e-12 || math.Abs(floats.Sum(kept)-1) > 1e-12 {
				t.Errorf("%+v in groups of %d: KL %.3g of at most %.3g, TV %.3g of at most %.3g and %.3g, %.3g on paths", how, groups, lawKL, kl, lawTV, tv, path, pathTV)
			}
			if how.Kind == cache.Window && how.Refresh == 0 && !(lawKL > 1e-5) {
				t.Errorf("%+v: KL %.3g: the toy shows no difference", how, lawKL)
			}
		}
	}
}

// TestAuditUnbiased checks that with F below 1 the sums have the mean of those with F = 1.
func TestAuditUnbiased(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	net := newToy(5, 20)
	canvas := masks(net, 12, 1, 0)
	const n = 300
	for _, o := range []catalog.Options{{}, {Sampler: "parallel-fhs", Steps: 4}, {LayerOptions: catalog.LayerOptions{Guidance: 0.5}}, {Lookahead: 3}} {
		o.Cache, o.Audit = "window:0/6", 1
		whole, _ := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, n, samplers.Config{Batch: 16})
		o.Audit = 0.3
		part, _ := fill(t, net, lawstest.NewFor(t, o, net.Spec()), canvas, n, samplers.Config{Batch: 16})
		for i, of := range []func(*samplers.Audit) float64{func(a *samplers.Audit) float64 { return a.KL }, func(a *samplers.Audit) float64 { return a.TV }} {
			var mean, squares, all float64
			for k, r := range whole {
				d := of(part[k].Audit) - of(r.Audit)
				mean, squares, all = mean+d/n, squares+d*d/n, all+of(r.Audit)/n
				if r.Audit.Tokens != 10 {
					t.Fatalf("%+v, %+v", r.Audit, part[k].Audit)
				}
			}
			if z := mean / math.Sqrt((squares-mean*mean)/n); !(math.Abs(z) < 4) || !(all > 1e-4) {
				t.Errorf("%+v, sum %d: z = %.2f of a difference of %.3g from %.3g", o, i, z, mean, all)
			}
		}
	}
}
