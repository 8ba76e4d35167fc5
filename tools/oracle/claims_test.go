package oracle

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/analysis/theory"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
)

// The tests of this file check what the paper's asymptotic statements amount to in numbers.
// TestReference recomputes the values of the files; here they are compared with each other and with
// the rows of tables in docs/research.

// values decodes a file of laws in testdata.
func values(t *testing.T, name string, to any) {
	t.Helper()
	read(t, reftest.Data(t, "reference", "laws", name+".json"), to)
}

// onPage requires a row of a table on a page of docs/research, numbers with six digits.
func onPage(t *testing.T, page string, cells ...any) {
	t.Helper()
	text := reftest.Must(os.ReadFile(filepath.Join(filepath.Dir(reftest.Data(t)), "docs", "research", page)))(t)
	row := "|"
	for _, c := range cells {
		if x, ok := c.(float64); ok {
			c = fmt.Sprintf("%.6g", x)
		}
		row += fmt.Sprintf(" %v |", c)
	}
	if !strings.Contains(string(text), "\n"+row+"\n") {
		t.Errorf("docs/research/%s lacks the row\n%s", page, row)
	}
}

// TestNestedCodes checks that Theorem 1's right side for frozen rates is no bound on Euler: on
// nested MDS codes a lower bound on TV(q_δ, Euler) is above it.
func TestNestedCodes(t *testing.T) {
	var f struct {
		Rows []struct {
			D, Q, N int
			Delta   float64
			Least   float64 `json:"euler_tv_lower_bound"`
			Frozen  float64 `json:"theorem1_rhs_exact_score"`
		} `json:"nested_codes"`
	}
	values(t, "scaling-small", &f)
	above := 0
	for _, r := range f.Rows {
		if r.Least > r.Frozen {
			above++
		}
		onPage(t, "theory.md", fmt.Sprintf("d = %d, q = %d, δ = %g, N = %d", r.D, r.Q, r.Delta, r.N), r.Least, r.Frozen)
	}
	if above != 3 || len(f.Rows) != 4 {
		t.Errorf("above the frozen side in %d of %d rows, want 3 of 4", above, len(f.Rows))
	}
}

// TestRates checks that with the exact score TV(q_δ,P_N) falls like 1/N.
func TestRates(t *testing.T) {
	var f struct {
		Rows []struct {
			World, Sampler string
			Grid           string `json:"grid_kind"`
			N              []int
			TV             []float64 `json:"tv_q_delta"`
			RHS            []float64 `json:"theorem1_rhs_exact_score"`
			Exponent       []float64 `json:"local_exponent"`
		} `json:"small_worlds"`
	}
	values(t, "scaling-small", &f)
	shown := 0
	for _, r := range f.Rows {
		if r.World != "markov3-exact" || r.Grid != "paper" || r.Sampler != "euler" && r.Sampler != "tweedie" {
			continue
		}
		shown++
		for i, n := range r.N[1:] {
			onPage(t, "theory.md", r.Sampler, n, r.TV[i+1], r.RHS[i+1], r.Exponent[i])
		}
		if last := r.Exponent[len(r.Exponent)-1]; math.Abs(last+1) > 0.02 {
			t.Errorf("%s: the last exponent is %v, want about -1", r.Sampler, last)
		}
	}
	if shown != 2 {
		t.Errorf("%d rows are shown, want 2", shown)
	}
}

// TestShortHorizon checks that from a short T, with δ = 0, TV(q0,P_N) is far below TV(q_T,
// all-mask).
func TestShortHorizon(t *testing.T) {
	var f struct {
		Rows []struct {
			World, Sampler string
			T              float64
			N              int
			TV             float64 `json:"tv_q0"`
			Initial        float64 `json:"tv_initial"`
		} `json:"short_horizon"`
	}
	values(t, "scaling-small", &f)
	for _, r := range f.Rows {
		if r.TV > r.Initial/3 {
			t.Errorf("%+v", r)
		}
		onPage(t, "theory.md", r.Sampler, r.T, r.N, r.TV, r.Initial)
	}
	if len(f.Rows) != 6 {
		t.Errorf("%d rows, want 6", len(f.Rows))
	}
}

// TestPairs checks on pairs of equal tokens that TV(q0, Euler) is above the lower bound for any
// grid and below the terms of Theorems 1 and 2, with constants 1.
func TestPairs(t *testing.T) {
	var f struct {
		Rows []struct {
			D     int
			Delta float64
			N     int
			TV    float64 `json:"tv_q0"`
			Least float64 `json:"tv_lower_bound_any_grid"`
			RHS   float64 `json:"theorem1_rhs_exact_score"`
			Term  float64 `json:"theorem2_term"`
		} `json:"pairs_large_d"`
	}
	values(t, "scaling-small", &f)
	for _, r := range f.Rows {
		if !(r.Least < r.TV && r.TV < r.RHS && r.RHS < r.Term) {
			t.Errorf("%+v", r)
		}
		onPage(t, "theory.md", fmt.Sprintf("d = %d, N = %d", r.D, r.N), r.Least, r.TV, r.RHS, r.Term)
	}
	if len(f.Rows) != 3 {
		t.Errorf("%d rows, want 3", len(f.Rows))
	}
}

// TestLemma1 compares the number of steps of the paper's grid with (T + log 1/δ)/κ.
func TestLemma1(t *testing.T) {
	for _, delta := range []float64{1e-2, 1e-6} {
		g := lawstest.Grid(t, schedule.GridSpec{Kind: schedule.GridPaper, T: 30, Delta: delta, Kappa: 1e-3})
		if n, want := float64(g.Steps()), lemma1Count(30, delta, 1e-3); math.Abs(n/want-1) > 0.05 {
			t.Errorf("δ = %v: %v steps, Lemma 1 %v", delta, n, want)
		}
	}
	var f struct {
		Rows []struct {
			T, Delta, Kappa float64
			N               int
			Count           float64 `json:"lemma1_count"`
		} `json:"paper_grid_from_kappa"`
	}
	values(t, "scaling-small", &f)
	for _, r := range f.Rows {
		if !(float64(r.N) < r.Count) || float64(r.N) < 0.8*r.Count {
			t.Errorf("%+v", r)
		}
		onPage(t, "theory.md", fmt.Sprintf("T = %g, δ = %g, κ = %g", r.T, r.Delta, r.Kappa), r.N, r.Count)
	}
	if len(f.Rows) != 1 {
		t.Errorf("%d rows, want 1", len(f.Rows))
	}
}

// TestLemma1Printed checks that the sum that Lemma 1 bounds by κ^p·N is larger on the paper's own
// grid, by the factors (1−κ)^(−p) of the steps below 1, which the proof has as 1 + o(1). It is at
// most (κ/(1−κ))^p·N.
func TestLemma1Printed(t *testing.T) {
	const kappa, delta = 0.1, 0.01
	for p, want := range map[float64]float64{1: 8.89, 2: 0.943} {
		n, sum := 0.0, 0.0
		for theta := 5.0; theta > delta; n++ {
			step := kappa * min(1, theta)
			theta -= step
			sum += math.Pow(step, p) * max(1, math.Pow(theta, -p))
		}
		printed := math.Pow(kappa, p) * n
		if n != 84 || math.Abs(sum/want-1) > 1e-3 || !(sum > 1.05*printed) || sum > printed/math.Pow(1-kappa, p) {
			t.Errorf("p = %v: %v steps, the sum is %v, κ^p·N is %v", p, n, sum, printed)
		}
		if p == 1 {
			onPage(t, "theory.md", "T = 5, δ = 0.01, κ = 0.1, p = 1", math.Round(100*sum)/100, printed)
		}
	}
}

// TestTheorem3Tables checks that the least number of steps on pairs is above its lower bound in
// every row, up to d = 10,000, and that the exponents are those of the statement on pairs and about
// half of them on the paper's own construction.
func TestTheorem3Tables(t *testing.T) {
	var f struct {
		Rows []struct {
			Construction string
			D, N         int
			Eps          float64
		} `json:"steps_needed"`
		Fits map[string]struct {
			D   float64 `json:"exponent_d"`
			Eps float64 `json:"exponent_inverse_eps"`
		}
	}
	values(t, "theorem3", &f)
	largest, point := 0, make(map[[2]float64]int)
	for _, r := range f.Rows {
		largest = max(largest, r.D)
		if at := [2]float64{float64(r.D), r.Eps}; r.Construction == "point" {
			point[at] = r.N
		} else if (r.D == 100 || r.D == 1000) && (r.Eps == 1e-3 || r.Eps == 1e-4) {
			onPage(t, "theory.md", fmt.Sprintf("d = %d, ε = %g", r.D, r.Eps), point[at], float64(r.D)/math.Sqrt(r.Eps), stepsNeeded(r.D, 2, r.Eps, gamma3(r.D, r.Eps)), r.N)
		}
		if least := stepsNeeded(r.D, 2, r.Eps, gamma3(r.D, r.Eps)); r.Construction == "pairs" && !(least < float64(r.N)) {
			t.Errorf("%+v: at least %v", r, least)
		}
	}
	for name, want := range map[string]float64{"pairs": 1, "point": 0.5} {
		if fit := f.Fits[name]; math.Abs(fit.D-want) > 0.05 || math.Abs(fit.Eps-want/2) > 0.05 {
			t.Errorf("%s: exponents %+v, want about %v and %v", name, fit, want, want/2)
		}
	}
	if largest != 10000 {
		t.Errorf("the largest d is %d", largest)
	}
}

// TestMaskWorlds checks that Theorem 1 for frozen rates and Lemma 3's bound hold for data with
// MASK, for which the first term is not Lemma 3's closed form, and that Corollary 1's terms, with
// constants 1, are above TV(q0, Euler).
func TestMaskWorlds(t *testing.T) {
	for _, name := range []string{"maskmass2", "qgamma3", "pairsgamma4"} {
		t.Run(name, func(t *testing.T) {
			var f struct {
				D       int
				T       float64
				Initial float64 `json:"tv_initial"`
				Euler   []struct {
					N        int
					TV       float64            `json:"euler_tv"`
					FrozenTV float64            `json:"frozen_tv"`
					RHS      float64            `json:"frozen_rhs"`
					Terms    map[string]float64 `json:"corollary1_terms"`
				}
			}
			read(t, reftest.Law(t, name), &f)
			if bound := float64(f.D) * math.Exp(-f.T); !(f.Initial <= bound) || len(f.Euler) == 0 {
				t.Errorf("TV(q_T, all-mask) is %v, Lemma 3's bound %v, %d runs", f.Initial, bound, len(f.Euler))
			} else if name == "maskmass2" {
				onPage(t, "theory.md", f.Initial, theory.InitialTV(f.D, f.T), bound)
			}
			for _, r := range f.Euler {
				if !(r.FrozenTV <= r.RHS) || !(r.TV <= r.Terms["sum"]) {
					t.Errorf("%+v", r)
				}
				if name == "maskmass2" && (r.N == 4 || r.N == 16 || r.N == 64) {
					onPage(t, "theory.md", r.N, r.FrozenTV, r.RHS, r.TV, r.Terms["sum"])
				}
			}
		})
	}
}

// TestGumbelDraws checks that Gumbel noise of float32 is truncated, and loses rare tokens if MASK is
// one of the categories: 27 % of the rarest.
func TestGumbelDraws(t *testing.T) {
	var f struct {
		M32       float64 `json:"M_float32"`
		M64       float64 `json:"M_float64"`
		Truncated []struct {
			P, Truncated []float64
			M            float64
		} `json:"truncated_gumbel"`
		Finite []struct {
			Case              string
			P, Grid24, Mdlm32 []float64
			Truncated         []float64 `json:"truncated_M_float32"`
		} `json:"finite_precision"`
	}
	values(t, "gumbel-small", &f)
	for _, r := range f.Finite {
		for i, p := range r.P {
			onPage(t, "benchmarks.md", p, r.Truncated[i], r.Grid24[i], r.Mdlm32[i])
		}
		if lost := 1 - r.Grid24[5]/r.P[5]; math.Abs(lost-0.27) > 0.005 || r.Case != "mask_column_psi_1e-3" {
			t.Errorf("%s: %v of the sixth token is lost", r.Case, lost)
		}
	}
	if len(f.Finite) != 1 || len(f.Truncated) != 2 || fmt.Sprintf("%.6g %.6g", f.M32, f.M64) != "16.6355 36.7368" {
		t.Errorf("%d and %d rows, the largest Gumbel variables are %v and %v", len(f.Finite), len(f.Truncated), f.M32, f.M64)
	}
	for i, p := range f.Truncated[0].P {
		if f.Truncated[1].P[i] != p {
			t.Error("the two laws differ")
		}
		onPage(t, "benchmarks.md", p, f.Truncated[0].Truncated[i], f.Truncated[1].Truncated[i])
	}
}
