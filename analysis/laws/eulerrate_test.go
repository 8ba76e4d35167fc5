package laws_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
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

// TestAbsoluteIntegral integrates polynomials whose roots are anywhere, close to each other and to the
// ends, and compares with their antiderivatives between these.
func TestAbsoluteIntegral(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		roots := []float64{r.Float64(), 0, 1 - math.Exp(-12*r.Float64())}
		roots[1] = roots[0] + (1-roots[0])*math.Exp(-12*r.Float64())
		if r.IntN(2) == 0 {
			roots[2] = 1
		}
		slices.Sort(roots)
		a, b, c := roots[0], roots[1], roots[2]
		whole := func(x float64) float64 { // of (x−a)(x−b)(x−c)
			return x * (x*(x*(x/4-(a+b+c)/3)+(a*b+a*c+b*c)/2) - a*b*c)
		}
		want, from := 0.0, 0.0
		for _, to := range append(roots, 1) {
			want, from = want+math.Abs(whole(to)-whole(from)), to
		}
		got := laws.AbsoluteIntegral(func(x float64) float64 { return (x - a) * (x - b) * (x - c) }, 0, 1)
		if math.Abs(got-want) > 1e-13 {
			t.Errorf("roots %v: %v, want %v", roots, got, want)
		}
	}
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
		}{{"euler", c.Euler, got.EulerIntegral, 1e-12}, {"frozen", c.Frozen, got.FrozenIntegral, 1e-12}} {
			e := math.Abs(v.got/reftest.Must(strconv.ParseFloat(v.digits, 64))(t) - 1)
			worst[v.name] = max(worst[v.name], e)
			if !(e <= v.most) {
				t.Errorf("%s: %s integral %v, want %s (%.2g)", c.Name, v.name, v.got, v.digits, e)
			}
		}
	}
	t.Log(len(cases), worst)
}
