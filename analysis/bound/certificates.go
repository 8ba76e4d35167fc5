package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

const (
	// certificateRuns is the number of runs of first-hitting that certificates are estimated
	// from on a network, or twice that of the windows where those are more.
	certificateRuns = 128
	// certificateBatch is how many of them share calls.
	certificateBatch = 32
	// worldRuns is that on a world.
	worldRuns        = 1000
	seedCertificates = 0x6365727400000000
	worldSeed        = 1
)

// certified has the terms of the cases' certificates by run: (1 − e^W)_+ for TV, −W for KL.
type certified struct {
	// at are the places of the cases that have a certificate.
	at     []int
	tv, kl [][]float64
	// cluster has the window of a run, where there are several.
	cluster []int
	// limits are for one canvas alone: see [certificate.Bound].
	limits []float64
}

// certifiable are the cases that have a certificate on the canvases of all windows, with their
// samplers, and these canvases: the first alone where all are equal.
func certifiable(net samplers.Network, ts []likelihood.Target, cases []Case) (at []int, ss []*catalog.Sampler, canvases [][]int) {
	for i, c := range cases {
		if !slices.ContainsFunc(ts, func(t likelihood.Target) bool { return certificate.Check(c.Sampler, len(t.Free)) != nil }) {
			at, ss = append(at, i), append(ss, c.Sampler)
		}
	}
	canvases = masked(ts, net.Spec().Mask)
	if !slices.ContainsFunc(canvases, func(canvas []int) bool { return !slices.Equal(canvas, canvases[0]) }) {
		canvases = canvases[:1]
	}
	return at, ss, canvases
}

// certify makes runs on one canvas.
func certify(ctx context.Context, net samplers.Network, t likelihood.Target, cases []Case, runs int, seed uint64, confidence float64) (certified, error) {
	at, ss, canvases := certifiable(net, []likelihood.Target{t}, cases)
	out := certified{at: at}
	if len(ss) == 0 {
		return out, nil
	}
	st, err := certificate.Measure(ctx, net, canvases[0], ss, certificate.Config{Runs: runs, Seed: seed ^ seedCertificates, Batch: certificateBatch, Confidence: confidence})
	if err != nil {
		return certified{}, err
	}
	for k := range ss {
		tv, kl := st.Terms(k)
		out.tv, out.kl, out.limits = append(out.tv, tv), append(out.kl, kl), append(out.limits, st.Bound(k).TVLimit)
	}
	return out, nil
}

// bound is an estimate from terms as a value that is a bound.
func (c certified) bound(terms []float64, confidence float64) report.Value {
	v := of(mean(terms, c.cluster, confidence))
	v.Bound = "upper"
	return v
}

// masked are the canvases of windows, MASK at their free positions.
func masked(ts []likelihood.Target, mask int) [][]int {
	var out [][]int
	for _, t := range ts {
		canvas := slices.Clone(t.IDs)
		for _, l := range t.Free {
			canvas[l] = mask
		}
		out = append(out, canvas)
	}
	return out
}

// lines states certificates of the cases beside the distances of their laws, which are
// estimated where ws, samples of first-hitting, have exact likelihoods.
func (c certified) lines(out *draft, cases []Case, ws []window) {
	for k, i := range c.at {
		for j, what := range distances {
			line := out.add(report.Line{
				Name: "certificate_" + what.name + " " + cases[i].String(), Statement: what.of + what.certificate, Unit: what.unit,
				Left: unknown(), Right: c.bound([][][]float64{c.tv, c.kl}[j][k], out.confidence), Gap: unknown(),
			})
			if ws == nil {
				continue
			}
			line.Left = of(what.mean(what.terms(ws, i), out.confidence))
			gap := line.Right.Estimate
			gap.Mean, gap.SE = line.Right.Mean-line.Left.Mean, math.Hypot(line.Right.SE, line.Left.SE)
			half := math.Hypot(line.Right.Hi-line.Right.Mean, line.Left.Hi-line.Left.Mean)
			gap.Lo, gap.Hi = gap.Mean-half, gap.Mean+half
			line.Gap = of(gap)
		}
	}
	if len(c.at) > 0 && ws == nil {
		out.note("Certificates bound distances of the samplers' laws from first-hitting's, on the network and given what is around a window; the text of a window does not count.")
	}
}
