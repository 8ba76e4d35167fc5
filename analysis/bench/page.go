package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
)

// Card returns the head of the page: the settings, the distances at equal calls, and the fastest
// and slowest cell.
func (r *Report) Card() report.Card {
	s := r.Settings
	card := report.Card{Facts: []report.Fact{
		{Name: "settings", Text: fmt.Sprint(len(r.Cells))},
		{Name: "repetitions × sequences", Text: fmt.Sprintf("%d × %d", s.Repetitions, s.Sequences)},
		{Name: "seed", Text: fmt.Sprint(s.Seed)},
	}}
	var fast, slow *CellReport
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Summary == nil || math.IsNaN(c.Summary.Total.Mean) {
			continue
		}
		if fast == nil || c.Summary.Total.Mean < fast.Summary.Total.Mean {
			fast = c
		}
		if slow == nil || c.Summary.Total.Mean > slow.Summary.Total.Mean {
			slow = c
		}
	}
	if fast == nil {
		return card
	}
	name := namer(r)
	card.Result, card.Points = equalCalls(r)
	card.Points = append(card.Points, fmt.Sprintf("A sequence takes from %.3g s (%s) to %.3g s (%s).", fast.Summary.Total.Mean, name(fast), slow.Summary.Total.Mean, name(slow)))
	card.Numbers = []report.Fact{{Name: "tokens/s of " + name(fast), Text: estimated(fast.Summary.Effective).String()}}
	return card
}

// maxEqual is the greatest number of groups of equal calls in the head of the page.
const maxEqual = 3

// atCalls is a cell's name with its number of calls and its distance.
type atCalls struct {
	name  string
	calls float64
	kl    estimate.Estimate
}

// equalCalls compares the KL of cells that make about the same number of calls, for the numbers
// with the most cells. Two kinds of cells are listed separately: those whose distribution is
// First-Hitting's, whose KL is 0, and those whose calls are unknown. If only certificates were
// measured, it compares their bounds on KL.
func equalCalls(r *Report) (result string, points []string) {
	metric, far := "kl", "The farthest is"
	lead := "Nearest to First-Hitting, by KL(P_FHS‖P_N) over the whole canvas"
	if q := r.Settings.Quality; q != nil && q.ErrorSamples == 0 && q.CertificateRuns > 0 {
		metric, far = "kl_certificate", "The greatest is"
		lead = "Least certified bound on KL(P_FHS‖P_N) over the whole canvas"
	}
	var left []atCalls
	var same, unknown []string
	name := namer(r)
	for i := range r.Cells {
		c := &r.Cells[i]
		kl, measured := c.metric(metric)
		calls, known := allCalls(c)
		switch {
		case !measured:
		case math.Abs(kl.Mean) <= rounding:
			same = append(same, name(c))
		case !known:
			unknown = append(unknown, name(c))
		default:
			left = append(left, atCalls{name(c), calls.Mean, kl})
		}
	}
	for _, g := range equalGroups(left) {
		points = append(points, compare(g, far))
	}
	if len(points) > 0 {
		result = lead + ", in nats ± standard error"
		if len(unknown) > 0 {
			points = append(points, fmt.Sprintf("Not compared, as their calls are not known: %s.", Named(unknown, "; ")))
		}
	}
	if len(same) > 0 {
		points = append(points, fmt.Sprintf("0, as First-Hitting itself: %s.", Named(same, "; ")))
	}
	return result, points
}

// equalGroups returns the largest groups of cells that make about the same number of calls, in
// ascending order of calls.
func equalGroups(left []atCalls) (groups [][]atCalls) {
	for len(groups) < maxEqual {
		var best, others []atCalls
		for _, c := range left {
			var equal, rest []atCalls
			for _, o := range left {
				if math.Abs(o.calls-c.calls) <= catalog.NearCalls*c.calls {
					equal = append(equal, o)
				} else {
					rest = append(rest, o)
				}
			}
			if len(equal) > len(best) {
				best, others = equal, rest
			}
		}
		if len(best) < 2 {
			break
		}
		groups, left = append(groups, best), others
	}
	slices.SortFunc(groups, func(a, b []atCalls) int { return cmp.Compare(a[0].calls, b[0].calls) })
	return groups
}

// compare names the nearest cell, the cells that cannot be distinguished from it, and the farthest.
func compare(cells []atCalls, far string) string {
	slices.SortStableFunc(cells, func(a, b atCalls) int { return cmp.Compare(a.kl.Mean, b.kl.Mean) })
	near, last := cells[0], cells[len(cells)-1]
	apart := func(c atCalls) bool {
		return c.kl.Mean-near.kl.Mean > max(rounding, 2*math.Hypot(c.kl.SE, near.kl.SE))
	}
	var first, rivals []string
	for _, c := range cells {
		switch {
		case c.kl.Mean-near.kl.Mean <= rounding: // the same distribution, such as one grid under two names
			first = append(first, c.name)
		case !apart(c):
			rivals = append(rivals, c.name+": "+estimated(c.kl).String())
		}
	}
	text := fmt.Sprintf("About %.2g calls: %s: %s.", near.calls, Named(first, " and "), estimated(near.kl))
	if len(rivals) > 0 {
		text += " Indistinguishable from it: " + Named(rivals, "; ") + "."
	}
	if apart(last) {
		text += fmt.Sprintf(" %s %s: %s.", far, last.name, estimated(last.kl))
	}
	return text
}

// allCalls returns the expected calls of a sequence, or the measured ones if there is no plan.
func allCalls(c *CellReport) (estimate.Estimate, bool) {
	if x := c.Expected.All(); !math.IsNaN(x) {
		return estimate.Exact(x), true
	}
	if c.Summary == nil {
		return estimate.Estimate{}, false
	}
	x := c.Summary.Calls.Mean + c.Summary.FinishCalls.Mean
	return estimate.Exact(x), !math.IsNaN(x)
}

// headWords explains the heads of columns that are not settings of samplers.
var headWords = map[string]string{
	"sampler": "its name", "changes law": "true: tokens are not drawn from the network's own rows: they are the likeliest, or drawn at a temperature, truncated or constrained, or from other rows, as with cached keys and values. false: they are drawn from these rows; a text's distribution still depends on which positions a call draws together, which tv and kl measure",
	"grid": "the times of the steps", "steps": "steps of a grid or a decoder, or groups of parallel-fhs: N in pictures", "kappa": "κ of the paper's grid, whose steps are κ·min(1, θ)",
	"T": "−log α at which sampling starts", "delta": "−log α at which the steps end", "cache": "which keys and values are cached between calls; – means none",
	"positions/token": "positions that the network computes per sampled token, which a cache reduces", "cache kl": "the effect of cached keys and values: KL of the rows used from full rows, per token", "cache tv": "the same as TV", "cache worst": "the greatest KL of a token",
	"groups kl": "the effect of drawing several positions in a call: KL of the rows used from those of one position per call, per token", "groups tv": "the same as TV", "groups worst": "the greatest KL of a token",
	KeyLength: "positions of the canvas, without the model's frame", KeyBatch: "most sequences per network call", KeyThreads: "threads per network call",
	"repetitions": "number of runs of the setting", "calls": "network calls per sequence over the whole canvas, without finishing calls", "finishing": "calls per sequence that fill the positions left by the steps",
	"rows": "canvases in the calls of a sequence", "masks left": "positions per sequence that are still masked at the end",
	"s/sequence": "seconds a sequence", "tokens/s": "sampled tokens a second of wall-clock time", "calls (expected)": "expected calls per sequence, including finishing calls",
	"tv": "total variation between the sampler's distribution and First-Hitting's, 0 to 1; less is better", "kl": "KL(P_FHS‖P_N), in nats: First-Hitting's distribution, the reference, against the sampler's; less is better",
	"tv collision bound": "the probability that some call draws two positions, an upper bound on TV",
	"tv certificate":     "an estimate of an upper bound on TV over all free positions", "kl certificate": "the same for KL", "tv certificate limit": "an upper limit of that bound, with the probability of the intervals",
	"entropy": "of the frequencies of tokens in a sample", "distinct 1": "different tokens of a sample, as a share", "distinct 2": "different pairs of neighbours, as a share", "distinct 3": "different triples, as a share", "distinct 4": "different runs of four, as a share", "repeated 4": "runs of four that occurred before, as a share",
	"self nelbo": "the NELBO of the samples under the model itself, which bounds their −log probability", "generative perplexity": "of the samples, under the evaluator", "generative entropy": "of the evaluator's tokens in the samples", "generative mean perplexity": "the mean of the samples' perplexities",
}

// Words explains the columns of a report's tables.
func Words(r *Report) (out []report.Fact) {
	tables, _ := Tables(r)
	seen := make(map[string]bool)
	for _, t := range tables {
		for _, head := range t.Head {
			key, _, _ := strings.Cut(strings.TrimLeft(strings.ReplaceAll(head, "_", " "), "≤≥ "), " (")
			if head == "calls (expected)" {
				key = head
			}
			text := headWords[key]
			if k, ok := find(strings.ReplaceAll(head, "_", "-")); ok && text == "" {
				if _, after, ok := strings.Cut(k.Help, "`, "); ok && strings.HasPrefix(k.Help, "`") {
					k.Help = after // "`X`, the …" is about the flag
				}
				text = strings.ReplaceAll(k.Help, "`", "")
			}
			if !seen[head] && text != "" {
				out = append(out, report.Fact{Name: head, Text: text})
			}
			seen[head] = true
		}
	}
	return append(out, report.Fact{Name: "±", Text: "a standard error; ? if a single run does not give it"}, report.Fact{Name: "indistinguishable", Text: "closer than twice the root of the sum of both standard errors' squares"})
}
