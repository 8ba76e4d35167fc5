package bound

import (
	"context"
	"math"
	"testing"

	"mdmgen/internal/reftest"
)

// TestLong checks that NELBO − bound by plans is a lower bound on the gap.
func TestLong(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "timed3"} {
		w, e := openWorld(t, name)
		long := reftest.Must(Text(context.Background(), w, e, sequences(w), nil, Config{Plans: 800, Seed: 2}))(t)
		checkForm(t, long)
		exact := reftest.Must(Text(context.Background(), w, e, sequences(w), nil, Config{Seed: 2}))(t)
		gap, want := find(t, long, "plans").Gap, find(t, exact, "jensen").Gap.Mean
		if gap.Mean < 0 || gap.Bound != "lower" || gap.Mean > want+4*gap.SE || name == "xor3-mixed" && math.Abs(gap.Mean-want) > 0.02*want+1e-4 {
			t.Errorf("%s: gap %+v, exactly %v", name, gap, want)
		}
	}
}
