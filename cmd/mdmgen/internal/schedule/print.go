package schedule

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/printable"
)

// print prints a record as text.
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
	if p.Rises == 0 {
		line("falling", "yes: the loss never rises with the number of visible tokens")
	} else {
		line("falling", "no: the loss rises at %d of %d numbers of visible tokens, by up to %.3g nats; made to fall, it moves by %.2g (root mean square)",
			p.Rises, p.Positions-1, p.RiseMost, p.Moved)
	}
	if p.Smoothed {
		line("smoothed", "yes: windows are predicted better by the loss as a smooth curve")
	}
	if p.Interpolated > 0 {
		line("interpolated", "%d of %d losses, which fewer than two windows of a half have a draw of: score with more --draws", p.Interpolated, p.Positions)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	level := fmt.Sprintf("%g %% interval", 100*r.Confidence)
	fmt.Fprintf(t, "N\tschedule\tcalls\texcess, nats\t%s\tchosen − this\t%s\t\n", level, level)
	var warnings []string
	for _, c := range r.Choices {
		for _, s := range c.Schedules {
			fmt.Fprintf(t, "%d\t%s\t%.4g\t%s\t%s\t", c.N, s.Name, s.Calls, nats(s.Excess.Mean), interval(s.Excess))
			warnings = append(warnings, s.Excess.Warnings...)
			if s.Gain == nil {
				fmt.Fprint(t, "\t\t\n")
			} else {
				fmt.Fprintf(t, "%s\t%s\t\n", nats(s.Gain.Mean), interval(*s.Gain))
			}
		}
		fmt.Fprintf(t, "%d\t√-rule\t\t%s\t\t\t\t\n", c.N, nats(c.Root))
	}
	t.Flush() // A failure is kept until the output's Commit.
	slices.Sort(warnings)
	for _, text := range slices.Compact(warnings) {
		line("note", "%s", text)
	}
	for _, c := range r.Choices {
		if c.Better {
			fmt.Fprintf(w, "\nto use for N = %d, chosen on all %d windows (excess %s by their own profile):\n  %s\n", c.N, p.Chosen+p.Judged, nats(c.Predicted), c.Flags)
		} else {
			equal := map[string]string{string(profile.Sizes): "equal sizes are", string(profile.Grid): "a grid of equal masked fractions is"}[r.Kind]
			fmt.Fprintf(w, "\nto use for N = %d: %s as good here, the chosen schedule not being shown to be better:\n  %s\n", c.N, equal, c.Flags)
		}
	}
	fmt.Fprintf(w, "\n%s", kit.Wrap(r.Meaning, kit.Width, ""))
}

// nats is a number of nats with what digits it needs; what is rounding alone is 0.
func nats(x float64) string {
	if math.Abs(x) < rounding {
		return "0"
	}
	return fmt.Sprintf("%.4g", x)
}

// interval is an estimate's, ? where it tells none.
func interval(e estimate.Estimate) string {
	if math.IsInf(e.SE, 1) {
		return "?"
	}
	return nats(e.Lo) + ".." + nats(e.Hi)
}
