package bound

import (
	"context"
	"math"
	"slices"

	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/model/world"
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

// certified says of each case what runs of first-hitting tell of its distance from it, given
// all that a run tells: (1 − e^W)_+ for TV, −W for KL. A case without a certificate is left
// out of ss, at, which has its place.
type certified struct {
	at     []int
	tv, kl [][]float64
	// cluster has the window of a run, where there are several.
	cluster []int
	// limits are for one canvas alone: see [certificate.Bound].
	limits []float64
}

// certifiable are the cases that have a certificate on all canvases, with their samplers. Of
// canvases that are equal the first is left.
func certifiable(net samplers.Network, canvases [][]int, cases []Case) (at []int, ss []*catalog.Sampler, left [][]int) {
	free := func(canvas []int) (n int) {
		for _, id := range canvas {
			if id == net.Spec().Mask {
				n++
			}
		}
		return n
	}
	for i, c := range cases {
		if !slices.ContainsFunc(canvases, func(canvas []int) bool { return certificate.Check(c.Sampler, free(canvas)) != nil }) {
			at, ss = append(at, i), append(ss, c.Sampler)
		}
	}
	if !slices.ContainsFunc(canvases, func(canvas []int) bool { return !slices.Equal(canvas, canvases[0]) }) {
		canvases = canvases[:1]
	}
	return at, ss, canvases
}

// certify makes runs on one canvas.
func certify(ctx context.Context, net samplers.Network, canvas []int, cases []Case, runs int, seed uint64, confidence float64) (certified, error) {
	at, ss, _ := certifiable(net, [][]int{canvas}, cases)
	if len(ss) == 0 {
		return certified{}, nil
	}
	out := certified{at: at}
	st, err := certificate.Measure(ctx, net, canvas, ss, certificate.Config{Runs: runs, Seed: seed ^ seedCertificates, Batch: certificateBatch, Confidence: confidence})
	if err != nil {
		return out, err
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

// lines states what certificates say of the cases on windows: of distances whose exact
// values nobody knows there.
func (c certified) lines(out *draft, cfg Config) {
	for k, i := range c.at {
		name := cfg.Cases[i].String()
		out.add(report.Line{Name: "certificate_tv " + name, Statement: "TV(P_FHS, P_N) on the windows' canvases is at most the mean of (1 − P_N/P_FHS)_+ given the plan, over runs of first-hitting",
			Left: unknown(), Right: c.bound(c.tv[k], cfg.Confidence), Gap: unknown(), Unit: "probability"})
		out.add(report.Line{Name: "certificate_kl " + name, Statement: "KL(P_FHS‖P_N) on the windows' canvases is at most the mean of log(P_FHS/P_N) given the plan",
			Left: unknown(), Right: c.bound(c.kl[k], cfg.Confidence), Gap: unknown()})
	}
	if len(c.at) > 0 {
		out.Notes = append(out.Notes, "Certificates bound distances of the samplers' laws from first-hitting's, on the network and given what is around a window; the text of a window does not count.")
	}
}

// certificatesOfChain sets certificates beside distances that were estimated from exact
// likelihoods of first-hitting's samples ws.
func certificatesOfChain(ctx context.Context, out *draft, net samplers.Network, t likelihood.Target, ws []window, cfg Config) error {
	c, err := certify(ctx, net, masked([]likelihood.Target{t}, net.Spec().Mask)[0], cfg.Cases, certificateRuns, cfg.Seed, cfg.Confidence)
	if err != nil {
		return err
	}
	for k, i := range c.at {
		for j, what := range distances() {
			line := report.Line{
				Name: "certificate_" + what.name + " " + cfg.Cases[i].String(), Statement: what.of + ", from exact likelihoods of first-hitting's samples, beside its certificate from other runs",
				Left: of(what.mean(what.terms(ws, i), cfg.Confidence)), Right: c.bound([][][]float64{c.tv, c.kl}[j][k], cfg.Confidence), Unit: what.unit,
			}
			gap := line.Right.Estimate
			gap.Mean, gap.SE = line.Right.Mean-line.Left.Mean, math.Hypot(line.Right.SE, line.Left.SE)
			half := math.Hypot(line.Right.Hi-line.Right.Mean, line.Left.Hi-line.Left.Mean)
			gap.Lo, gap.Hi = gap.Mean-half, gap.Mean+half
			line.Gap = of(gap)
			out.add(line)
		}
	}
	return nil
}

// certificates adds, for laws that are exact, the certificates estimated from runs. at names
// a case inside a line's name, exact are its TV and KL from first-hitting.
func (l *worldLines) certificates(ctx context.Context, file *world.World, cases []Case, at func(i int) string, exact func(i int) (tv, kl float64)) error {
	canvas := slices.Repeat([]int{file.Facts().MaskID}, file.Facts().Length)
	c, err := certify(ctx, file, canvas, cases, worldRuns, worldSeed, estimate.DefaultConfidence)
	if err != nil {
		return err
	}
	lines := 2 * len(c.at)
	for k, i := range c.at {
		tv, kl := exact(i)
		name := "certificate." + at(i)
		add := func(what, statement, unit string, is float64, terms []float64) {
			line := l.add(name+what, statement, unit, is, 0)
			line.Right = c.bound(terms, estimate.DefaultConfidence)
			gap := func(confidence float64) estimate.Estimate {
				return mean(terms, nil, confidence).Map(func(x float64) float64 { return minus(x, line.Left.Mean) }, func(float64) float64 { return 1 })
			}
			line.Gap = of(gap(estimate.DefaultConfidence))
			line.Verdict, line.OK = oneSided(gap, lines)
		}
		add(".tv", "TV(P_FHS,P_N) is at most the mean of (1 − P_N/P_FHS)_+ given the plan, estimated from runs of first-hitting", "TV", tv, c.tv[k])
		l.reported(name+".limit", "TV(P_FHS,P_N) beside what the mean does not exceed with probability 0.95, for any number of runs", "TV", tv, c.limits[k])
		if !math.IsInf(slices.Max(c.kl[k]), 1) {
			add(".kl", "KL(P_FHS‖P_N) is at most the mean of log(P_FHS/P_N) given the plan, estimated from the same runs", "nats", kl, c.kl[k])
		}
	}
	return nil
}
