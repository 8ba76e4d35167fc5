package schedule

import (
	"math"
	"strings"

	"mdmgen/internal/fault"
)

// Constants of the schedules as in published implementations (noise_schedule.py of MDLM): ε of the
// log-linear and cosine schedules, and the ends of the geometric one.
const (
	noiseEpsilon = 1e-3
	sigmaMin     = 1e-4
	sigmaMax     = 20
)

// Noise is a schedule of the forward process: the probability α(t) that a token is still clean at
// the schedule's own time t. Samplers measure time as θ = −log α(t), so a schedule matters only
// where its own time is used: for a grid that is uniform in t, and for the rates of Euler and
// τ-leaping, which are constant during a step of t. The zero value is [Exp].
type Noise int

// The schedules. t runs over [0,∞) for Exp and over [0,1] for the others.
const (
	// Exp is the paper's: α = e^(−t), so θ = t.
	Exp Noise = iota
	// LogLinear is α = 1 − (1−ε)t, ε = 1e-3 (MDLM, SEDD and RADD).
	LogLinear
	// Linear is α = 1 − t (LLaDA, Dream).
	Linear
	// Cosine is α = ε + (1−ε)·cos(πt/2), ε = 1e-3 (MDLM).
	Cosine
	// Geometric is −log α = σ_min^(1−t)·σ_max^t, from 1e-4 to 20 (SEDD).
	Geometric
)

var noiseNames = [...]string{"exp", "loglinear", "linear", "cosine", "geometric"}

// Noises lists the names that [ParseNoise] accepts.
func Noises() []string { return noiseNames[:] }

// String returns the name that [ParseNoise] accepts.
func (n Noise) String() string { return noiseNames[n] }

// ParseNoise parses the name of a schedule; "" is [Exp].
func ParseNoise(name string) (Noise, error) {
	if name == "" {
		return Exp, nil
	}
	for i, s := range noiseNames {
		if s == name {
			return Noise(i), nil
		}
	}
	return 0, fault.Errorf("schedule", "noise %q: must be one of %s", name, strings.Join(noiseNames[:], ", "))
}

// Range returns the least and greatest θ = −log α that the schedule reaches.
func (n Noise) Range() (least, most float64) {
	switch n {
	case LogLinear, Cosine:
		return 0, -math.Log(noiseEpsilon)
	case Geometric:
		return sigmaMin, sigmaMax
	}
	return 0, math.Inf(1)
}

// check returns an error for a θ outside the schedule's range, up to rounding.
func (n Noise) check(what string, theta float64) error {
	least, most := n.Range()
	if slack := 1e-12 * most; theta >= least*(1-1e-12) && (theta <= most || theta <= most+slack) {
		return nil
	}
	return fault.Errorf("schedule", "%s is %v: with the %s noise −log α must be in %.6g..%.6g", what, theta, n, least, most)
}

// Theta returns −log α(t).
func (n Noise) Theta(t float64) float64 {
	switch n {
	case LogLinear, Linear, Cosine:
		return -math.Log1p(-n.masked(t))
	case Geometric:
		return sigmaMin * math.Pow(sigmaMax/sigmaMin, t)
	}
	return t
}

// masked returns 1 − α(t), accurately even if it is small.
func (n Noise) masked(t float64) float64 {
	switch n {
	case LogLinear:
		return (1 - noiseEpsilon) * t
	case Linear:
		return t
	case Cosine:
		s := math.Sin(math.Pi * t / 4)
		return (1 - noiseEpsilon) * 2 * s * s
	}
	return -math.Expm1(-n.Theta(t))
}

// AlphaPrime returns dα/dt, which is not positive.
func (n Noise) AlphaPrime(t float64) float64 {
	switch n {
	case LogLinear:
		return -(1 - noiseEpsilon)
	case Linear:
		return -1
	case Cosine:
		return -(1 - noiseEpsilon) * math.Pi / 2 * math.Sin(math.Pi*t/2)
	case Geometric:
		theta := n.Theta(t)
		return -math.Log(sigmaMax/sigmaMin) * theta * math.Exp(-theta)
	}
	return -math.Exp(-t)
}

// Time returns the t with −log α(t) = θ, the inverse of [Noise.Theta]. θ must be in the schedule's range.
func (n Noise) Time(theta float64) float64 {
	lambda := -math.Expm1(-theta)
	switch n {
	case LogLinear:
		return min(lambda/(1-noiseEpsilon), 1)
	case Linear:
		return lambda
	case Cosine:
		return min(4/math.Pi*math.Asin(math.Sqrt(min(lambda/(2*(1-noiseEpsilon)), 0.5))), 1)
	case Geometric:
		return min(max(math.Log(theta/sigmaMin)/math.Log(sigmaMax/sigmaMin), 0), 1)
	}
	return theta
}

// rate returns −α′(t)/(1−α(t)), the rate at which a masked position is revealed per unit of the
// schedule's own time.
func (n Noise) rate(t float64) float64 {
	switch n {
	case LogLinear, Linear:
		return 1 / t
	case Cosine:
		return math.Pi / 2 / math.Tan(math.Pi*t/4)
	case Geometric:
		theta := n.Theta(t)
		return math.Log(sigmaMax/sigmaMin) * theta / math.Expm1(theta)
	}
	return 1 / math.Expm1(t)
}
