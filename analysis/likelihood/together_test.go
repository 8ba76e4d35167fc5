package likelihood

import (
	"testing"

	"mdmgen/model/facts"
)

// TestTogether checks that the rows of a call of several canvases take at most 1 GB for any batch.
func TestTogether(t *testing.T) {
	for _, v := range []struct{ batch, columns, wanted, want int }{
		{64, 50258, 1024, 5}, {64, 2049, 128, 64}, {1 << 20, 2049, 128, 1023}, {3, 1 << 24, 1024, 1}, {0, 2049, 8, 1},
	} {
		e := &Evaluator{facts: facts.Facts{Columns: v.columns}, opts: Options{Batch: v.batch}}
		if got := e.Together(1024, v.wanted); got != v.want {
			t.Errorf("%+v: %d canvases", v, got)
		}
	}
}
