package interaction

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Matrix holds the interactions of the masked positions of one canvas.
type Matrix struct {
	Positions []int `json:"positions"`
	// Nats [i][j] is I(i, j), the mean over the tokens of Positions[i] of KL(μ^j after ‖ μ^j
	// before), in nats, and 0 for i = j; SE is its standard error, 0 if all tokens were enumerated.
	Nats [][]float64 `json:"nats"`
	SE   [][]float64 `json:"se"`
	// Tokens is the number of tokens drawn for each position, 0 if all were enumerated.
	Tokens int `json:"tokens,omitempty"`
	// Canvases is the number of canvases evaluated.
	Canvases int `json:"canvases"`
	// Asymmetry is the sum of I over pairs whose earlier position was revealed minus that over
	// pairs whose later position was, as a fraction of their sum: 0 for the rows of a single
	// distribution.
	Asymmetry estimate.Estimate `json:"asymmetry"`
}

// MatrixConfig configures the measurement of a matrix.
type MatrixConfig struct {
	// Tokens is the number of tokens drawn for each position, at least 2; 0 enumerates all tokens
	// with a positive probability.
	Tokens int
	Seed   uint64
	// OnCall, if not nil, is called after each call with the number of its canvases.
	OnCall func(canvases int)
}

// maxTogether is the greatest number of a matrix's canvases in a call.
const maxTogether = 32

// reveal is a canvas with one of the masked positions revealed.
type reveal struct {
	// at is the index of that position, −1 for none; turn numbers the tokens drawn for it.
	at, turn int
	ids      []int64
	weight   float64
	// told holds the KLs by masked position, 0 at its own.
	told []float64
}

// matrix is a Matrix being measured.
type matrix struct {
	Matrix
	cfg  MatrixConfig
	net  samplers.Network
	spec samplers.Spec
	law  *draw.Categorical
}

// MeasureMatrix measures the interactions of the masked positions of a canvas. A time-conditioned
// network is evaluated at m/(d+1) for m of d masked. It returns an error if fewer than two
// positions are masked, a row is not a distribution, or ctx ends.
func MeasureMatrix(ctx context.Context, net samplers.Network, canvas []int, cfg MatrixConfig) (*Matrix, error) {
	m := &matrix{Matrix: Matrix{Tokens: cfg.Tokens}, cfg: cfg, net: net, spec: net.Spec()}
	if m.spec.BlockSize > 0 {
		return nil, errBlocks
	}
	var err error
	if m.law, err = draw.NewCategorical(m.spec.Vocabulary, draw.Settings{}); err != nil {
		return nil, err
	}
	blank := reveal{at: -1, ids: make([]int64, len(canvas))}
	for l, id := range canvas {
		if blank.ids[l] = int64(id); id == m.spec.Mask {
			m.Positions = append(m.Positions, l)
		}
	}
	if d := len(m.Positions); d < 2 {
		return nil, fault.Errorf("interaction", "%d free positions: must be at least 2", d)
	}
	before, err := m.laws(ctx, []reveal{blank})
	if err != nil {
		return nil, err
	}
	all := m.reveals(blank.ids, before)
	for some := range slices.Chunk(all, maxTogether) {
		after, err := m.laws(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, r := range some {
			some[i].told = make([]float64, len(m.Positions))
			for j := range m.Positions {
				if j != r.at {
					some[i].told[j], _ = distance(after[0], before[j])
					after = after[1:]
				}
			}
		}
	}
	m.sum(all)
	return &m.Matrix, nil
}

// laws returns the rows of the masked positions of canvases, one canvas after another.
func (m *matrix) laws(ctx context.Context, some []reveal) (out [][]float64, err error) {
	var call samplers.Call
	for _, r := range some {
		masked := slices.DeleteFunc(slices.Clone(m.Positions), func(l int) bool { return r.at >= 0 && l == m.Positions[r.at] })
		lambda := float64(len(masked)) / float64(len(m.Positions)+1)
		call.Add(&m.spec, r.ids, samplers.AskRow{Positions: masked, Theta: schedule.ThetaOf(min(lambda, m.spec.MostMasked()))})
	}
	if out, err = probabilities(ctx, m.net, m.law, call); err != nil {
		return nil, err
	}
	if m.Canvases += len(some); m.cfg.OnCall != nil {
		m.cfg.OnCall(len(some))
	}
	return out, nil
}

// reveals returns the canvases with a token at each position: all tokens, or the drawn ones.
func (m *matrix) reveals(ids []int64, before [][]float64) (out []reveal) {
	numbers := draw.NewNumbers(m.cfg.Seed, 0)
	put := func(i, turn, token int, weight float64) {
		r := reveal{at: i, turn: turn, ids: slices.Clone(ids), weight: weight}
		r.ids[m.Positions[i]] = int64(token)
		out = append(out, r)
	}
	for i, p := range before {
		for turn := range m.Tokens {
			token, _ := m.law.Pick(p, numbers.Call(m.Positions[i], turn))
			put(i, turn, token, 1/float64(m.Tokens))
		}
		for token, q := range p {
			if m.Tokens == 0 && q > 0 {
				put(i, 0, token, q)
			}
		}
	}
	return out
}

// sum computes the matrix from all reveals.
func (m *matrix) sum(all []reveal) {
	d, n := len(m.Positions), float64(m.Tokens)
	m.Nats, m.SE = square(d), square(d)
	turns := max(m.Tokens, 1)
	differences, sums := make([]float64, turns), make([]float64, turns)
	for _, r := range all {
		for j, nats := range r.told {
			m.Nats[r.at][j] += r.weight * nats
			if sums[r.turn] += r.weight * nats; j > r.at {
				differences[r.turn] += r.weight * nats
			} else {
				differences[r.turn] -= r.weight * nats
			}
		}
	}
	if m.Tokens > 0 {
		for _, r := range all {
			for j, nats := range r.told {
				m.SE[r.at][j] += (nats - m.Nats[r.at][j]) * (nats - m.Nats[r.at][j]) / (n * (n - 1))
			}
		}
		for _, row := range m.SE {
			for j := range row {
				row[j] = math.Sqrt(row[j])
			}
		}
	}
	switch {
	case floats.Sum(sums) == 0: // No reveal gives any information.
	case m.Tokens > 0:
		m.Asymmetry = estimate.Ratio(differences, sums, nil, estimate.DefaultConfidence)
	default:
		x := differences[0] / sums[0]
		m.Asymmetry = estimate.Estimate{Mean: x, Lo: x, Hi: x, Confidence: estimate.DefaultConfidence, N: 1, Units: 1}
	}
}

func square(d int) [][]float64 {
	out := make([][]float64, d)
	for i := range out {
		out[i] = make([]float64, d)
	}
	return out
}
