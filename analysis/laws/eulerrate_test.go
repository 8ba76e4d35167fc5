package laws_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

// theorem1Case is a world of testdata/eulerrate.json, made by tools/reference/eulerrate.py, with a
// grid and both integrals of Theorem 1 to 30 digits.
type theorem1Case struct {
	Name          string
	D, V          int
	Q0            []float64
	Mu0, Mu1      [][][]float64
	C, P          float64
	Theta         []float64
	Euler, Frozen string
}

func theorem1Cases(t testing.TB, path string) []theorem1Case {
	t.Helper()
	data := reftest.Must(os.ReadFile(path))(t)
	var file struct{ Cases []theorem1Case }
	reftest.OK(t, json.Unmarshal(data, &file))
	return file.Cases
}

func (c theorem1Case) euler(t testing.TB) (*laws.World, schedule.Steps) {
	t.Helper()
	table := func(rows [][][]float64) (out []float64) {
		for _, state := range rows {
			for _, row := range state {
				if row == nil {
					row = make([]float64, c.V)
				}
				out = append(out, row...)
			}
		}
		return out
	}
	w := laws.FromTables(c.D, c.V, c.Q0, table(c.Mu0), table(c.Mu1), c.C, c.P)
	return w, lawstest.Steps(t, schedule.RuleEuler, schedule.GridSpec{Kind: schedule.GridThetaList, List: c.Theta})
}

// TestTheorem1Digits compares both integrals with values of 30 digits, on worlds whose conditional
// means have poles near the start of a step: nearly certain rows, tiny probabilities, large early
// steps, many steps.
func TestTheorem1Digits(t *testing.T) {
	cases := theorem1Cases(t, "testdata/eulerrate.json")
	if len(cases) < 20 {
		t.Errorf("%d cases", len(cases))
	}
	worst := map[string]float64{}
	for _, c := range cases {
		w, steps := c.euler(t)
		got := w.Theorem1(steps)
		for _, v := range []struct {
			name, digits string
			got, most    float64
		}{{"euler", c.Euler, got.EulerIntegral, 1e-9}, {"frozen", c.Frozen, got.FrozenIntegral, 1e-9}} {
			e := math.Abs(v.got/reftest.Must(strconv.ParseFloat(v.digits, 64))(t) - 1)
			worst[v.name] = max(worst[v.name], e)
			if !(e <= v.most) {
				t.Errorf("%s: %s integral %v, want %s (%.2g)", c.Name, v.name, v.got, v.digits, e)
			}
		}
	}
	t.Log(len(cases), worst)
}
