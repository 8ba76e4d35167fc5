package samplers

import (
	"slices"
)

// Descriptor tells what a sampler is.
type Descriptor struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Summary is one line.
	Summary string `json:"summary"`
	// Law says what is drawn, Cost how many network calls it takes, Source where it
	// is from.
	Law    string `json:"law"`
	Cost   string `json:"cost"`
	Source string `json:"source"`
	// Flags are the options that the sampler can use, as a command line names them.
	// Which of them a given combination uses is told by [Options.Uses].
	Flags []string `json:"flags"`
}

// The names of options, as a command line has them.
const (
	FlagSteps       = "steps"
	FlagGrid        = "grid"
	FlagKappa       = "kappa"
	FlagNoise       = "noise"
	FlagSizes       = "sizes"
	FlagOrder       = "order"
	FlagTau         = "tau"
	FlagT           = "T"
	FlagDelta       = "delta"
	FlagFinish      = "finish"
	FlagTemperature = "temperature"
	FlagTopK        = "top-k"
	FlagTopP        = "top-p"
)

// AllFlags lists the names of the options that belong to a sampler.
func AllFlags() []string {
	return []string{FlagSteps, FlagGrid, FlagKappa, FlagNoise, FlagSizes, FlagOrder, FlagTau, FlagT, FlagDelta, FlagFinish, FlagTemperature, FlagTopK, FlagTopP}
}

var (
	drawFlags = []string{FlagTemperature, FlagTopK, FlagTopP}
	gridFlags = []string{FlagSteps, FlagGrid, FlagKappa, FlagNoise, FlagT, FlagDelta, FlagFinish}
)

var descriptors = []Descriptor{
	{
		Name:    "fhs",
		Aliases: []string{"first-hitting"},
		Summary: "first-hitting sampler: one position a call, no discretisation error",
		Law: "From n masked positions at masked fraction L, the next reveal is at L·u^(1/n), u uniform on (0,1); its position is uniform among the masked; " +
			"its token is drawn from the network's row on the canvas before the reveal, asked at the time of the reveal. No time is discretised: the only error is the network's. " +
			"A time-conditioned network is asked at −log α of up to 36, beyond what it was trained on (6.9 for the loglinear noise), at the first of many reveals.",
		Cost:   "d network calls for d free positions, always.",
		Source: "Algorithm 1 of \"Sharp Convergence Rates for Masked Diffusion Models\"; Zheng et al., arXiv 2409.02908.",
		Flags:  drawFlags,
	},
	{
		Name:    "euler",
		Summary: "Euler steps on a grid: constant rates during a step",
		Law: "In the step from t to t−h each masked position is revealed with probability h·(−α′(t))/(1−α(t)), independently; with α = e^(−t) that is h/(e^t−1). " +
			"Positions of one step do not see each other. A probability above 1 is an error that names the step. Positions that no step reveals are filled by one more call, or left.",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d), w_k the probability of being revealed in step k; and one more where something is left to fill.",
		Source: "Euler's method of \"Sharp Convergence Rates for Masked Diffusion Models\", Theorems 1 to 3; Lou et al., arXiv 2310.16834.",
		Flags:  slices.Concat(gridFlags, drawFlags),
	},
	{
		Name:    "tweedie",
		Aliases: []string{"ancestral", "ddpm", "d3pm", "analytic"},
		Summary: "ancestral sampling on a grid: exact reveal times, independent within a step",
		Law: "In the step from t to s < t each masked position is revealed with probability (α(s)−α(t))/(1−α(t)), independently: the exact law of its reveal time, on any grid. " +
			"The one error is that positions of one step do not see each other. Only masked fractions matter, so noise schedules do not, but for the uniform grid.",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d); and one more where something is left to fill (never with delta 0).",
		Source: "Section on D3PM of \"Sharp Convergence Rates for Masked Diffusion Models\"; Austin et al., arXiv 2107.03006; Sahoo et al., arXiv 2406.07524 (ddpm); Lou et al., arXiv 2310.16834 (analytic).",
		Flags:  slices.Concat(gridFlags, drawFlags),
	},
	{
		Name:    "tau-leaping",
		Aliases: []string{"tau"},
		Summary: "Poisson jumps during each step of a grid, in both readings",
		Law: "In a step of expected count h = Δt·(−α′(t))/(1−α(t)) a masked position has Poisson(h) jumps. With --tau any, at least one reveals it and the first names the token: 1−e^(−h). " +
			"With --tau one, exactly one reveals it: h·e^(−h); several leave it masked. Positions of one step do not see each other.",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d); and one more where something is left to fill.",
		Source: "Campbell et al., arXiv 2205.14987; \"Sharp Convergence Rates for Masked Diffusion Models\", related work.",
		Flags:  slices.Concat(gridFlags, []string{FlagTau}, drawFlags),
	},
	{
		Name:    "parallel-fhs",
		Summary: "first-hitting order revealed in groups, one call a group",
		Law: "Order and times are those of fhs. They are cut into groups; a group's call is asked at its first hitting time, and its tokens are independent. --sizes equal, cos2 and cosine cut d positions into N groups, " +
			"a list gives the sizes in order. Groups of one are fhs.",
		Cost:   "The number of groups: min(N, d).",
		Source: "Zheng et al., arXiv 2409.02908, Algorithm 2; cos2: Zhang and Syed, arXiv 2508.04884; cosine: MaskGIT, arXiv 2202.04200.",
		Flags:  slices.Concat([]string{FlagSizes, FlagSteps}, drawFlags),
	},
	{
		Name:    "ordered",
		Aliases: []string{"autoregressive", "ar"},
		Summary: "one position a call in a given order",
		Law: "Positions are revealed one by one: left-to-right, right-to-left, random (the order of fhs), or a list of positions. There is no time; a time-conditioned network is asked at masked fraction m/(d+1), " +
			"m of d free positions being masked, the mean of those of fhs. For a network that does not depend on time, random is fhs.",
		Cost:   "d network calls for d free positions, always.",
		Source: "Uria et al., arXiv 1310.1757; Hoogeboom et al., arXiv 2110.02037.",
		Flags:  slices.Concat([]string{FlagOrder}, drawFlags),
	},
}

// Descriptors lists the samplers, the default first.
func Descriptors() []Descriptor { return slices.Clone(descriptors) }

// Describe finds a sampler by its name or an alias.
func Describe(name string) (Descriptor, bool) {
	for _, d := range descriptors {
		if d.Name == name || slices.Contains(d.Aliases, name) {
			return d, true
		}
	}
	return Descriptor{}, false
}
