package likelihood

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mdmgen/samplers/plan"
	"mdmgen/samplers/schedule"
)

// cost is the summand of one masked position, from logMu and logMass as in [Ask].
type cost func(logMu, logMass float64) float64

func crossEntropy(logMu, _ float64) float64 { return -logMu }

// draw appends the draws of one window. Streams are read in a fixed order, so a window's draws
// depend on nothing else.
func (d *drawer) draw() error {
	d.free = d.target.Free
	form, n := d.cfg.form(), d.cfg.DrawsOr()
	f, u := forms[form], 0.0
	if form == LLaDA {
		d.llada(n)
		return nil
	}
	for j := range n {
		switch {
		case f.at == nil:
			if err := d.plans(); err != nil {
				return err
			}
			continue
		case f.group == 2 && j%2 == 1:
			u = 1 - u
		case f.strata:
			u = (float64(j) + d.stream.Float64()) / float64(n)
		default:
			u = d.stream.Float64()
		}
		f.at(d, u)
	}
	return nil
}

// add appends a draw of one row: weight times the sum of c over the masked positions, 0 if none is
// masked.
func (d *drawer) add(masked []int, lambda, weight float64, c cost) {
	s := sample{from: len(d.asks), to: len(d.asks)}
	if len(masked) > 0 {
		a := Ask{Target: d.target, Masked: masked, Wanted: masked, Lambda: lambda, LogMu: make([]float64, len(masked))}
		if d.mass {
			a.LogMass = make([]float64, len(masked))
		}
		d.asks = append(d.asks, a)
		s.to++
	}
	sum := func(c cost) func([]Ask) float64 {
		return func(asks []Ask) float64 {
			var total float64
			for _, a := range asks {
				for j, mu := range a.LogMu {
					mass := 0.0
					if a.LogMass != nil {
						mass = a.LogMass[j]
					}
					total += c(mu, mass)
				}
			}
			return weight * total
		}
	}
	s.value = sum(c)
	if d.mass {
		s.price = sum(func(_, mass float64) float64 { return price(mass) })
	}
	d.samples = append(d.samples, s)
}

// subset appends a draw of Subsets at u in (0,1): k = 1+⌊ud⌋ positions. With one uniform per
// position, the positions of the k smallest are a uniform subset, and the k-th smallest uniform is
// the masked fraction at which FHS has exactly them masked (Lemma 6 of the paper).
func (d *drawer) subset(u float64) {
	n := len(d.free)
	k := min(1+int(u*float64(n)), n)
	masked, lambda := d.smallest(k)
	d.add(masked, lambda, float64(n)/float64(k), crossEntropy)
}

// smallest draws one uniform per free position. It returns the positions of the k smallest,
// ascending, and the k-th smallest uniform.
func (d *drawer) smallest(k int) ([]int, float64) {
	type place struct {
		u float64
		l int
	}
	places := make([]place, len(d.free))
	for i, l := range d.free {
		places[i] = place{d.stream.Float64(), l}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.u, b.u), a.l-b.l)
	})
	masked := make([]int, k)
	for i := range masked {
		masked[i] = places[i].l
	}
	slices.Sort(masked)
	return masked, places[k-1].u
}

// lambda appends a draw at masked fraction λ: M given that it is not empty, with weight 1/λ times
// the probability that it is not.
func (d *drawer) lambda(lambda float64, c cost) {
	masked, p := d.some(lambda)
	d.add(masked, lambda, p/lambda, c)
}

// some masks each position with probability λ, given that at least one is masked, and returns the
// probability of that condition. Until one is masked, position i of d is masked with probability
// λ/(1−(1−λ)^(d−i)).
func (d *drawer) some(lambda float64) ([]int, float64) {
	any := func(n int) float64 { return -math.Expm1(float64(n) * math.Log1p(-lambda)) }
	var masked []int
	for i, l := range d.free {
		p := lambda
		if masked == nil {
			p = lambda / any(len(d.free)-i)
		}
		if d.stream.Float64() < p || masked == nil && i == len(d.free)-1 {
			masked = append(masked, l)
		}
	}
	return masked, any(len(d.free))
}

// independent masks each position with probability λ independently; the set may be empty.
func (d *drawer) independent(lambda, weight float64, c cost) {
	var masked []int
	for _, l := range d.free {
		if d.stream.Float64() < lambda {
			masked = append(masked, l)
		}
	}
	d.add(masked, lambda, weight, c)
}

// scoreCost returns the score entropy of a position divided by r, so that the weight 1/λ suits it
// as it suits −log μ: dt = dλ/(1−λ) and r = (1−λ)/λ.
func scoreCost(lambda float64) cost {
	r, logR := (1-lambda)/lambda, logRate(lambda)
	return func(logMu, logMass float64) float64 {
		return scoreLoss(math.Exp(logR+logMass), logR+logMu+logMass, r, logR) / r
	}
}

// time appends a draw of Time at u in (0,1). The noise's masked fractions λ(t), t in its range,
// cover (0,1) except the ends below λ(0) and above λ(1), of measure π together, which published
// schedules cut off. For u < π, λ is uniform on these ends; otherwise t is uniform. The density of
// λ is then −α'(t)^(−1)·(1−π), and the weight −α'/(1−α)/(1−π).
func (d *drawer) time(u float64) {
	if d.noise == schedule.Exp {
		// Its times are unbounded: t with density e^(−t) is λ uniform.
		d.lambda(u, crossEntropy)
		return
	}
	least, most := d.noise.Range()
	low, high := -math.Expm1(-least), -math.Expm1(-most)
	cut := low + 1 - high
	if u < cut {
		if u >= low {
			u = high + (u - low)
		}
		d.lambda(u, crossEntropy)
		return
	}
	t := (u - cut) / (1 - cut)
	lambda := -math.Expm1(-d.noise.Theta(t))
	if !(lambda > 0 && lambda < 1) {
		lambda = min(max(lambda, 0x1p-53), 1-0x1p-53)
	}
	masked, p := d.some(lambda)
	d.add(masked, lambda, p*-d.noise.AlphaPrime(t)/lambda/(1-cut), crossEntropy)
}

// plans appends a draw of K plans of a sampler, or of one order of FHS: −log of the mean path
// probability.
func (d *drawer) plans() error {
	s := sample{from: len(d.asks)}
	k := max(d.cfg.Plans, 1)
	ends := make([]int, k)
	var offset float64
	for i := range k {
		left, err := d.plan()
		if err != nil {
			return err
		}
		offset = left
		ends[i] = len(d.asks) - s.from
	}
	s.to = len(d.asks)
	s.costs = func(asks []Ask) []float64 {
		costs := costsOf(asks, ends)
		floats.AddConst(offset, costs)
		return costs
	}
	s.value = func(asks []Ask) float64 { return CostOfMean(s.costs(asks)) }
	d.samples = append(d.samples, s)
	return nil
}

// plan appends the rows of one plan. If a grid sampler leaves masks, only plans that reveal
// everything can produce the text. plan then draws such a plan and returns −log of the probability
// of that, −d·log(1−p_M).
func (d *drawer) plan() (offset float64, err error) {
	p, m, left := &d.planned, plan.NewFHS(1), 0.0
	if s := d.cfg.Sampler; s != nil {
		m, _ = s.Plan()
		left = s.Left()
	}
	if left > 0 {
		logP, err := m.PlanRevealed(p, &d.stream, d.free)
		if err != nil {
			return 0, err
		}
		offset = -logP
	} else if err := m.Plan(p, &d.stream, d.free); err != nil {
		return 0, err
	}
	d.asks = planAsks(d.asks, d.target, p, true)
	return offset, nil
}

// Draws are those of a window's estimate by [Subsets], the same as in [Evaluator.Estimate].
type Draws struct {
	// Asks are about the draws, with all masked positions wanted.
	Asks   []Ask
	drawer drawer
	clean  []Ask // about the clean text, if Asks are about noisy copies of it
}

// Draws makes n draws of a window, which has passed [Evaluator.Check].
func (e *Evaluator) Draws(t *Target, n int, seed, index uint64) *Draws {
	s := &Draws{drawer: drawer{cfg: Config{Form: Subsets, Draws: n}, target: t}}
	d := &s.drawer
	d.stream.Reset(seed, index)
	if e.facts.BlockSize > 0 {
		d.blocks(e)
	} else {
		_ = d.draw() // Only forms with plans have errors.
	}
	first := d.samples[0].from
	s.Asks, s.clean = d.asks[first:], d.asks[:first]
	return s
}

// Eval answers some of the asks by an evaluator, which may be another one of the same facts.
func (s *Draws) Eval(ctx context.Context, e *Evaluator, asks []Ask) error {
	if e.facts.BlockSize > 0 {
		return e.evalBlocks(ctx, s.drawer.target, slices.Concat(s.clean, asks))
	}
	return e.Eval(ctx, asks)
}

// Nats returns the estimate of a draw whose ask was answered.
func (s *Draws) Nats(i int) float64 { return s.drawer.samples[i].value(s.Asks[i : i+1]) }
