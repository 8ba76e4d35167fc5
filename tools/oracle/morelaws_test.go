package oracle

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/internal/lawstest"
	"mdmgen/samplers/schedule"
)

// outcome is the result of a sampler in a world.
type outcome struct {
	// settings holds the settings that follow from others.
	settings object
	// plan reports whether the reveals are independent of the network.
	plan bool
	// law is over states, nil for a sampler that leaves no masks; denoised is over sequences.
	law, denoised []float64
	// calls is a float64, or exempt if the file may omit it.
	calls any
	extra object
}

// notOffered names what files have and the program does not: laws of samplers, values, and checks. They are
// counted ([matcher.notOffered]) and not compared.
var notOffered = []string{
	// Samplers that draw tokens from the rows of two calls.
	"trapezoid_plan", "fhs_paired", "fhs_extrapolated_count", "fhs_extrapolated_time",
	// Samplers by scores that are not normalised.
	"truncated_tau_unnormalised", "tau_any_unnormalised", "euler_unnormalised", "truncated_tau_is_tweedie",
	// Loss profiles with their best schedules, and counts of events.
	"profile", "profile_sum_is_nelbo", "loss_curve_integral_is_nelbo", "best_grid_value", "expected_candidates",
}

// skip adds the values of a file that are [notOffered] to those that are expected.
func (r *more) skip(has map[string]any, want object) {
	for _, name := range notOffered {
		if _, there := has[name]; there {
			want[name] = exempt{}
			r.skipped++
		}
	}
}

// samplerKinds maps the names of samplers to functions that compute entries.
var samplerKinds = map[string]func(r *more, n *moreLaw) outcome{
	"uniformization":    (*more).exactChain,
	"matu":              (*more).exactChain,
	"dmpm":              (*more).dmpm,
	"theta_trapezoidal": (*more).theta,
	"theta_rk2":         (*more).theta,
	"tweedie":           (*more).scheduled,
	"fhs_parallel":      (*more).blocks,
	"eb":                (*more).entropyBounded,
}

// law returns the expected contents of an entry of "laws".
func (r *more) law(n *moreLaw) any {
	if slices.Contains(notOffered, n.Sampler) {
		r.skipped++
		return exempt{}
	}
	run, known := samplerKinds[n.Sampler]
	if !known {
		r.t.Fatalf("sampler %q is not known", n.Sampler)
	}
	o := run(r, n)
	want := object{
		"settings": o.settings, "plan_independent_of_network": o.plan,
		"law_denoised": o.denoised, "expected_calls": o.calls,
		"tv_q0_denoised": laws.TV(r.w.Q0, o.denoised), "kl_q0_denoised": laws.KL(r.w.Q0, o.denoised),
		"tv_fhs": laws.TV(r.fhs, o.denoised), "kl_fhs": laws.KL(r.fhs, o.denoised),
	}
	if o.law == nil {
		o.law = r.w.OnStates(o.denoised)
	}
	if n.Law != nil || r.masked(o.law) {
		want["law"] = o.law
	}
	r.found.add("mass", math.Abs(1-total(o.law)))
	r.found.add("mass", math.Abs(1-total(o.denoised)))
	maps.Copy(want, o.extra)
	if n.Candidates != nil {
		r.skip(map[string]any{"expected_candidates": n.Candidates}, want)
	}
	return want
}

// masked reports whether a law over states gives mass to states with masks.
func (r *more) masked(law []float64) bool {
	for x, q := range law {
		if q > 0 && lawstest.Masks(r.w.Space, x) > 0 {
			return true
		}
	}
	return false
}

// gridName matches the names of grids from T to δ in settings: uniform0 ends at 0, lambda is from T
// = ∞ to 0.
var gridName = regexp.MustCompile(`^(uniform|uniform0|paper|lambda)-([1-9][0-9]{0,4})$`)

// grid returns the grid that settings name, or list if the name is not a known form. It adds the
// expected fields to settings.
func (r *more) grid(s moreSettings, settings object) schedule.Grid {
	if m := gridName.FindStringSubmatch(s.Grid); m != nil {
		spec := schedule.GridSpec{Kind: schedule.GridKind(strings.TrimSuffix(m[1], "0")), T: r.in.T}
		spec.Steps, _ = strconv.Atoi(m[2])
		switch m[1] {
		case "lambda":
			spec.T = math.Inf(1)
		case "uniform", "paper":
			spec.Delta = r.in.Delta
		}
		g := lawstest.Grid(r.t, spec)
		settings["forward_times"] = g.Theta
		return g
	}
	settings["forward_times"] = given{}
	var times []float64
	for _, x := range s.Times {
		times = append(times, orInf(x))
	}
	return lawstest.Thetas(r.t, times...)
}

// last returns the masked fraction at which a grid ends.
func last(g schedule.Grid) float64 { return g.Lambda[g.Steps()] }

func (r *more) exactChain(n *moreLaw) outcome {
	settings := object{}
	g := r.grid(n.Settings, settings)
	counts := countExactChain(g, r.w.D)
	law := exactChain(r.w, r.model, g.Lambda[0], last(g))
	return outcome{
		settings: settings, plan: true, law: law, denoised: r.w.Denoise(law, last(g)),
		calls: counts.Reveals + counts.Leftover,
		extra: object{"expected_reveals": counts.Reveals, "probability_of_leftover": counts.Leftover},
	}
}

func (r *more) dmpm(n *moreLaw) outcome {
	settings := object{}
	g := r.grid(n.Settings, settings)
	law := r.w.FrozenLaw(g)
	reveal := revealProbabilities(g)
	stay := 0.0
	for _, p := range reveal {
		stay += math.Log1p(-p)
	}
	reveals := float64(r.w.D) * -math.Expm1(stay)
	leftover := -math.Expm1(float64(r.w.D) * math.Log1p(-math.Exp(stay)))
	r.dmpmChecks(g, law, n.Settings.Grid)
	return outcome{
		settings: settings, plan: true, law: law, denoised: r.w.Denoise(law, last(g)), calls: reveals + leftover,
		extra: object{"reveal_probabilities_a_step": reveal, "expected_reveals": reveals, "probability_of_leftover": leftover},
	}
}

func (r *more) theta(n *moreLaw) outcome {
	settings := object{"theta": given{}}
	g := r.grid(n.Settings, settings)
	scheme := thetaTrapezoidal
	if n.Sampler == "theta_rk2" {
		scheme = thetaRK2
	}
	v, clipped := thetaLaw(r.w, scheme, g, n.Settings.Theta)
	return outcome{
		settings: settings, law: v.Law, denoised: r.w.Denoise(v.Law, last(g)), calls: v.Calls,
		extra: object{"largest_clipped_rate": clipped},
	}
}

func (r *more) scheduled(n *moreLaw) outcome {
	lambda := r.schedule(n.Settings)
	steps := r.tweedie(lambda)
	law := r.w.GridLaw(steps)
	calls, finish := steps.ExpectedCalls(r.w.D)
	return outcome{
		settings: object{"masked_fractions": lambda}, plan: true, law: law, denoised: r.w.Denoise(law, last(steps.Grid)), calls: calls + finish,
		extra: object{"plan_nelbo": planNELBO(r.t, r.w, steps)},
	}
}

func (r *more) entropyBounded(n *moreLaw) outcome {
	gamma := n.Settings.Gamma
	law, calls := entropyBounded(r.w, gamma)
	for i, p := range law {
		r.found.add("eb_replay", math.Abs(p-entropyBoundedReplay(r.w, i, gamma)))
	}
	return outcome{settings: object{"gamma": given{}}, denoised: law, calls: calls}
}
