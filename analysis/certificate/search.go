package certificate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"mdmgen/analysis/estimate"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// The seeds of a search's runs, apart from each other and from those of other studies.
const (
	findingSeed    = 0x66696e64     // "find"
	confirmingSeed = 0x636f6e666972 // "confir"
)

// Search finds, among families of samplers, a setting of fewest expected calls whose
// certificate is below a target. A setting that saves less than a hundredth of
// first-hitting's calls is not considered: first-hitting is exact.
//
// Every N of every family is tried on the same runs of first-hitting, so that nothing is
// gained by bisection. A first set of runs chooses a family and a list of its
// settings; fresh ones then confirm these in the order of falling calls, up to the first
// whose limit is above the target. Each limit holds with the probability Confidence, and as
// the order is fixed before and ends at the first failure, so does the result (a fixed
// sequence of tests): with that probability at least, over the runs, no setting that is said
// to be below the target has a certificate above it, however many were tried.
func Search(ctx context.Context, net samplers.Network, canvas []int, cfg SearchConfig) (*Found, error) {
	switch {
	case !(cfg.Most > 0 && cfg.Most < 1):
		return nil, fault.Errorf("certificate", "a target of %v: must be above 0 and below 1", cfg.Most)
	case len(cfg.Families) == 0:
		return nil, fault.Errorf("certificate", "no family of samplers is given")
	}
	spec := net.Spec()
	s := &search{SearchConfig: cfg, ctx: ctx, net: net, canvas: canvas, found: &Found{
		Most: cfg.Most, D: len(spec.Masked(canvas)), Confidence: cmp.Or(cfg.Confidence, estimate.DefaultConfidence), Draw: cfg.Families[0].Draw, FindingRuns: cfg.finding(), Runs: cfg.confirming(),
	}}
	if s.found.D < 1 {
		return nil, fault.Errorf("certificate", "the canvas has no free position: mask at least one")
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	return s.found, nil
}

type search struct {
	SearchConfig
	ctx    context.Context
	net    samplers.Network
	canvas []int
	found  *Found
}

// sampled is a candidate with its sampler.
type sampled struct {
	Candidate
	s *catalog.Sampler
}

func (s *search) run() error {
	d := float64(s.found.D)
	var list [][]*sampled
	for _, o := range s.Families {
		family, err := s.ladder(o, doubling(d*worthwhile, d-1, 1))
		if err != nil {
			return err
		}
		list = append(list, family)
	}
	if err := s.measure(slices.Concat(list...), s.found.FindingRuns, findingSeed); err != nil {
		return err
	}
	best, most := 0, -1.0
	for i, family := range list {
		for _, c := range family {
			s.found.Searched = append(s.found.Searched, c.Candidate)
		}
		if x := s.saves(family); x > most {
			best, most = i, x
		}
	}
	// Coarse steps to a quarter of what is expected to be saved, and fine ones to twice it.
	near := max(d*worthwhile, most/4)
	saved := append(doubling(d*worthwhile, near, 1), doubling(near, min(2*most, d-1), 6)...)
	family, err := s.ladder(s.Families[best], saved)
	if err != nil {
		return err
	}
	if err := s.measure(family, s.found.Runs, confirmingSeed); err != nil {
		return err
	}
	for _, c := range family {
		s.found.Confirmed = append(s.found.Confirmed, c.Candidate)
		if !(float64(c.Limit) <= s.Most) {
			break
		}
		s.found.Best = &c.Candidate
	}
	return nil
}

// doubling are numbers from low to high, each 2^(1/parts) times the one before.
func doubling(low, high float64, parts int) (out []float64) {
	for k := 0; ; k++ {
		x := low * math.Exp2(float64(k)/float64(parts))
		if x >= high*(1-1e-9) {
			break
		}
		out = append(out, x)
	}
	if high >= low {
		out = append(out, high)
	}
	return out
}

// worthwhile is the least part of first-hitting's calls that a setting has to save.
const worthwhile = 0.01

// maxSteps is the greatest number of steps of a grid that is tried.
const maxSteps = 1 << 15

// ladder are the settings of a family that save about as many calls as a list says, each
// once, by falling calls.
func (s *search) ladder(o catalog.Options, saved []float64) (out []*sampled, err error) {
	d := s.found.D
	slices.Sort(saved)
	for _, x := range saved {
		var c *sampled
		if o.Sizes != "" {
			c, err = s.setting(o, d-int(max(1, math.Round(x))))
		} else {
			c, err = s.grid(o, float64(d)-x)
		}
		if err != nil {
			return nil, err
		}
		if c.Calls <= float64(d)*(1-worthwhile)+1e-9 && (len(out) == 0 || out[len(out)-1].N > c.N) {
			out = append(out, c)
		}
	}
	return out, nil
}

// grid is the setting with the most steps that takes calls at most in expectation, or one step.
func (s *search) grid(o catalog.Options, calls float64) (*sampled, error) {
	most := maxSteps
	if o.Grid == string(schedule.GridProfile) {
		most = 1 << 10 // each is a dynamic programme of its own
	}
	var failed error
	above := func(n int) bool {
		c, err := s.setting(o, n)
		failed = cmp.Or(failed, err)
		return err != nil || c.Calls > calls+1e-9
	}
	high := 2
	for high <= most && !above(high) {
		high *= 2
	}
	low := high / 2
	n := low + sort.Search(min(high, most+1)-low-1, func(k int) bool { return above(low + 1 + k) })
	if failed != nil {
		return nil, failed
	}
	return s.setting(o, n)
}

func (s *search) setting(o catalog.Options, n int) (*sampled, error) {
	o.Steps = n
	made, err := catalog.New(o, s.net.Spec())
	if err != nil {
		return nil, fault.Errorf("certificate", "%w", err)
	}
	calls, finish, err := made.ExpectedCalls(s.found.D)
	if err != nil {
		return nil, fault.Errorf("certificate", "%w", err)
	}
	name := o.Sampler
	for _, text := range []string{o.Grid, o.Sizes} {
		if text != "" {
			name += " " + text
		}
	}
	return &sampled{Candidate{Options: o, Name: name, N: n, Calls: calls + finish}, made}, nil
}

// measure estimates the bounds of candidates.
func (s *search) measure(list []*sampled, runs int, seed uint64) error {
	if len(list) == 0 {
		return nil // one position: there is nothing to save
	}
	cfg := Config{Runs: runs, Seed: s.Seed ^ seed, Batch: s.Batch, Confidence: s.found.Confidence}
	if s.OnRun != nil {
		cfg.OnRun = func(Run) error { s.OnRun(); return nil }
	}
	var ss []*catalog.Sampler
	for _, c := range list {
		ss = append(ss, c.s)
	}
	st, err := Measure(s.ctx, s.net, s.canvas, ss, cfg)
	if err != nil {
		return err
	}
	s.found.Calls += st.Calls
	for i := range list {
		b := st.Bound(i)
		list[i].Bound, list[i].Limit = b.TV, estimate.Number(b.TVLimit)
	}
	return nil
}

// saves is how many calls a family is expected to save within the target, by the limits of
// the first runs: between two settings as if the limit were a power of the calls.
func (s *search) saves(family []*sampled) float64 {
	d := float64(s.found.D)
	saved, limit := 0.0, 0.0
	for _, c := range family {
		x, l := d-c.Calls, float64(c.Limit)
		if l <= s.Most {
			saved, limit = x, l
			continue
		}
		// Where the setting that saves least is above the target, nothing is expected.
		if limit > 0 && !math.IsInf(l, 1) {
			saved *= math.Pow(x/saved, math.Log(s.Most/limit)/math.Log(l/limit))
		}
		break
	}
	return saved
}
