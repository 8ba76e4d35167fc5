package interaction

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/internal/parallel"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/spread"
)

// Config configures the measurement of interactions.
type Config struct {
	// Sequences is the number of sequences, at least 2, since errors are estimated between them; 0
	// means 8.
	Sequences int
	// Calls is the greatest number of network calls for a sequence; 0 means one per free position.
	// With fewer calls, some positions are revealed together between measured reveals.
	Calls int
	// Texts, if any, are the sequences, of the canvas's length: their tokens are revealed and given
	// instead of sampled ones.
	Texts [][]int
	Seed  uint64
	// OnCall, if not nil, is called after each call for all sequences.
	OnCall func()
}

// roomNumbers limits the numbers in the rows of a call of more than one sequence.
const roomNumbers = 1 << 26

// Fractions is the number of bins of the masked fraction.
const Fractions = 8

// The origins of revealed tokens.
const (
	FromSamples = "samples" // drawn from the network
	FromText    = "text"    // the text's own
)

// Profile is an interaction profile and the extent of its measurement.
type Profile struct {
	spread.Interactions
	// From is FromSamples or FromText. Positions is the number of free positions in each of
	// Sequences, and Calls the number of network calls for all of them.
	From      string `json:"from"`
	Positions int    `json:"positions"`
	Sequences int    `json:"sequences"`
	Calls     int    `json:"calls"`
	// Asymmetry is the sum of I over pairs whose earlier position was revealed minus that over
	// pairs whose later position was, as a fraction of their sum: 0 for the rows of a single
	// distribution.
	Asymmetry estimate.Estimate `json:"asymmetry"`
}

// String describes the measurement in a few words.
func (p *Profile) String() string {
	what := "samples of the model's own"
	if p.From == FromText {
		what = "windows of text"
	}
	return fmt.Sprintf("%d %s, %d positions, %d calls", p.Sequences, what, p.Positions, p.Calls)
}

var errBlocks = fault.Errorf("interaction", "the network is block-causal: its rows see no later block, so interactions are not measured")

// Measure estimates the interaction profile of a network on canvases that it samples itself, or on
// texts: for each reveal of a position i, KL(μ^j after ‖ μ^j before) at all positions j that are
// still masked. Sequences share calls. A time-conditioned network is evaluated at m/(d+1) for m of
// d masked. It returns an error if fewer than two positions are masked, a row is not a
// distribution, or ctx ends.
func Measure(ctx context.Context, net samplers.Network, canvas []int, cfg Config) (*Profile, error) {
	if cfg.Texts != nil {
		cfg.Sequences = len(cfg.Texts)
	}
	if cfg.Sequences = cmp.Or(cfg.Sequences, 8); cfg.Sequences < 2 {
		return nil, fault.Errorf("interaction", "%d sequences: must be at least 2", cfg.Sequences)
	}
	spec := net.Spec()
	if spec.BlockSize > 0 {
		return nil, errBlocks
	}
	all := make([]*sequence, cfg.Sequences)
	for i := range all {
		categorical, err := draw.NewCategorical(spec.Vocabulary, draw.Settings{}) // each with its own memory
		if err != nil {
			return nil, err
		}
		if all[i] = newSequence(&spec, categorical, canvas, cfg, uint64(i)); all[i].d < 2 {
			return nil, fault.Errorf("interaction", "%d free positions: must be at least 2", all[i].d)
		}
	}
	together := max(1, roomNumbers/(all[0].d*spec.Columns))
	calls := 0
	for step := 0; step <= all[0].steps && len(all[0].masked) > 0; step++ {
		for some := range slices.Chunk(all, together) {
			var call samplers.Call
			for _, s := range some {
				call.Add(&spec, s.ids, samplers.AskRow{Positions: s.masked, Theta: schedule.ThetaOf(min(float64(len(s.masked))/float64(s.d+1), s.spec.MostMasked()))})
			}
			rows, err := samplers.RowsOf(ctx, net, call)
			if err != nil {
				return nil, err
			}
			n := len(some[0].masked) * spec.Columns
			errs := make([]error, len(some))
			parallel.For(len(some), func(i int) { errs[i] = some[i].take(rows.Slice(i*n, (i+1)*n), step) })
			if err := cmp.Or(errs...); err != nil {
				return nil, err
			}
			calls++
		}
		if cfg.OnCall != nil {
			cfg.OnCall()
		}
	}
	out := &Profile{Interactions: profile(all), From: FromSamples, Positions: all[0].d, Sequences: len(all), Calls: calls}
	if cfg.Texts != nil {
		out.From = FromText
	}
	differences, sums := make([]float64, len(all)), make([]float64, len(all))
	for i, s := range all {
		differences[i], sums[i] = s.forward-s.backward, s.forward+s.backward
	}
	if floats.Sum(sums) > 0 {
		out.Asymmetry = estimate.Ratio(differences, sums, nil, estimate.DefaultConfidence)
	}
	return out, out.Check()
}

// sequence is a sequence revealed in a random order.
type sequence struct {
	spec        *samplers.Spec
	categorical *draw.Categorical
	numbers     *draw.Numbers
	text        []int // nil if tokens are drawn
	ids         []int64
	masked      []int // ascending
	order       []int // the masked positions, the next first
	d           int
	steps       int
	// before holds the logarithms of the probabilities in the previous call, by position.
	before map[int][]float32
	// revealed is the position last revealed alone, −1 for none.
	revealed int
	lambda   float64
	// sums and counts are indexed by bins of masked fraction and of distance.
	sums, counts, distances [Fractions][]float64
	fractions, weights      [Fractions]float64
	forward, backward       float64
}

func newSequence(spec *samplers.Spec, categorical *draw.Categorical, canvas []int, cfg Config, index uint64) *sequence {
	s := &sequence{spec: spec, categorical: categorical, numbers: draw.NewNumbers(cfg.Seed, index), revealed: -1, before: make(map[int][]float32)}
	if cfg.Texts != nil {
		s.text = cfg.Texts[index]
	}
	for l, id := range canvas {
		if id == spec.Mask {
			s.masked = append(s.masked, l)
		} else if s.text != nil {
			id = s.text[l]
		}
		s.ids = append(s.ids, int64(id))
	}
	s.d = len(s.masked)
	s.order = slices.Clone(s.masked)
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Compare(s.numbers.Plan(b), s.numbers.Plan(a)) })
	if s.steps = s.d; cfg.Calls > 0 {
		s.steps = min(s.d, cfg.Calls)
	}
	for i := range s.sums {
		n := bin(len(canvas)) + 1
		s.sums[i], s.counts[i], s.distances[i] = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	return s
}

// take measures the effect of the last reveal and performs the next.
func (s *sequence) take(rows draw.Row, step int) error {
	columns := s.spec.Columns
	row := func(i int) draw.Row { return rows.Slice(i*columns, (i+1)*columns) }
	kl, logs := make([]float64, len(s.masked)), make([]float64, columns)
	for i, l := range s.masked {
		if err := s.categorical.LogProbabilities(logs, row(i)); err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		if s.before[l] == nil {
			s.before[l] = make([]float32, columns)
		}
		before := s.before[l]
		for a, x := range logs {
			if s.revealed >= 0 {
				if q := math.Exp(x); q > 0 {
					kl[i] += q * (x - float64(before[a]))
				}
			}
			before[a] = float32(x)
		}
	}
	if s.revealed >= 0 {
		s.add(kl)
	}
	s.revealed = -1
	reveals := min(s.due(step)-(s.d-len(s.masked)), len(s.order))
	if reveals == 1 {
		s.lambda, s.revealed = float64(len(s.masked))/float64(s.d), s.order[0]
	}
	asked := slices.Clone(s.masked)
	for _, l := range s.order[:reveals] {
		if s.text != nil {
			s.ids[l] = int64(s.text[l])
		} else {
			token, err := s.categorical.Token(row(slices.Index(asked, l)), s.numbers.Token(l))
			if err != nil {
				return err
			}
			s.ids[l] = int64(token)
		}
		i := slices.Index(s.masked, l)
		s.masked = slices.Delete(s.masked, i, i+1)
		delete(s.before, l)
	}
	s.order = s.order[reveals:]
	return nil
}

// due returns the number of positions to be visible after a call. With fewer calls than positions,
// every other call reveals one position, so that the next call measures it, and the calls in
// between reveal more.
func (s *sequence) due(step int) int {
	pairs := max(s.steps/2, 1)
	switch {
	case s.steps == s.d:
		return step + 1
	case step%2 == 0:
		return s.d - len(s.masked) + 1
	}
	return max((step+1)/2*s.d/pairs, s.d-len(s.masked))
}

// add adds KLs at the masked positions.
func (s *sequence) add(kl []float64) {
	f := min(int(s.lambda*Fractions), Fractions-1)
	for i, l := range s.masked {
		delta := max(l-s.revealed, s.revealed-l)
		b := bin(delta)
		nats := max(kl[i], 0)
		if s.sums[f][b] += nats; l > s.revealed {
			s.forward += nats
		} else {
			s.backward += nats
		}
		s.distances[f][b] += float64(delta)
		s.counts[f][b]++
	}
	s.fractions[f] += s.lambda
	s.weights[f]++
}

// bin returns the bin of a distance: 1, 2, 3, 4, and then two per doubling.
func bin(distance int) int {
	if distance <= 4 {
		return distance - 1
	}
	return 3 + int(math.Round(2*math.Log2(float64(distance)/4)))
}

// profile combines the sequences. Bins without a pair are omitted.
func profile(all []*sequence) (out spread.Interactions) {
	bins := len(all[0].counts[0])
	counts, distances := make([]float64, bins), make([]float64, bins)
	for _, s := range all {
		for f := range Fractions {
			floats.Add(counts, s.counts[f])
			floats.Add(distances, s.distances[f])
		}
	}
	for b, n := range counts {
		if n > 0 {
			out.Distance = append(out.Distance, distances[b]/n)
		}
	}
	for f := range Fractions {
		if floats.Sum(all[0].counts[f]) == 0 { // All sequences have equal numbers of pairs.
			continue
		}
		var lambda, weight float64
		for _, s := range all {
			lambda += s.fractions[f]
			weight += s.weights[f]
		}
		var nats, se []float64
		var count []int
		last := 0.0
		for b, n := range counts {
			if n == 0 {
				continue
			}
			sums, pairs := make([]float64, len(all)), make([]float64, len(all))
			for i, s := range all {
				sums[i], pairs[i] = s.sums[f][b], s.counts[f][b]
			}
			e := estimate.Estimate{Mean: last} // as at the previous distance if nothing is known
			if floats.Sum(pairs) > 0 {
				e = estimate.NormalRatio(sums, pairs, nil, estimate.DefaultConfidence)
			}
			last = e.Mean
			nats, se, count = append(nats, e.Mean), append(se, e.SE), append(count, int(floats.Sum(pairs)))
		}
		out.Lambda = append(out.Lambda, lambda/weight)
		out.Nats, out.SE, out.Count = append(out.Nats, nats), append(out.SE, se), append(out.Count, count)
	}
	return out
}
