package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
)

// Card is the head of the page: the settings, the distances at equal calls, and the fastest and slowest cell.
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
	card.Result = equalCalls(r) + fmt.Sprintf("A sequence takes from %.3g s (%s) to %.3g s (%s).", fast.Summary.Total.Mean, name(fast), slow.Summary.Total.Mean, name(slow))
	card.Numbers = []report.Fact{{Name: "tokens/s of " + name(fast), Text: estimated(fast.Summary.Effective).String()}}
	return card
}

// equalCalls compares the KL of cells that make about the same number of calls, as many cells as there are, and
// names those whose calls over the window have no number; "" where no two are equal.
func equalCalls(r *Report) string {
	var best []*CellReport
	var unknown []string
	name := namer(r)
	for i := range r.Cells {
		calls, ok := windowCalls(r, &r.Cells[i])
		if _, measured := r.Cells[i].metric("kl"); measured && !ok {
			unknown = append(unknown, name(&r.Cells[i]))
		}
		var equal []*CellReport
		for j := range r.Cells {
			c := &r.Cells[j]
			other, has := windowCalls(r, c)
			if _, measured := c.metric("kl"); ok && has && measured && math.Abs(other.Mean-calls.Mean) <= nearCalls*calls.Mean {
				equal = append(equal, c)
			}
		}
		if len(equal) > len(best) {
			best = equal
		}
	}
	if len(best) < 2 {
		return ""
	}
	kl := func(c *CellReport) float64 { e, _ := c.metric("kl"); return e.Mean }
	slices.SortStableFunc(best, func(a, b *CellReport) int { return cmp.Compare(kl(a), kl(b)) })
	near, far := best[0], best[len(best)-1]
	calls, _ := windowCalls(r, near)
	out := fmt.Sprintf("At about %.3g calls KL(P_FHS‖P_N) is from %s nats (%s) to %s (%s). ", calls.Mean, plain(kl(near)), name(near), plain(kl(far)), name(far))
	if len(unknown) > 0 {
		out += fmt.Sprintf("Not compared, as calls over the window are not known: %s. ", Named(unknown, ", "))
	}
	return out
}

// windowCalls are the expected calls over the window of sampling errors; without a plan those that were measured,
// where the window is as long as the canvas is free.
func windowCalls(r *Report, c *CellReport) (estimate.Estimate, bool) {
	if e, ok := c.metric("error_calls"); ok {
		return e, true
	}
	if q := r.Settings.Quality; q == nil || q.ErrorLength != c.Free {
		return estimate.Estimate{}, false
	}
	return allCalls(c)
}

// allCalls are the expected calls of a sequence, those that were measured where there is no plan.
func allCalls(c *CellReport) (estimate.Estimate, bool) {
	if x := c.Expected.All(); !math.IsNaN(x) {
		return exact(x), true
	}
	if c.Summary == nil {
		return estimate.Estimate{}, false
	}
	x := c.Summary.Calls.Mean + c.Summary.FinishCalls.Mean
	return exact(x), !math.IsNaN(x)
}

// headWords are what the heads of columns mean that are no settings of samplers.
var headWords = map[string]string{
	"sampler": "its name, as --sampler takes it", "changes law": "whether tokens are drawn otherwise than from the network's own rows: taken for their probability, at a temperature, truncated, constrained; where not, few calls and given orders still have distributions of their own",
	KeyLength: "positions of the canvas", KeyBatch: "sequences of a network call at most", KeyThreads: "threads of a network call",
	"repetitions": "how often the setting was run", "calls": "network calls a sequence, without finishing ones", "finishing": "calls a sequence that fill what the steps left",
	"rows": "canvases in the calls of a sequence", "events": "simulated events a sequence, reveals included; they are no calls", "masks left": "positions a sequence that are masked in the end",
	"s/sequence": "seconds a sequence", "tokens/s": "sampled tokens a second of wall-clock time", "calls (expected)": "calls a sequence, finishing ones included, before any is made",
	"tv": "total variation between the sampler's and First-Hitting's distributions, 0 to 1", "kl": "KL(P_FHS‖P_N), in nats: First-Hitting's distribution against the sampler's",
	"tv collision bound": "the probability that two positions are drawn in one call, which TV does not exceed", "tv collision bound full": "the same over all free positions of the canvas",
	"tv certificate": "an estimate of a number that TV over all free positions does not exceed", "kl certificate": "the same of KL", "tv certificate limit": "what that number does not exceed, with the probability of the intervals",
	"entropy": "of the frequencies of tokens in a sample", "distinct 1": "different tokens of a sample, as a share", "distinct 2": "different pairs of neighbours, as a share", "distinct 3": "different triples, as a share", "distinct 4": "different runs of four, as a share", "repeated 4": "runs of four that stood before, as a share",
	"self nelbo": "the NELBO of the samples under the model itself, which bounds their −log probability", "generative perplexity": "of the samples, under the evaluator", "generative entropy": "of the evaluator's tokens in the samples", "generative mean perplexity": "the mean of the samples' perplexities",
}

// Words explain the columns of a report's tables.
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
				text = strings.ReplaceAll(k.Help, "`", "")
			}
			if !seen[head] && text != "" {
				out = append(out, report.Fact{Name: head, Text: text})
			}
			seen[head] = true
		}
	}
	return out
}
