package bound

import (
	"context"
	"fmt"
	"math"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// maxWorldFile bounds a world file, in bytes.
const maxWorldFile = 64 << 20

// onWorld is an unfinished report on a world.
type onWorld struct {
	*draft
	*laws.World
	file *world.World
	// fhs is the law of first-hitting, costs its −log.
	fhs, costs []float64
	runs       []worldRun
}

// World reports the paper's theorems on the world in the .json file at path, which gives q0 and μ
// (mdm-laws-world/1). Everything is computed from these by enumeration and quadrature, for the
// samplers given, or else for Euler, Tweedie and τ-leaping on the paper's grid. Errors are one line
// and name the file. If ctx ends, the report covers the work done.
func World(ctx context.Context, path string, given []Case) (Report, error) {
	data, err := plainfile.Named(ctx, path, maxWorldFile)
	var r Report
	if err == nil {
		r, err = parseWorld(ctx, data, given)
	}
	if err != nil {
		err = fault.Errorf("bound", "%s: %w", path, err)
	}
	return r, err
}

// parseWorld reports on the content of a world file.
func parseWorld(ctx context.Context, data []byte, given []Case) (Report, error) {
	file, err := world.Parse(data)
	if err != nil {
		return Report{}, err
	}
	if err := small(file.Facts().Length, file.Facts().Columns); err != nil {
		return Report{}, err
	}
	w, err := laws.New(file)
	if err != nil {
		return Report{}, err
	}
	d := &onWorld{draft: newDraft("world", 0), World: w, file: file, fhs: w.FHSLaw(), costs: w.FHSCosts()}
	d.Report.World = file.Facts().Digest
	d.note("Every number is exact up to rounding: a sum over all states, or an integral whose quadrature error is below the tolerance named.",
		"Lines without a verdict are statements that hide constants or hold in a limit only; the numbers are put side by side.")
	cases := given
	if len(given) > 0 {
		d.note("P_N is the law of a sampler with its settings. If it is a law of sequences only, as for samplers that reveal one by one, all incomplete sequences count as the outcome that is MASK everywhere.")
	} else if cases, err = d.usual(); err != nil {
		return Report{}, err
	}
	ended := d.state(ctx, cases)
	if len(given) > 0 {
		d.Laws = []report.Law{lawOver(w.Space, "q0", w.Q0), lawOver(w.Space, "P_FHS", d.fhs)}
		for _, r := range d.runs {
			law := r.clean
			if r.left > 0 {
				law = r.law
			}
			d.Laws = append(d.Laws, lawOver(w.Space, r.String(), law))
		}
	}
	if ended == nil || ctx.Err() != nil {
		return d.finish(), ended
	}
	return Report{}, ended
}

func (d *onWorld) state(ctx context.Context, cases []Case) error {
	d.losses()
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := d.run(c)
		if err != nil {
			return err
		}
		d.runs = append(d.runs, r)
	}
	d.ends()
	d.distances()
	for _, r := range d.runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.euler() && !r.paperTime() {
			d.note("Theorems 1 and 2 concern Euler in the paper's time, α = e^(−t): they have no lines for other noises.")
		} else if r.euler() {
			d.eulerBounds(r)
		}
	}
	if d.Timed() {
		d.note("μ depends on time here: the collision bound, which is for denoisers that do not, is omitted.")
	}
	for _, r := range d.runs {
		d.collision(r)
		d.shares(r)
	}
	return nil
}

// The T, δ and grid of the samplers in a report on a world if the caller names no samplers.
const (
	usualT, usualDelta = 5.0, 0.01
	usualGrid          = string(schedule.GridPaper)
)

// usual returns the samplers for such a report, in the paper's time.
func (d *onWorld) usual() (out []Case, err error) {
	t, delta := usualT, usualDelta
	for _, name := range []string{"euler", "tweedie", "tau-leaping"} {
		for _, n := range []int{4, 16, 32, 64} {
			o := catalog.Options{Sampler: name, Steps: n, PlanOptions: catalog.PlanOptions{Grid: usualGrid, T: (*catalog.Theta)(&t), Delta: (*catalog.Theta)(&delta), Noise: schedule.Exp.String()}}
			if name == "tweedie" {
				o.Noise = "" // implied by the grid
			}
			s, err := catalog.New(o, d.file.Spec())
			if err != nil {
				return nil, err
			}
			steps, _ := s.Grid()
			out = append(out, Case{Name: string(steps.Rule) + "." + usualGrid, N: n, Sampler: s})
		}
	}
	d.note(fmt.Sprintf("Grids are the paper's, from T = %g to δ = %g. P_N is a sampler's law after N steps; what is still masked is filled by one more call unless a line says otherwise.", t, delta))
	return out, nil
}

// small returns an error if a world has too many moves per step, (2V+1)^d, or too many orders, d!.
func small(d, v int) error {
	if d > 8 || float64(d)*math.Log(float64(2*v+1)) > math.Log(1e6) {
		return fmt.Errorf("d = %d and V = %d: too large to enumerate: d must be at most 8 and (2V+1)^d at most 10^6", d, v)
	}
	return nil
}

// worldRun is the law of a sampler in a world.
type worldRun struct {
	Case
	steps schedule.Steps
	// law [States] is the sampler's law with its own ending, clean [Sequences] its part without
	// MASK, costs its −log, left the probability of the rest.
	law, clean, costs []float64
	left              float64
}

// run computes the law of a sampler.
func (d *onWorld) run(c Case) (r worldRun, err error) {
	r.Case = c
	grid, _ := c.Sampler.Grid()
	r.steps = grid.Steps
	if r.law, err = d.SamplerLaw(c.Sampler); err != nil {
		return r, fmt.Errorf("%s: %w", c, err)
	}
	r.clean = d.OnSequences(r.law)
	r.costs = d.Costs(c.Sampler, r.clean)
	var mass laws.Sum
	for _, p := range r.clean {
		mass.Add(p)
	}
	if r.left = 1 - mass.Value(); math.Abs(r.left) < exactTolerance {
		r.left = 0
	}
	return r, nil
}

// tv returns the distance of a law over sequences from the run's law, whose masked outcomes have
// probability 0 under the other.
func (r worldRun) tv(p []float64) float64 { return laws.TV(p, r.clean) + r.left/2 }

// at returns the case as it is written in a line's name.
func (r worldRun) at() string { return r.named("%s.N=%d") }

// euler reports whether the paper's upper bounds, which are for Euler, apply to the run; paperTime
// reports whether it runs in the paper's time from a finite T, as they require.
func (r worldRun) euler() bool {
	grid, ok := r.Sampler.Grid()
	return ok && grid.Rule == schedule.RuleEuler
}

func (r worldRun) paperTime() bool {
	return r.Sampler.Settings().Noise == schedule.Exp.String() && !math.IsInf(r.steps.Grid.Theta[0], 1)
}

// lawOver returns the law p over sequences, or over states if p has an entry for each, with MASK
// written as M.
func lawOver(s laws.Space, name string, p []float64) report.Law {
	out := report.Law{Name: name, P: p}
	for x := range p {
		var tokens []int
		if len(p) != s.States {
			tokens = s.Sequence(x)
		}
		for l := range s.D - len(tokens) {
			tokens = append(tokens, s.Token(x, l))
		}
		text := strings.Trim(fmt.Sprint(tokens), "[]")
		out.Outcomes = append(out.Outcomes, strings.ReplaceAll(text, fmt.Sprint(s.V), "M"))
	}
	return out
}
