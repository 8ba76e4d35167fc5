package bound

import (
	"context"
	"math"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
)

// exactMeans returns the means over all texts of a world of the NELBO and of −log P_FHS.
func exactMeans(t testing.TB, w *world.World) (nelbo, fhs float64) {
	t.Helper()
	of := reftest.Must(laws.New(w))(t)
	costs, bounds := laws.NegLog(of.FHSLaw()), of.NELBO().BySequence
	for i := range costs {
		nelbo, fhs = nelbo+bounds[i]/float64(len(costs)), fhs+costs[i]/float64(len(costs))
	}
	return nelbo, fhs
}

// TestLong checks that NELBO − bound by plans is a lower bound on the gap, on worlds with and
// without time.
func TestLong(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3"} {
		w, e := openWorld(t, name)
		long := reftest.Must(Text(context.Background(), w, e, sequences(w), nil, Config{Plans: 800, Seed: 2}))(t)
		checkForm(t, long)
		nelbo, fhs := exactMeans(t, w)
		gap, want := find(t, long, "plans").Gap, nelbo-fhs
		if gap.Mean < 0 || gap.Bound != "lower" || gap.Mean > want+4*gap.SE || name == "xor3-mixed" && math.Abs(gap.Mean-want) > 0.02*want+1e-4 {
			t.Errorf("%s: gap %+v, exactly %v", name, gap, want)
		}
	}
}
