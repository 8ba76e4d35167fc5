package oracle

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"mdmgen/analysis/laws"
	"mdmgen/samplers/schedule"
)

// outcome is a sampler in a world.
type outcome struct {
	// settings are the values that follow from others among the settings.
	settings object
	// plan says that what is revealed does not depend on the network.
	plan bool
	// law is over states, nil for one that leaves no masks; denoised is over sequences.
	law, denoised []float64
	// calls is a float64, or exempt where the file need not tell.
	calls any
	extra object
}

// samplerKinds tells each kind of entry by the name of its sampler. Those of samplers that the
// program does not offer are nil: their laws are counted ([Report.NotOffered]), not compared.
var samplerKinds = map[string]func(r *more, n, settings *node) outcome{
	"uniformization":             (*more).exactChain,
	"matu":                       (*more).exactChain,
	"dmpm":                       (*more).dmpm,
	"truncated_tau_unnormalised": (*more).scored,
	"tau_any_unnormalised":       (*more).scored,
	"euler_unnormalised":         (*more).scored,
	"theta_trapezoidal":          (*more).theta,
	"theta_rk2":                  (*more).theta,
	"trapezoid_plan":             (*more).trapezoid,
	"tweedie":                    (*more).scheduled,
	"fhs_parallel":               (*more).blocks,
	"fhs_extrapolated_count":     nil,
	"fhs_extrapolated_time":      nil,
	"fhs_paired":                 (*more).blocks,
	"eb":                         (*more).entropyBounded,
}

// law is an entry of "laws".
func (r *more) law(n *node) any {
	name, settings := r.in.text(n, "sampler"), r.in.get(n, "settings")
	run, known := samplerKinds[name]
	if r.in.err == nil && !known {
		r.in.fail("sampler %.40q is not known", name)
	}
	if r.in.err == nil && !settings.isObject() {
		r.in.fail("field %q: must be an object", "settings")
	}
	if r.in.err != nil {
		return nil
	}
	if run == nil {
		return exempt{}
	}
	o := run(r, n, settings)
	if r.in.err != nil {
		return nil
	}
	want := object{
		"settings": o.settings, "plan_independent_of_network": o.plan,
		"law_denoised": o.denoised, "expected_calls": o.calls,
		"tv_q0_denoised": laws.TV(r.w.Q0, o.denoised), "kl_q0_denoised": laws.KL(r.w.Q0, o.denoised),
		"tv_fhs": laws.TV(r.fhs, o.denoised), "kl_fhs": laws.KL(r.fhs, o.denoised),
	}
	if o.law == nil {
		o.law = r.w.OnStates(o.denoised)
	}
	if n.fields["law"] != nil || r.masked(o.law) {
		want["law"] = o.law
	}
	r.found.add("mass", math.Abs(1-total(o.law)))
	r.found.add("mass", math.Abs(1-total(o.denoised)))
	for name, value := range o.extra {
		want[name] = value
	}
	return want
}

// masked says whether a law over states has mass where masks are left.
func (r *more) masked(law []float64) bool {
	for x, q := range law {
		if q > 0 && r.w.Masks(x) > 0 {
			return true
		}
	}
	return false
}

// gridName is how settings name a grid from T to δ: uniform0 ends at 0, lambda is from T = ∞ to 0.
var gridName = regexp.MustCompile(`^(uniform|uniform0|paper|lambda)-([1-9][0-9]{0,4})$`)

// grid is the one that settings name, or that they list where the name tells nothing.
// finite says that the sampler needs a finite T.
func (r *more) grid(s *node, settings object, finite bool) schedule.Grid {
	var name string
	if s.fields["grid"] != nil {
		name = r.in.text(s, "grid")
	}
	var spec schedule.GridSpec
	if m := gridName.FindStringSubmatch(name); m != nil {
		spec.Steps, _ = strconv.Atoi(m[2])
		spec.Kind = schedule.GridKind(strings.TrimSuffix(m[1], "0"))
		if spec.Kind == schedule.GridLambda {
			spec.T = math.Inf(1)
		} else {
			spec.T = r.in.number(r.doc, "T", 1e-12, 700)
			if m[1] != "uniform0" {
				spec.Delta = r.in.number(r.doc, "delta", 0, 700)
			}
		}
	} else {
		spec.Kind = schedule.GridThetaList
		for i, item := range r.in.list(s, "forward_times") {
			x, ok := item.number()
			if !ok || !(x >= 0) {
				r.in.fail("field %q: entry %d: must be a number from 0, or null for an infinite one", "forward_times", i)
			}
			spec.List = append(spec.List, x)
		}
	}
	if r.in.err != nil {
		return schedule.Grid{}
	}
	g, err := schedule.NewGrid(spec)
	if err != nil {
		r.in.fail("%w", err)
		return g
	}
	if finite && math.IsInf(g.Theta[0], 1) {
		r.in.fail("the grid begins at an infinite time: this sampler needs a finite one")
	}
	if settings["forward_times"] = any(given{}); spec.List == nil {
		settings["forward_times"] = g.Theta
	}
	return g
}

// last is the masked fraction at which a grid ends.
func last(g schedule.Grid) float64 { return g.Lambda[g.Steps()] }

func (r *more) exactChain(n, s *node) outcome {
	settings := object{}
	g := r.grid(s, settings, false)
	if r.in.err != nil {
		return outcome{}
	}
	counts := countExactChain(g, r.w.D)
	law := r.w.ExactChain(g.Lambda[0], last(g))
	events := counts.Uniformization
	if r.in.text(n, "sampler") == "matu" {
		events = counts.MATU
	}
	return outcome{
		settings: settings, plan: true, law: law, denoised: r.w.Denoise(law, last(g)),
		calls: counts.Reveals + counts.Leftover,
		extra: object{"expected_candidates": events, "expected_reveals": counts.Reveals, "probability_of_leftover": counts.Leftover},
	}
}

func (r *more) dmpm(_, s *node) outcome {
	settings := object{}
	g := r.grid(s, settings, true)
	if r.in.err != nil {
		return outcome{}
	}
	law := r.w.FrozenLaw(g)
	reveal := revealProbabilities(g)
	stay := 0.0
	for _, p := range reveal {
		stay += math.Log1p(-p)
	}
	reveals := float64(r.w.D) * -math.Expm1(stay)
	leftover := -math.Expm1(float64(r.w.D) * math.Log1p(-math.Exp(stay)))
	r.dmpmChecks(g, law, s)
	return outcome{
		settings: settings, plan: true, law: law, denoised: r.w.Denoise(law, last(g)), calls: reveals + leftover,
		extra: object{"reveal_probabilities_a_step": reveal, "expected_reveals": reveals, "probability_of_leftover": leftover},
	}
}

// scoreTotal is how settings tell the total of artificial scores that are not normalised.
const scoreTotal = "r(t)*(1+((s+3*l)%7-3)/10), s state index, l position"

func artificialTotal(state, l int) float64 { return 1 + float64((state+3*l)%7-3)/10 }

func (r *more) scored(n, s *node) outcome {
	if text := r.in.text(s, "score_total"); r.in.err == nil && text != scoreTotal {
		r.in.fail("score_total %.80q is not known: must be %q", text, scoreTotal)
	}
	name := r.in.text(n, "sampler")
	rule := map[string]scoreRule{
		"truncated_tau_unnormalised": scoreTruncatedTau, "tau_any_unnormalised": scoreTauAny, "euler_unnormalised": scoreEuler,
	}[name]
	settings := object{}
	g := r.grid(s, settings, rule != scoreTruncatedTau)
	if r.in.err != nil {
		return outcome{}
	}
	v, err := scoredLaw(r.w, rule, g, artificialTotal)
	if err != nil {
		r.in.fail("%s: %w", name, err)
		return outcome{}
	}
	if rule == scoreTruncatedTau {
		r.truncatedTauCheck(g)
	}
	out := outcome{settings: settings, law: v.Law, denoised: r.w.Denoise(v.Law, last(g)), calls: v.Calls}
	if calls := n.fields["expected_calls"]; calls != nil && calls.value == nil {
		out.calls = exempt{}
	}
	return out
}

func (r *more) theta(n, s *node) outcome {
	theta := r.in.number(s, "theta", 1e-6, 1-1e-6)
	settings := object{"theta": given{}}
	g := r.grid(s, settings, true)
	if r.in.err != nil {
		return outcome{}
	}
	scheme := thetaTrapezoidal
	if r.in.text(n, "sampler") == "theta_rk2" {
		scheme = thetaRK2
	}
	v, clipped := thetaLaw(r.w, scheme, g, theta)
	return outcome{
		settings: settings, law: v.Law, denoised: r.w.Denoise(v.Law, last(g)), calls: v.Calls,
		extra: object{"largest_clipped_rate": clipped},
	}
}

// trapezoid takes the steps from the even entries of "refined", so that a change in
// either list is found there.
func (r *more) trapezoid(_, s *node) outcome {
	theta, floor := r.in.number(s, "theta", 1e-6, 1-1e-6), r.in.number(s, "floor", 0, 1)
	refined := r.in.numbers(s, "refined", 0, 1)
	if r.in.err == nil && (len(refined) < 3 || len(refined)%2 == 0) {
		r.in.fail("field %q: must hold the masked fractions and one between each two of them", "refined")
	}
	if r.in.err != nil {
		return outcome{}
	}
	var lambda []float64
	for k := 0; k < len(refined); k += 2 {
		lambda = append(lambda, refined[k])
	}
	refined = refinedGrid(lambda, theta)
	steps := r.tweedie(refined)
	if r.in.err != nil {
		return outcome{}
	}
	law := r.w.TrapezoidLaw(steps, theta, floor)
	return outcome{
		settings: object{"masked_fractions": lambda, "theta": given{}, "floor": given{}, "refined": refined},
		plan:     true, law: law, denoised: r.w.Denoise(law, last(steps.Grid)),
		calls: trapezoidCalls(steps, r.w.D, r.w.Timed()),
	}
}

func (r *more) scheduled(_, s *node) outcome {
	settings := object{}
	steps := r.tweedie(r.schedule(s, settings))
	if r.in.err != nil {
		return outcome{}
	}
	c := r.w.Run(steps)
	calls, finish := steps.ExpectedCalls(r.w.D)
	return outcome{
		settings: settings, plan: true, law: c.Law, denoised: c.Denoised, calls: calls + finish,
		extra: object{"plan_nelbo": c.PlanNELBO},
	}
}

func (r *more) entropyBounded(_, s *node) outcome {
	if s.fields["order"] != nil {
		if text := r.in.text(s, "order"); r.in.err == nil && !strings.HasPrefix(text, "entropy") {
			r.in.fail("order %.40q is not known: must be by entropy", text)
		}
	}
	gamma := r.in.number(s, "gamma", 0, 1e6)
	if r.in.err != nil {
		return outcome{}
	}
	law, calls := entropyBounded(r.w, gamma)
	for i, p := range law {
		r.found.add("eb_replay", math.Abs(p-entropyBoundedReplay(r.w, i, gamma)))
	}
	return outcome{settings: object{"gamma": given{}}, denoised: law, calls: calls}
}
