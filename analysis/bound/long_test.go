package bound

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/report"
	"mdmgen/samplers/catalog"
)

// TestLong: bounds by plans lie above the exact values of their samplers and come near with
// many plans; a lower side, where there is one, lies below. NELBO − bound is a lower bound on the
// gap.
func TestLong(t *testing.T) {
	cases := []Case{
		asked(t, catalog.Options{Sampler: "euler", Steps: 8}), asked(t, catalog.Options{Sampler: "parallel-fhs", Steps: 2}),
		asked(t, catalog.Options{Sampler: "ordered"}), asked(t, catalog.Options{Sampler: "tweedie", Steps: 4, Finish: "leave"}),
	}
	for _, name := range []string{"xor3-mixed", "timed3"} {
		w, e := openWorld(t, name)
		long, err := Text(context.Background(), w, e, sequences(w), nil, Config{Cases: cases, Plans: 800, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		checkForm(t, long)
		exact, err := Text(context.Background(), w, e, sequences(w), nil, Config{Cases: cases, Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		gap, want := find(t, long, "plans").Gap, find(t, exact, "jensen").Gap.Mean
		if gap.Mean < 0 || gap.Bound != "lower" || gap.Mean > want+4*gap.SE || name == "xor3-mixed" && math.Abs(gap.Mean-want) > 0.02*want+1e-4 {
			t.Errorf("%s: gap %+v, exactly %v", name, gap, want)
		}
		for _, c := range cases {
			want := find(t, exact, "excess "+c.String()).Right.Mean
			if got := find(t, long, "plans "+c.String()).Right; math.Abs(got.Mean-want) > 0.03 || got.Bound != "upper" {
				t.Errorf("%s: bound by plans %v, exactly %v", c, got, want)
			}
			for _, l := range long.Lines {
				if l.Name == "sides "+c.String() && l.Left.Mean > want+0.01 {
					t.Errorf("%s: lower side %v, exactly %v", c, l.Left.Mean, want)
				}
			}
		}
		sides := slices.ContainsFunc(long.Lines, func(l report.Line) bool { return strings.HasPrefix(l.Name, "sides ") })
		if !sides && !strings.Contains(strings.Join(long.Notes, " "), "No lower side") {
			t.Errorf("%s: no lower side, and no reason: %q", name, long.Notes)
		}
	}
}
