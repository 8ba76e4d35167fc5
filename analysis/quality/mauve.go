package quality

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
)

// Featurer is an evaluator that also gives features of texts; [causal.Model] is one.
type Featurer interface {
	// LastRows hands take the logits behind each text, in any order; row is not kept.
	LastRows(ctx context.Context, texts [][]int, take func(i int, row []float32)) error
}

// FewTexts is the least number of samples that are compared, with twice as many of the
// reference.
const FewTexts = 20

const (
	// featureSize is how many numbers a text's feature has.
	featureSize = 128
	// halvings is how often the reference is halved anew, restarts and iterations what a
	// clustering takes at most.
	halvings, restarts, iterations = 8, 4, 50
)

// Features are those of texts for [Compare]: the logits behind the text's last token, less
// their mean, of at most a context of tokens, projected on random signs, which keeps
// distances to about √(2/128), and scaled to length 1. Logits are a linear image of the last
// hidden state, which MAUVE takes and exports do not give. It is an error where the
// evaluator gives none.
func (j *Judge) Features(ctx context.Context, samples []Generated) ([][]float64, error) {
	f, ok := j.evaluator.(Featurer)
	if !ok {
		return nil, fault.Errorf("quality", "the evaluator gives no features")
	}
	texts, out := make([][]int, len(samples)), make([][]float64, len(samples))
	for i, s := range samples {
		ids, err := j.tokenizer.Encode(s.Text)
		if err != nil {
			return nil, err
		}
		if ids = slices.Concat(j.bos, ids); len(ids) == 0 {
			return nil, fault.Errorf("quality", "text %d is empty, and has no features", i)
		}
		texts[i] = ids[:min(len(ids), j.cfg.MaxLength)]
	}
	err := f.LastRows(ctx, texts, func(i int, row []float32) { out[i] = project(row) })
	for i := range out {
		if err == nil && math.IsNaN(out[i][0]) {
			err = fault.Errorf("quality", "text %d: a logit is not a number", i)
		}
	}
	return out, err
}

// project is a feature of a row of logits.
func project(row []float32) []float64 {
	var mean float64
	for _, x := range row {
		mean += float64(x) / float64(len(row))
	}
	out := make([]float64, featureSize)
	for c, x := range row {
		signs, v := rand.NewPCG(uint64(c), 0x6d61757665), float64(x)-mean // "mauve"
		for from := 0; from < featureSize; from += 64 {
			bits := signs.Uint64()
			for k := range 64 {
				if bits>>k&1 == 1 {
					out[from+k] += v
				} else {
					out[from+k] -= v
				}
			}
		}
	}
	if length := math.Sqrt(distance(out, make([]float64, featureSize))); length > 0 {
		for k := range out {
			out[k] /= length
		}
	}
	return out
}

// Likeness says how alike samples and a reference text are, in 0..1.
type Likeness struct {
	// Samples is MAUVE (Pillutla and others, arXiv 2102.01454) of samples and one half of the
	// reference, Reference that of its other half: what a perfect model is to be expected to
	// get from as many texts. Both are means over random halves, SE is their spread, and the
	// interval is from the least to the greatest.
	Samples, Reference estimate.Estimate
	// Texts is how many texts a side has, Clusters how many clusters all have.
	Texts, Clusters int
}

// Compare works out the likeness of texts by their features: k-means on both sides
// together, k a tenth of a side, and the area under the curve of exp(−5·KL) to mixtures of
// their histograms. MAUVE's own code reduces features by their principal components before;
// random projections have done that here.
func Compare(samples, reference [][]float64, seed uint64) (Likeness, error) {
	n := min(len(samples), len(reference)/2)
	if n < FewTexts {
		return Likeness{}, fault.Errorf("quality", "%d samples and %d texts of the reference: must be at least %d and %d", len(samples), len(reference), FewTexts, 2*FewTexts)
	}
	out := Likeness{Texts: n, Clusters: max(2, int(math.Round(float64(n)/10)))}
	var own, halves []float64
	for h := range uint64(halvings) {
		r := rand.New(rand.NewPCG(seed, h))
		order := r.Perm(len(reference))
		pick := func(from int) [][]float64 {
			half := make([][]float64, n)
			for i := range half {
				half[i] = reference[order[from+i]]
			}
			return half
		}
		side := make([][]float64, n)
		for i, at := range r.Perm(len(samples))[:n] {
			side[i] = samples[at]
		}
		a, b := pick(0), pick(n)
		own, halves = append(own, mauveOf(side, a, out.Clusters, r)), append(halves, mauveOf(b, a, out.Clusters, r))
	}
	out.Samples, out.Reference = spread(own, n), spread(halves, n)
	return out, nil
}

// spread sums up what random halves of n texts give.
func spread(x []float64, n int) estimate.Estimate {
	e := estimate.Mean(x, 0)
	e.N = n
	e.SE *= math.Sqrt(float64(len(x)))
	e.Lo, e.Hi = slices.Min(x), slices.Max(x)
	e.Warnings = []string{fmt.Sprintf("the interval is from the least to the greatest over %d random halves of the reference", len(x))}
	return e
}

// mauveOf clusters two lists of features of one length together, and compares their histograms.
func mauveOf(a, b [][]float64, k int, r *rand.Rand) float64 {
	p, q := make([]float64, k), make([]float64, k)
	for i, c := range kMeans(slices.Concat(a, b), k, r) {
		if i < len(a) {
			p[c] += 1 / float64(len(a))
		} else {
			q[c] += 1 / float64(len(b))
		}
	}
	return curve(p, q)
}

// curve is the area under the points exp(−5·KL(q‖r)), exp(−5·KL(p‖r)) over mixtures r of p
// and q, as MAUVE's code takes them: 25 weights and both ends.
func curve(p, q []float64) (area float64) {
	const points, scale = 25, 5
	mixed := make([]float64, len(p))
	to := func(p []float64) (kl float64) {
		for i, x := range p {
			if x > 0 {
				kl += x * math.Log(x/mixed[i])
			}
		}
		return math.Exp(-scale * kl)
	}
	x, y := 1., 0.
	for n := range points {
		w := 1e-6 + (1-2e-6)*float64(n)/(points-1)
		for i := range mixed {
			mixed[i] = w*p[i] + (1-w)*q[i]
		}
		nextX, nextY := to(q), to(p)
		area, x, y = area+(x-nextX)*(y+nextY)/2, nextX, nextY
	}
	return area + x*(y+1)/2
}

// kMeans gives points the number of their cluster: the best of some runs of Lloyd's algorithm,
// begun by k-means++ (Arthur and Vassilvitskii, 2007).
func kMeans(points [][]float64, k int, r *rand.Rand) (best []int) {
	least := math.Inf(1)
	for range restarts {
		if labels, cost := lloyd(points, begin(points, k, r)); cost < least {
			best, least = labels, cost
		}
	}
	return best
}

// begin draws centres, each with a probability as the square of its distance from those before.
func begin(points [][]float64, k int, r *rand.Rand) [][]float64 {
	centres := [][]float64{slices.Clone(points[r.IntN(len(points))])}
	near := make([]float64, len(points))
	for len(centres) < k {
		var sum float64
		for i, x := range points {
			if d := distance(x, centres[len(centres)-1]); len(centres) == 1 || d < near[i] {
				near[i] = d
			}
			sum += near[i]
		}
		u, at := r.Float64()*sum, 0
		for at < len(points)-1 && u >= near[at] {
			u -= near[at]
			at++
		}
		centres = append(centres, slices.Clone(points[at]))
	}
	return centres
}

// lloyd moves centres to the means of what is nearest to them until nothing changes, and
// returns the numbers of the clusters with the sum of squared distances.
func lloyd(points, centres [][]float64) (labels []int, cost float64) {
	labels = make([]int, len(points))
	for range iterations {
		changed := false
		cost = 0
		for i, x := range points {
			at, least := 0, math.Inf(1)
			for c, centre := range centres {
				if d := distance(x, centre); d < least {
					at, least = c, d
				}
			}
			changed = changed || labels[i] != at
			labels[i], cost = at, cost+least
		}
		if !changed {
			break
		}
		counts := make([]float64, len(centres))
		for i, c := range labels {
			if counts[c]++; counts[c] == 1 {
				clear(centres[c])
			}
			for l, v := range points[i] {
				centres[c][l] += v
			}
		}
		for c, n := range counts {
			for l := range centres[c] {
				centres[c][l] /= max(n, 1) // One that nothing is near stays where it is.
			}
		}
	}
	return labels, cost
}

// distance is the square of the Euclidean one.
func distance(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return sum
}
