package score

import (
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

// TestScoreChunk checks that windows are evaluated together if their rows share calls, and
// otherwise one by one, each kept when it is finished.
func TestScoreChunk(t *testing.T) {
	m, err := model.Open(t.Context(), setup.BuiltinName, model.Options{Builtins: setup.Builtins()})
	orttest.Need(t, err)
	reftest.OK(t, err)
	defer m.Close()
	for _, c := range []struct{ length, draws, batch, want int }{
		{128, 16, 0, 16}, {128, 16, 1, 1}, {128, 16, 2, 4}, {128, 1024, 0, 1}, {8, 1, 0, 64},
	} {
		e := reftest.Must(likelihood.New(m, likelihood.Options{Batch: c.batch}))(t)
		r := &scoring{evaluator: e, config: likelihood.Config{Draws: c.draws}, survey: &texts.Survey{Shapes: []texts.Shape{{Length: c.length}}}}
		if got := r.chunkSize(); got != c.want {
			t.Errorf("%+v: %d windows", c, got)
		}
	}
}
