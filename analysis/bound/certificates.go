package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

const (
	// certificateRuns is the number of first-hitting runs from which certificates on a network are
	// estimated, unless twice the number of windows is greater.
	certificateRuns = 128
	// certificateBatch is the number of runs that share calls.
	certificateBatch = 32
	seedCertificates = 0x6365727400000000
)

// certified holds the terms (1 − e^W)_+ of the cases' certificates of TV, by run.
type certified struct {
	// at lists the indices of the cases with a certificate.
	at    []int
	terms [][]float64
	// cluster is the same number for dependent runs: each window has its own canvases, and a
	// document several windows. It is nil if all runs are independent.
	cluster []int
	// most holds the collision bounds, 1 for a case without one.
	most []float64
}

// certifiable returns the cases that have a certificate on the canvases of all windows, their
// samplers, and these canvases: only the first if all are equal.
func certifiable(net samplers.Network, ts []likelihood.Target, cases []Case) (at []int, ss []*catalog.Sampler, canvases [][]int) {
	for i, c := range cases {
		if !slices.ContainsFunc(ts, func(t likelihood.Target) bool { return certificate.Check(c.Sampler, len(t.Free)) != nil }) {
			at, ss = append(at, i), append(ss, c.Sampler)
		}
	}
	canvases = each(ts, func(t likelihood.Target) []int { return t.Canvas(net.Spec().Mask) })
	if !slices.ContainsFunc(canvases, func(canvas []int) bool { return !slices.Equal(canvas, canvases[0]) }) {
		canvases = canvases[:1]
	}
	return at, ss, canvases
}

// certify measures certificates on one canvas.
func certify(ctx context.Context, net samplers.Network, t likelihood.Target, cases []Case, runs int, seed uint64) (certified, error) {
	ts := []likelihood.Target{t}
	at, ss, canvases := certifiable(net, ts, cases)
	out := certified{at: at, most: collisions(net, ts, ss)}
	if len(ss) == 0 {
		return out, nil
	}
	st, err := certificate.Measure(ctx, net, canvases[0], ss, certificate.Config{Runs: runs, Seed: seed ^ seedCertificates, Batch: certificateBatch})
	if err != nil {
		return certified{}, err
	}
	for k := range ss {
		tv, _ := st.Terms(k)
		out.terms = append(out.terms, tv)
	}
	return out, nil
}

// collisions returns the collision bounds on TV of samplers, valid on the canvases of all windows.
func collisions(net samplers.Network, ts []likelihood.Target, ss []*catalog.Sampler) []float64 {
	out := make([]float64, len(ss))
	for k, s := range ss {
		logp, err := s.Collision(mostFree(ts))
		if out[k] = -math.Expm1(logp); err != nil || net.Spec().TimeConditioned {
			out[k] = 1
		}
	}
	return out
}

// bound returns the certificate of case k: the mean of its terms, with an interval from 0 to its
// limit.
func (c certified) bound(k int, confidence float64) report.Value {
	// Units are the sums of dependent runs, divided by the size of the largest cluster.
	terms := c.terms[k]
	units, largest := terms, 1.0
	if c.cluster != nil {
		var sizes []float64
		at := make(map[int]int)
		units = nil
		for i, x := range terms {
			u, ok := at[c.cluster[i]]
			if !ok {
				u = len(units)
				at[c.cluster[i]], units, sizes = u, append(units, 0), append(sizes, 0)
			}
			units[u], sizes[u] = units[u]+x, sizes[u]+1
		}
		largest = slices.Max(sizes)
		units = each(units, func(x float64) float64 { return x / largest })
	}
	limit := estimate.UpperLimit(units, confidence) * largest * float64(len(units)) / float64(len(terms))
	v := of(certificate.UpTo(mean(terms, c.cluster, confidence), min(limit, c.most[k])))
	v.Bound = "upper"
	return v
}

// lines adds the certificates of the cases, next to the distances of their laws, which are
// estimated if ws, samples of first-hitting, have exact likelihoods.
func (c certified) lines(out *draft, cases []Case, ws []window) {
	for k, i := range c.at {
		line := out.add(report.Line{
			Name: "certificate_tv " + cases[i].String(), About: cases[i].String(), Unit: "probability", Left: unknown(), Right: c.bound(k, out.confidence), Gap: unknown(),
			Statement: "TV(P_FHS, P_N) on the windows' canvases is at most the mean of (1 − P_N/P_FHS)_+ given the plan, over runs of First-Hitting",
		})
		if ws == nil {
			continue
		}
		line.Left = out.over(nil).within(between(ws, i, quality.Shortfall), 0)
		l, r := line.Left.Estimate, line.Right.Estimate
		line.Gap = of(estimate.Estimate{Mean: r.Mean - l.Mean, SE: math.Hypot(l.SE, r.SE), Lo: r.Lo - l.Hi, Hi: r.Hi - l.Lo, Confidence: r.Confidence, N: r.N, Units: r.Units})
	}
	if len(c.at) > 0 && ws == nil {
		out.note("Certificates bound the distances of the samplers' laws from First-Hitting's under the network, given the text around a window; they do not depend on the window's own text.")
	}
}
