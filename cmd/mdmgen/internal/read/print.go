package read

import (
	"cmp"
	"fmt"
	"math"
	"text/tabwriter"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
)

// print prints a record as text. Failures are kept until the output's Commit.
func (r *Record) print(out *kit.Output) {
	for i, reading := range r.Readings {
		if i > 0 {
			fmt.Fprintln(out)
		}
		t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for g, gap := range reading.Gaps {
			for _, p := range gap.Positions {
				fmt.Fprintf(t, "gap %d, position %d: entropy %.4g nats\n", g+1, p.Position, float64(p.Entropy))
				for _, x := range p.Top {
					line(t, x.Text, []int{x.ID}, float64(x.LogP))
				}
			}
			if len(gap.Candidates) > 0 {
				fmt.Fprintf(t, "gap %d, candidates", g+1)
				if reading.Law != "" {
					fmt.Fprintf(t, " by %s", reading.Law)
				}
				fmt.Fprintln(t)
			}
			for _, c := range gap.Candidates {
				line(t, c.Text, c.IDs, float64(c.LogP))
			}
		}
		t.Flush()
	}
}

// line prints a text with its log-probability and probability.
func line(t *tabwriter.Writer, text string, ids []int, logP float64) {
	if text == "" {
		text = fmt.Sprint(ids)
	} else {
		text = fmt.Sprintf("%q", printable.Text(text))
	}
	fmt.Fprintf(t, "  %s\t%s\t%s\n", fmt.Sprintf("%.4f", logP), fmt.Sprintf("%.4g", math.Exp(logP)), cmp.Or(text, "-"))
}
