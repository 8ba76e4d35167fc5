package certificate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/quality"
	"mdmgen/internal/fault"
	"mdmgen/samplers"
)

// Target is how far from first-hitting's law a sampler may be.
type Target struct {
	// Distance is [quality.TV] or [quality.KL], Most its greatest value: in (0,1), or in nats.
	Distance quality.Distance `json:"distance"`
	Most     float64          `json:"most"`
}

// Runs is how many runs confirm a target where nobody says: enough for a limit that is about
// a quarter of the target above the certificate.
func (t Target) Runs() int {
	return int(min(max(math.Ceil(12.8/t.Most), 64), 4096))
}

// Families are the samplers that a search goes through, without their steps: block sizes
// and grids along curves and, where profile is not nil, those chosen by a loss profile (see
// [samplers.Options]). All draw tokens in one way.
func Families(draw samplers.Draw, profile []float64, sizes, grids bool) []samplers.Options {
	var out []samplers.Options
	if sizes {
		for _, name := range []string{"equal", "cos2", "cosine"} {
			out = append(out, samplers.Options{Sampler: "parallel-fhs", Sizes: name, Draw: draw})
		}
		if profile != nil {
			out = append(out, samplers.Options{Sampler: "parallel-fhs", Sizes: "profile", Profile: profile, Draw: draw})
		}
	}
	if grids {
		for _, name := range []string{"lambda", "cos2", "cosine"} {
			out = append(out, samplers.Options{Sampler: "tweedie", Grid: name, Draw: draw})
		}
		if profile != nil {
			out = append(out, samplers.Options{Sampler: "tweedie", Grid: "profile", Profile: profile, Draw: draw})
		}
	}
	return out
}

// SearchConfig says what is searched.
type SearchConfig struct {
	Target
	// Families are samplers whose steps are not set; all draw tokens alike.
	Families []samplers.Options
	// Runs of first-hitting confirm the setting; half as many find out where to look. 0 is
	// [Target.Runs].
	Runs  int
	Seed  uint64
	Batch int
	// Confidence is that of the promise; 0 is 0.95.
	Confidence float64
	// OnRun is told of each run that is made; nil for nobody.
	OnRun func()
}

// Work is the number of runs that a search makes.
func (cfg SearchConfig) Work() int { return cfg.confirming() + cfg.finding() }

func (cfg SearchConfig) confirming() int { return cmp.Or(cfg.Runs, cfg.Target.Runs()) }
func (cfg SearchConfig) finding() int    { return (cfg.confirming() + 1) / 2 }

// Candidate is a setting that was looked at.
type Candidate struct {
	// Options are the setting's, Name what they say.
	Options samplers.Options `json:"-"`
	Name    string           `json:"name"`
	N       int              `json:"n"`
	// Calls is the expected number of network calls a text, finishing included.
	Calls float64 `json:"calls"`
	// Bound is the certificate's estimate, Limit what it does not exceed with the
	// probability of the search.
	Bound estimate.Estimate `json:"certificate"`
	Limit estimate.Number   `json:"limit"`
}

// Flags are the flags of a command that has the setting used, but for a profile's file.
func (c Candidate) Flags() string {
	out := []string{"--sampler " + c.Options.Sampler}
	for _, o := range samplers.AllOptions() {
		if value := o.Get(c.Options); value != "" {
			out = append(out, "--"+o.Name+" "+value)
		}
	}
	return strings.Join(out, " ")
}

// Found is what a search says.
type Found struct {
	Target
	// D is the number of free positions, and of first-hitting's calls.
	D          int     `json:"positions"`
	Confidence float64 `json:"confidence"`
	// Draw says how tokens are drawn, by first-hitting too.
	Draw samplers.Draw `json:"draw"`
	// FindingRuns found out where to look, Runs confirmed. Calls counts the network's calls
	// of both.
	FindingRuns int `json:"finding_runs"`
	Runs        int `json:"runs"`
	Calls       int `json:"network_calls"`
	// Searched has the settings of the first runs, family by family, by falling calls.
	Searched []Candidate `json:"searched"`
	// Confirmed has those of the family that takes fewest calls on the other runs, by
	// falling calls, up to the first whose limit is above the target.
	Confirmed []Candidate `json:"confirmed"`
	// Best is the last of these whose limit is not; nil where first-hitting takes fewer
	// calls than any that is certified.
	Best *Candidate `json:"best,omitempty"`
	// Seconds and FirstHitting are those of a text of Best and of first-hitting: the least
	// of a few batches of texts. Seconds is 0 where there is no Best.
	Seconds      float64 `json:"seconds,omitempty"`
	FirstHitting float64 `json:"first_hitting_seconds"`
}

// Cheaper says that the setting found takes less time than first-hitting as well as fewer
// calls.
func (f *Found) Cheaper() bool { return f.Best != nil && f.Seconds < f.FirstHitting }

// The seeds of a search's runs, apart from each other and from those of other studies.
const (
	findingSeed    = 0x66696e64     // "find"
	confirmingSeed = 0x636f6e666972 // "confir"
	timingSeed     = 0x74696d65     // "time"
)

// Search finds, among families of samplers, a setting of fewest expected calls whose
// certificate is below a target. A setting that saves less than a hundredth of
// first-hitting's calls is not looked at: first-hitting is exact.
//
// Every N of every family is looked at on the same runs of first-hitting, so that nothing is
// gained by bisection. Runs that find out where to look choose a family and a list of its
// settings; fresh ones then confirm these in the order of falling calls, up to the first
// whose limit is above the target. Each limit holds with the probability Confidence, and as
// the order is fixed before and ends at the first failure, so does the result (a closed
// sequence of tests): with that probability at least, over the runs, no setting that is said
// to be below the target has a certificate above it, however many were looked at.
func Search(ctx context.Context, net samplers.Network, canvas []int, cfg SearchConfig) (*Found, error) {
	switch {
	case cfg.Distance != quality.TV && cfg.Distance != quality.KL:
		return nil, fault.Errorf("certificate", "distance %q: must be %s or %s", cfg.Distance, quality.TV, quality.KL)
	case !(cfg.Most > 0) || math.IsInf(cfg.Most, 1) || cfg.Distance == quality.TV && cfg.Most >= 1:
		return nil, fault.Errorf("certificate", "a target of %v for %s: must be above 0, and below 1 for tv", cfg.Most, cfg.Distance)
	case len(cfg.Families) == 0:
		return nil, fault.Errorf("certificate", "no family of samplers is given")
	}
	s := &search{SearchConfig: cfg, ctx: ctx, net: net, canvas: canvas, found: &Found{
		Target: cfg.Target, Confidence: cmp.Or(cfg.Confidence, estimate.DefaultConfidence), Draw: cfg.Families[0].Draw, FindingRuns: cfg.finding(), Runs: cfg.confirming(),
	}}
	for _, id := range canvas {
		if id == net.Spec().Mask {
			s.found.D++
		}
	}
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
	s *samplers.Sampler
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
	return s.time()
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

// maxSteps is the greatest number of steps of a grid that is looked at.
const maxSteps = 1 << 15

// ladder are the settings of a family that save about as many calls as a list says, each
// once, by falling calls.
func (s *search) ladder(o samplers.Options, saved []float64) (out []*sampled, err error) {
	d := s.found.D
	slices.Sort(saved)
	for _, x := range saved {
		var c *sampled
		if o.Sampler == "parallel-fhs" {
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
func (s *search) grid(o samplers.Options, calls float64) (*sampled, error) {
	most := maxSteps
	if o.Grid == string(samplers.GridProfile) {
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

func (s *search) setting(o samplers.Options, n int) (*sampled, error) {
	o.Steps = n
	made, err := samplers.New(o, s.net.Spec())
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

// measure fills in what runs say of candidates.
func (s *search) measure(list []*sampled, runs int, seed uint64) error {
	if len(list) == 0 {
		return nil // one position: there is nothing to save
	}
	cfg := Config{Runs: runs, Seed: s.Seed ^ seed, Batch: s.Batch, Confidence: s.found.Confidence}
	if s.OnRun != nil {
		cfg.OnRun = func(Run) error { s.OnRun(); return nil }
	}
	var ss []*samplers.Sampler
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
		if s.Distance == quality.KL {
			list[i].Bound, list[i].Limit = b.KL, estimate.Number(b.KLLimit)
		}
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
		if saved == 0 {
			return x * s.Most / l // 0 where nothing is known
		}
		if limit > 0 && !math.IsInf(l, 1) {
			saved *= math.Pow(x/saved, math.Log(s.Most/limit)/math.Log(l/limit))
		}
		break
	}
	return saved
}

// rounds is how often texts are timed; the quickest counts.
const rounds = 3

// time measures texts of the best setting and of first-hitting in turns.
func (s *search) time() error {
	list := []samplers.Options{{Draw: s.found.Draw}}
	if s.found.Best != nil {
		list = append(list, s.found.Best.Options)
	}
	n := max(s.Batch, 1)
	seconds := [2]float64{math.Inf(1), math.Inf(1)}
	for round := range rounds {
		for i, o := range list {
			method, err := samplers.New(o, s.net.Spec())
			if err != nil {
				return fault.Errorf("certificate", "%w", err)
			}
			texts := func(yield func(samplers.Sequence) bool) {
				for k := range n {
					if !yield(samplers.Sequence{Index: uint64(round*n + k), Canvas: s.canvas}) {
						return
					}
				}
			}
			begin := time.Now()
			if _, err := samplers.Sample(s.ctx, s.net, texts, samplers.Config{Method: method, Seed: s.Seed ^ timingSeed, Batch: n}, func(samplers.Result) error { return nil }); err != nil {
				return err
			}
			seconds[i] = min(seconds[i], time.Since(begin).Seconds()/float64(n))
		}
	}
	if s.found.FirstHitting = seconds[0]; s.found.Best != nil {
		s.found.Seconds = seconds[1]
	}
	return nil
}
