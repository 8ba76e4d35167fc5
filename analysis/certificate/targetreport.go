package certificate

import (
	"bytes"
	"fmt"
	"math"

	"mdmgen/analysis/report"
)

// Meaning is the promise of a search, in words.
func (f *Found) Meaning() string {
	return fmt.Sprintf("With probability %g over the runs, TV(P_FHS, P_N) is at most %g for a setting that is said to be within the target, on this network and canvas, whatever was looked at: "+
		"settings were chosen on %d runs of first-hitting and confirmed on %d others, in the order of the table, up to the first whose limit is above the target. "+
		"The certificate is an estimate of a bound, with its standard error, and the limit that of one setting by itself. "+
		"The distance is from first-hitting's law on the network, and not from the data's.",
		f.Confidence, f.Most, f.FindingRuns, f.Runs)
}

// Advice is a sentence on which setting to use.
func (f *Found) Advice() string {
	b := f.Best
	if b == nil {
		return fmt.Sprintf("use first-hitting itself: no setting that saves a hundredth of its calls is certified within the target by %d runs; more runs may find one.", f.Runs)
	}
	return fmt.Sprintf("%s saves %.1f of %d calls (%.2g %%), at the price of a distance; first-hitting has none.", b.label(), float64(f.D)-b.Calls, f.D, 100*(1-b.Calls/float64(f.D)))
}

func (c Candidate) label() string { return fmt.Sprintf("%s with N = %d", c.Name, c.N) }

// Markdown writes the result: what to use with its costs, and tables of what was looked at.
func (f *Found) Markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "target: TV(P_FHS, P_N) ≤ %g with probability %g, on %d positions; %d network calls\n\n", f.Most, f.Confidence, f.D, f.Calls)
	cost := report.Table{Head: []string{"", "expected calls a text"}, Numbers: 1}
	if f.Best != nil {
		cost.Rows = append(cost.Rows, []string{f.Best.label(), digits(f.Best.Calls)})
	}
	cost.Rows = append(cost.Rows, []string{"first-hitting", fmt.Sprint(f.D)})
	cost.Markdown(b)
	fmt.Fprintf(b, "\n%s\n", f.Advice())
	for _, part := range []struct {
		what string
		list []Candidate
	}{
		{fmt.Sprintf("confirmed on %d runs, up to the first limit above the target", f.Runs), f.Confirmed},
		{fmt.Sprintf("looked at on %d other runs", f.FindingRuns), f.Searched},
	} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s:\n\n", part.what)
		t := report.Table{Head: []string{"setting", "N", "expected calls", "tv certificate", "limit", "within"}, Numbers: 1}
		for _, c := range part.list {
			within := ""
			if float64(c.Limit) <= f.Most {
				within = "yes"
			}
			t.Rows = append(t.Rows, []string{c.Name, fmt.Sprint(c.N), digits(c.Calls), c.Bound.String(), digits(float64(c.Limit)), within})
		}
		t.Markdown(b)
	}
}

func digits(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.4g", x)
}
