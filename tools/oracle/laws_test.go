package oracle

import (
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
)

// TestFrozen checks that the frozen process has the law of its matrix exponentials.
func TestFrozen(t *testing.T) {
	g := lawstest.Thetas(t, 5, 3, 1, 0.2, 0.01)
	lawstest.Worlds(func(name string, w *laws.World) {
		if d := lawstest.Apart(w.FrozenLaw(g), frozenSeries(w, g)); d > 1e-14 {
			t.Errorf("%s: matrix exponentials differ by %v", name, d)
		}
	})
}
