package schedule

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
)

// print prints a record as text. Failures are kept until the output's Commit.
func print(w io.Writer, r Record) {
	p := r.Profile
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-14s%s\n", name, printable.String(fmt.Sprintf(format, args...)))
	}
	line("profile", "%s: %d positions, %d windows to choose by and %d to judge by", p.File, p.Positions, p.Chosen, p.Judged)
	if p.LeftOut > 0 {
		line("left out", "%s with fewer positions", english.Plural(p.LeftOut, "window", ""))
	}
	line("NELBO", "%s nats a sequence", p.NELBO)
	if p.Interpolated > 0 {
		line("interpolated", "%d of %d losses, which fewer than two windows of a half have a draw of: score with more --draws", p.Interpolated, p.Positions)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	level := fmt.Sprintf("%g %% interval", 100*r.Confidence)
	fmt.Fprintf(t, "N\tschedule\tcalls\texcess, nats\t%s\tchosen − equal\t%s\t\n", level, level)
	for _, c := range r.Choices {
		for i, s := range c.Schedules {
			gain, between := "", ""
			if i > 0 {
				gain, between = nats(c.Gain.Mean), interval(c.Gain)
			}
			fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t\n", c.N, s.Name, s.Calls, nats(s.Excess.Mean), interval(s.Excess), gain, between)
		}
	}
	t.Flush()
	for _, c := range r.Choices {
		if c.Better {
			fmt.Fprintf(w, "\nto use for N = %d, chosen on all %d windows (excess %s by their own profile):\n  %s\n", c.N, p.Chosen+p.Judged, nats(c.Predicted), c.Flags)
		} else {
			fmt.Fprintf(w, "\nto use for N = %d: equal sizes are as good here, the chosen schedule not being shown to be better:\n  %s\n", c.N, c.Flags)
		}
	}
	fmt.Fprintf(w, "\n%s", kit.Wrap(r.Meaning, kit.Width, ""))
}

// nats writes a number of nats; what is rounding alone is 0.
func nats(x float64) string {
	if math.Abs(x) < rounding {
		return "0"
	}
	return fmt.Sprintf("%.4g", x)
}

// interval writes an estimate's interval, ? where it has none.
func interval(e estimate.Estimate) string {
	if math.IsInf(e.SE, 1) {
		return "?"
	}
	return nats(e.Lo) + ".." + nats(e.Hi)
}
