package schedule

import (
	"math"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
)

// MaxSteps is the greatest number of steps of a grid.
const MaxSteps = 1 << 24

// Grid is a decreasing sequence of N+1 times in the order of a sampler's run: Theta from T =
// Theta[0] to δ = Theta[N], and the masked fractions λ_k = 1 − e^(−θ_k). T may be +Inf, with λ = 1.
// Both ends are exact.
type Grid struct {
	// Kind is the kind that made the grid.
	Kind GridKind
	// Theta and Lambda have N+1 values each.
	Theta, Lambda []float64
	// Kappa is the constant of the paper's grid. It is 0 for other grids, and if the paper's grid
	// is the uniform one.
	Kappa float64
}

// Steps returns N.
func (g Grid) Steps() int { return len(g.Theta) - 1 }

// GridKind names a way to place times between T and δ.
type GridKind string

// The kinds of grid.
const (
	// GridUniform is uniform in the noise's own time t.
	GridUniform GridKind = "uniform"
	// GridLambda is uniform in the masked fraction.
	GridLambda GridKind = "lambda"
	// GridPaper has steps η_k = κ·min(1, θ_k) in θ (Theorem 2 of "Sharp Convergence Rates for
	// Masked Diffusion Models").
	GridPaper GridKind = "paper"
	// GridCos2 is λ_k = cos²(πk/2N), arcsin√λ equally spaced (Zhang and Syed, arXiv
	// 2508.04884): fine at both ends.
	GridCos2 GridKind = "cos2"
	// GridCosine is λ_k = cos(πk/2N) (MaskGIT, arXiv 2202.04200): fine at the start.
	GridCosine GridKind = "cosine"
	// GridThetaList is a list of values of θ.
	GridThetaList GridKind = "theta-list"
	// GridLambdaList is a list of masked fractions.
	GridLambdaList GridKind = "lambda-list"
)

// GridSpec specifies a grid. See [NewGrid].
type GridSpec struct {
	Kind  GridKind
	Noise Noise
	// T and Delta are the values of θ at the ends, with T > Delta ≥ 0.
	T, Delta float64
	// Steps is N. The paper's grid takes either Steps or Kappa.
	Steps int
	Kappa float64
	// List holds the decreasing values of a list grid.
	List []float64
}

// ParseGrid parses "uniform", "lambda", "paper", "cos2" or "cosine", or a decreasing list of
// values of θ = −log α such as "theta:5,1,0.01", or of masked fractions such as
// "lambda:1,0.5,0". "" is uniform. A θ may be "inf".
func ParseGrid(s string) (GridSpec, error) {
	name, list, isList := strings.Cut(s, ":")
	if !isList {
		switch k := GridKind(name); k {
		case "":
			return GridSpec{Kind: GridUniform}, nil
		case GridUniform, GridLambda, GridPaper, GridCos2, GridCosine:
			return GridSpec{Kind: k}, nil
		}
		return GridSpec{}, fault.Errorf("schedule", "grid %q: must be uniform, lambda, paper, cos2, cosine, theta:LIST or lambda:LIST", s)
	}
	spec := GridSpec{Kind: GridThetaList}
	switch name {
	case "theta":
	case "lambda":
		spec.Kind = GridLambdaList
	default:
		return GridSpec{}, fault.Errorf("schedule", "grid %q: begin a list with theta: or lambda: as in lambda:1,0.5,0", s)
	}
	for _, item := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(item), 64)
		if err != nil {
			return GridSpec{}, fault.Errorf("schedule", "grid %q: %q is not a number", name, item)
		}
		spec.List = append(spec.List, v)
	}
	return spec, nil
}

// NewGrid makes a grid. It returns an error if the ends are out of order or outside the noise's
// range, if a kind cannot have an infinite T, or if a list does not decrease.
func NewGrid(s GridSpec) (Grid, error) {
	switch s.Kind {
	case GridThetaList, GridLambdaList:
		return listGrid(s)
	}
	if !(s.Delta >= 0) || !(s.T > s.Delta) {
		return Grid{}, fault.Errorf("schedule", "T is %v and delta is %v: must be T > delta ≥ 0", s.T, s.Delta)
	}
	if s.Kind == GridPaper && s.Kappa != 0 {
		return paperFromKappa(s)
	}
	if s.Kappa != 0 {
		return Grid{}, fault.Errorf("schedule", "kappa belongs to the paper's grid, not to %s", s.Kind)
	}
	if s.Steps < 1 || s.Steps > MaxSteps {
		return Grid{}, fault.Errorf("schedule", "%d steps: must be in 1..%d", s.Steps, MaxSteps)
	}
	switch s.Kind {
	case GridUniform:
		return uniformGrid(s)
	case GridLambda, GridCos2, GridCosine:
		return curveGrid(s)
	case GridPaper:
		return paperFromSteps(s)
	}
	return Grid{}, fault.Errorf("schedule", "grid %q is not known", s.Kind)
}

// LambdaOf returns the masked fraction 1 − e^(−θ), which is 1 at θ = +Inf.
func LambdaOf(theta float64) float64 { return -math.Expm1(-theta) }

// ThetaOf returns θ = −log(1−λ), which is +Inf at λ = 1.
func ThetaOf(lambda float64) float64 { return -math.Log1p(-lambda) }

func newGrid(s GridSpec, n int) Grid {
	return Grid{Kind: s.Kind, Theta: make([]float64, n+1), Lambda: make([]float64, n+1)}
}

// close sets the ends exactly and checks the grid.
func (g Grid) close(s GridSpec) (Grid, error) {
	n := g.Steps()
	g.Theta[0], g.Lambda[0] = s.T, LambdaOf(s.T)
	g.Theta[n], g.Lambda[n] = s.Delta, LambdaOf(s.Delta)
	return g, g.check()
}

// check returns an error unless the times decrease strictly. Masked fractions may be equal, if they
// round to 1.
func (g Grid) check() error {
	for k := 1; k < len(g.Theta); k++ {
		if !(g.Theta[k] < g.Theta[k-1]) || !(g.Lambda[k] <= g.Lambda[k-1]) {
			return fault.Errorf("schedule", "%s grid: step %d goes from −log α = %v to %v: times must decrease", g.Kind, k-1, g.Theta[k-1], g.Theta[k])
		}
	}
	return nil
}

func uniformGrid(s GridSpec) (Grid, error) {
	if err := s.Noise.check("T", s.T); err != nil {
		return Grid{}, err
	}
	if err := s.Noise.check("delta", s.Delta); err != nil {
		return Grid{}, err
	}
	if math.IsInf(s.T, 1) && s.Noise == Exp {
		return Grid{}, fault.Errorf("schedule", "T is infinite: a grid uniform in the time of the exp noise needs a finite one")
	}
	g := newGrid(s, s.Steps)
	first, last := s.Noise.Time(s.T), s.Noise.Time(s.Delta)
	for k := range g.Theta {
		t := first - (first-last)*float64(k)/float64(s.Steps)
		g.Theta[k], g.Lambda[k] = s.Noise.Theta(t), s.Noise.masked(t)
	}
	return g.close(s)
}

// curveGrid maps a curve from 1 to 0 to the ends T and δ.
func curveGrid(s GridSpec) (Grid, error) {
	g := newGrid(s, s.Steps)
	first, last := LambdaOf(s.T), LambdaOf(s.Delta)
	for k := range g.Lambda {
		g.Lambda[k] = last + (first-last)*curve(s.Kind, k, s.Steps)
		g.Theta[k] = ThetaOf(g.Lambda[k])
	}
	return g.close(s)
}

// curve returns the masked fraction after k of n steps of a curve from 1 to 0.
func curve(kind GridKind, k, n int) float64 {
	x := float64(k) / float64(n)
	switch {
	case k == n:
		return 0
	case kind == GridCosine:
		return math.Cos(math.Pi / 2 * x)
	case kind == GridCos2:
		c := math.Cos(math.Pi / 2 * x)
		return c * c
	}
	return 1 - x
}

func listGrid(s GridSpec) (Grid, error) {
	if len(s.List) < 2 {
		return Grid{}, fault.Errorf("schedule", "a list of %d times: must hold at least 2", len(s.List))
	}
	g := newGrid(s, len(s.List)-1)
	for k, v := range s.List {
		if s.Kind == GridLambdaList {
			if !(v >= 0 && v <= 1) {
				return Grid{}, fault.Errorf("schedule", "masked fraction %v: must be in 0..1", v)
			}
			g.Lambda[k], g.Theta[k] = v, ThetaOf(v)
			continue
		}
		if !(v >= 0) {
			return Grid{}, fault.Errorf("schedule", "−log α = %v: must be at least 0", v)
		}
		g.Lambda[k], g.Theta[k] = LambdaOf(v), v
	}
	return g, g.check()
}
