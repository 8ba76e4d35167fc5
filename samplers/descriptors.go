package samplers

import "slices"

// aheadCost is what look-ahead makes of the cost of a sampler.
const aheadCost = " With --lookahead K, calls of up to K canvases each, and fewer of them; the samples are those of K = 1."

var descriptors = []Descriptor{
	{
		Name:    "fhs",
		Aliases: []string{"first-hitting"},
		Summary: "first-hitting sampler: one position a call, no discretisation error",
		Law: "From n masked positions at masked fraction L, the next reveal is at L·u^(1/n), u uniform on (0,1); its position is uniform among the masked; " +
			"its token is drawn from the network's row on the canvas before the reveal, asked at the time of the reveal. No time is discretised: the only error is the network's. " +
			"A time-conditioned network is asked at −log α of up to 36, beyond what it was trained on (6.9 for the loglinear noise), at the first of many reveals.",
		Calls:  "d",
		Cost:   "d network calls for d free positions." + aheadCost,
		Source: "Algorithm 1 of \"Sharp Convergence Rates for Masked Diffusion Models\"; Zheng et al., arXiv 2409.02908.",
		Flags:  oneFlags,
		make:   func(s *Sampler, _ Options, _ Spec) error { s.law = fhs{}; return nil },
	},
	{
		Name:    "euler",
		Summary: "Euler steps on a grid: constant rates during a step",
		Law: "In the step from t to t−h each masked position is revealed with probability h·(−α′(t))/(1−α(t)), independently; with α = e^(−t) that is h/(e^t−1). " +
			"Positions of one step do not see each other. A probability above 1 is an error that names the step. With --scores raw, for a score network, the probability is multiplied by the mass of the row. Positions that no step reveals are filled by one more call, or left. With --draw float32-gumbel tokens and mask race at every step as they do in float32 programs: rare tokens are lost, and reveals come late.",
		Calls:  "non-empty steps",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d), w_k the probability of being revealed in step k; and one more where something is left to fill.",
		Source: "Euler's method of \"Sharp Convergence Rates for Masked Diffusion Models\", Theorems 1 to 3; Lou et al., arXiv 2310.16834.",
		Flags:  slices.Concat(gridFlags, []string{"scores"}, drawFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "tweedie",
		Aliases: []string{"ancestral", "ddpm", "ddpm-cache", "d3pm", "analytic", "truncated-tau-leaping", "truncated-tau"},
		Summary: "ancestral sampling on a grid: exact reveal times, independent within a step",
		Law: "In the step from t to s < t each masked position is revealed with probability (α(s)−α(t))/(1−α(t)), independently: the exact law of its reveal time, on any grid. " +
			"The one error is that positions of one step do not see each other. Only masked fractions matter, so noise schedules do not, but for the uniform grid. " +
			"Truncated τ-leaping is the same for rows that are normalised. With --scores raw, for a score network, it is its own kernel: a row of mass c stays masked with probability (L(s)/L(t))^c, L = 1−α the masked fraction, " +
			"and its token has probability s(a)/Σs; each step then asks for all masked positions. --temperature, --top-p and --top-k change tokens, not c. With --draw float32-gumbel tokens and mask race at every step as they do in float32 programs: rare tokens are lost, and reveals come late.",
		Calls:  "non-empty steps",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d); and one more where something is left to fill (never with delta 0). With --scores raw min(N, steps until nothing is masked).",
		Source: "Section on D3PM of \"Sharp Convergence Rates for Masked Diffusion Models\"; Austin et al., arXiv 2107.03006; Sahoo et al., arXiv 2406.07524 (ddpm); Lou et al., arXiv 2310.16834 (analytic); Dmitriev, Huang and Wei, arXiv 2602.15008 (truncated τ-leaping).",
		Flags:  slices.Concat(gridFlags, []string{"scores"}, drawFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "tau-leaping",
		Aliases: []string{"tau"},
		Summary: "Poisson jumps during each step of a grid, in both readings",
		Law: "In a step of expected count h = Δt·(−α′(t))/(1−α(t)) a masked position has Poisson(h) jumps. With --tau any, at least one reveals it and the first names the token: 1−e^(−h). " +
			"With --tau one, exactly one reveals it: h·e^(−h); several leave it masked. With --scores raw and --tau any, for a score network, h is multiplied by the mass of the row. Positions of one step do not see each other. With --draw float32-gumbel tokens and mask race at every step as they do in float32 programs: rare tokens are lost, and reveals come late.",
		Calls:  "non-empty steps",
		Cost:   "The non-empty steps: Σ_k 1−(1−w_k)^d calls in expectation, at most min(N, d); and one more where something is left to fill.",
		Source: "Campbell et al., arXiv 2205.14987; \"Sharp Convergence Rates for Masked Diffusion Models\", related work.",
		Flags:  slices.Concat(gridFlags, []string{"tau", "scores"}, drawFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "parallel-fhs",
		Summary: "first-hitting order revealed in groups, one call a group",
		Law: "Order and times are those of fhs. They are cut into groups; a group's call is asked at its first hitting time, and its tokens are independent. --sizes equal, cos2 and cosine cut d positions into N groups, " +
			"profile into those of least expected loss under a loss profile of the network, a list gives the sizes in order. Groups of one are fhs.",
		Calls:  "number of groups",
		Cost:   "The number of groups: min(N, d).",
		Source: "Zheng et al., arXiv 2409.02908, Algorithm 2; cos2: Zhang and Syed, arXiv 2508.04884; cosine: MaskGIT, arXiv 2202.04200.",
		Flags:  slices.Concat([]string{"sizes", "steps"}, drawFlags),
		make:   (*Sampler).blocks,
	},
	{
		Name:    "uniformization",
		Summary: "the exact reverse process by Poisson events, most of which reveal nothing",
		Law: "In each segment of a grid events come at the constant rate d·r(s), s its later end and r = 1/(e^s−1); an event at t reveals one of m masked positions, chosen uniformly, with probability m·r(t)/(d·r(s)), " +
			"and its token is drawn from the row on the canvas before it, asked at t. That is the exact chain from T to delta on any grid: the masked fractions of the reveals are independent and uniform below that of T. " +
			"What is below that of delta, a fraction of about delta, is filled by one more call, or left. The network takes no part in thinning, since its rows sum to 1; delta must be positive. The default grid is the paper's.",
		Calls: "reveals, about d",
		Cost: "One call a reveal: d(1−L(delta)/L(T)) in expectation, L = 1−e^(−t), and one more where something is left to fill. Events, counted apart, are Poisson with mean d·Σ_k h_k·r(θ_{k+1}), " +
			"at least d·log(L(T)/L(delta))." + aheadCost,
		Source: "Chen and Ying, arXiv 2402.08095; \"Sharp Convergence Rates for Masked Diffusion Models\", related work.",
		Flags:  slices.Concat(gridFlags, oneFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "matu",
		Aliases: []string{"aatu"},
		Summary: "mask-aware truncated uniformization: its events follow the number of masks",
		Law: "As uniformization, with events at the rate m·r(s), which follows the number m of masked positions. The law is the same; the truncation of rates above the bound never acts, since the network's rows sum to 1. " +
			"It starts from masks alone.",
		Calls:  "reveals, about d",
		Cost:   "One call a reveal, as uniformization. Events, counted apart, are (d/L(T))·Σ_k r(θ_{k+1})·(h_k − (e^(−θ_{k+1}) − e^(−θ_k))) in expectation: as many as reveals in the limit of small segments." + aheadCost,
		Source: "Huang et al., arXiv 2509.21835.",
		Flags:  slices.Concat(gridFlags, oneFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "dmpm",
		Summary: "rates frozen in time during a step, tokens drawn one after the other",
		Law: "In the step from t to t−h each masked position has a clock of the constant rate r(t) and is revealed with probability 1−e^(−h·r(t)), h in the noise's time; those of a step are revealed one at a time in uniform order, each on the canvas " +
			"with all before it, asked at t. Too few are revealed, and the time asked at is too early; dependence between tokens is exact. Given that nothing is left, the law for a network without time is that of fhs.",
		Calls:  "reveals, at most d",
		Cost:   "One call a reveal: d(1−Π_k(1−p_k)) in expectation, and one more where something is left to fill." + aheadCost,
		Source: "Conforti, Durmus, Pham and Raoul, arXiv 2512.00580; Pham et al., arXiv 2502.07939.",
		Flags:  slices.Concat(gridFlags, oneFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "trapezoidal",
		Summary: "tweedie on half steps, the second of which extrapolates from the first",
		Law: "Each step is cut in two in the middle of its masked fractions, and positions are revealed as by tweedie on the halves. The first half is drawn from its rows p, asked at the start of the step. The second half is drawn from max(2q−p, κq), " +
			"normalised, q being its rows after the first half, asked in the middle, and p its rows before it: --floor is κ, without which a possible text may have probability 0. Where dependence is smooth and nothing is clipped the error of a step is of third order, " +
			"against tweedie's second. Without time an empty first half leaves the second plain; a network that is asked with the time has other rows in the middle, and the second half extrapolates from them.",
		Calls: "non-empty half steps",
		Cost: "The non-empty half steps, of 2N. A time-conditioned network is asked at the start of every non-empty step, and in its middle where the second half is not empty: Σ_k 1−(1−w_k)^d + 1−(1−w_k/2)^d calls in expectation. " +
			"Calls return rows for both halves.",
		Source: "In the form of a plan; intensities of the θ-trapezoidal method of Ren et al., arXiv 2502.00234, θ = 1/2.",
		Flags:  slices.Concat(gridFlags, []string{"floor"}, drawFlags),
		make:   (*Sampler).grid,
	},
	{
		Name:    "paired-fhs",
		Summary: "experimental: parallel-fhs in pairs of groups, the second of which extrapolates",
		Law: "Groups are those of parallel-fhs, taken two by two, of sizes a and b. The second of a pair is drawn from max((1+w)p − w·q, κp), normalised, with w = (a+b)(a+b−1)/(2ab) − 1, p and q being the rows of this call and of the call before, and --floor κ; " +
			"a last group without a partner is plain. A time-conditioned network is asked at masked fraction m/d, or at the end of its noise where it has no row at 1. Keep sizes equal: others make w large.",
		Calls:  "number of groups",
		Cost:   "The number of groups: min(N, d). Calls of the first of a pair return rows for both.",
		Source: "A constant-weight form of Zheng et al., arXiv 2409.02908, Algorithm 3.",
		Flags:  slices.Concat([]string{"sizes", "steps", "floor"}, drawFlags),
		make:   (*Sampler).blocks,
	},
	{
		Name:    "ordered",
		Aliases: []string{"autoregressive", "ar"},
		Summary: "one position a call in a given order",
		Law: "Positions are revealed one by one: left-to-right, right-to-left, random (the order of fhs), or a list of positions. There is no time; a time-conditioned network is asked at masked fraction m/(d+1), " +
			"m of d free positions being masked, the mean of those of fhs. For a network that does not depend on time, random is fhs.",
		Calls:  "d",
		Cost:   "d network calls for d free positions." + aheadCost,
		Source: "Uria et al., arXiv 1310.1757; Hoogeboom et al., arXiv 2110.02037.",
		Flags:  slices.Concat([]string{"order"}, oneFlags),
		make:   func(s *Sampler, o Options, _ Spec) error { return s.ordered(o) },
	},
	{
		Name:    "confidence",
		Aliases: []string{"llada", "low-confidence", "maskgit-plus"},
		Summary: "the surest positions first, a fixed number a call, as LLaDA, Dream and dLLM do it",
		Law: "A token is drawn at every masked position; those of the greatest --score come onto the canvas, the lowest position first among equals, and the others are thrown away. Scores: confidence, the network's own probability of the drawn token (LLaDA); maskgit-plus, the probability that it was drawn with, after temperature and truncation (Dream); " +
			"margin, the difference of the two greatest of these; entropy, their negative entropy; random. At temperature 0 they are those of temperature 1. Changes the law: tokens that are drawn are preferred where they are probable, and early calls take what is easy. How many a call: llada, ⌊n/N⌋ and one more in the first n mod N steps; " +
			"dream, ⌊m(1−t'/t)⌋ of m masked ones, t from 1 to eps, and all in the last step; dllm, m(α(s)−α(t))/(1−α(t)) rounded, halves to even. With --block-length blocks are filled one after the other, masks before a block being candidates too, and steps are divided by the blocks, rounded up.",
		Calls:  "steps that reveal something, at most d",
		Cost:   "One network call a step that reveals something: min(N, d); rules that make calls which can reveal nothing count them apart. With --guidance two canvases a call. With --score random a call asks only for what it reveals.",
		Source: "Chang et al., arXiv 2202.04200 (MaskGIT); Nie et al., arXiv 2502.09992, generate.py (LLaDA); Ye et al., arXiv 2508.15487, generation_utils.py (Dream); dLLM, dllm/core/samplers/mdlm.py.",
		Flags:  slices.Concat([]string{"rule", "steps", "schedule", "transfer", "eps", "alg-temp", "columns"}, rankFlags),
		make:   (*Sampler).ranks,
	},
	{
		Name:    "threshold",
		Aliases: []string{"fast-dllm"},
		Summary: "all positions that are sure enough, and at least the surest",
		Law: "As confidence, but a call reveals the surest position and every other whose score is at least --threshold. With --rule dream only the quota of the step, even numbers of N steps, and what was refused before are considered, and calls go on while something is refused; with --rule dllm dLLM's quotas. " +
			"Changes the law. Rows of one call do not see each other: at a threshold near 1 that matters little.",
		Calls:  "1 to d",
		Cost:   "As many calls as the rows make it, at most d where there are no quotas.",
		Source: "Wu et al., arXiv 2505.22618 (Fast-dLLM), without its caches, which are another decoder.",
		Flags:  slices.Concat([]string{"threshold", "rule", "steps"}, rankFlags),
		make:   (*Sampler).ranks,
	},
	{
		Name:    "factor",
		Summary: "as threshold, but the more a call reveals, the surer they must be",
		Law:     "As confidence, but of the positions in the order of their scores c the r-th is revealed where c ≥ 1 − F/(r+1), up to the first that fails; if that is the last of all, it is revealed too (Fast-dLLM), but not with --rule dllm. Changes the law.",
		Calls:   "1 to d",
		Cost:    "As many calls as the rows make it, at most d.",
		Source:  "Wu et al., arXiv 2505.22618 (Fast-dLLM), get_transfer_index_dynamic; dLLM, dllm/pipelines/fastdllm.",
		Flags:   slices.Concat([]string{"factor", "rule"}, rankFlags),
		make:    (*Sampler).ranks,
	},
	{
		Name:    "localleap",
		Summary: "as threshold, with a lower one near positions that are sure",
		Law:     "As threshold, but within --radius positions of an anchor, a masked position of at least --threshold in this call, --relaxed-threshold is enough. Changes the law.",
		Calls:   "1 to d",
		Cost:    "As many calls as the rows make it, at most d.",
		Source:  "LocalLeap, generate.py.",
		Flags:   slices.Concat([]string{"threshold", "relaxed-threshold", "radius"}, rankFlags),
		make:    (*Sampler).ranks,
	},
	{
		Name:    "entropy-bounded",
		Aliases: []string{"eb", "eb-sampler"},
		Summary: "as many positions as have little entropy together",
		Law: "A call reveals the longest sequence of positions, in the order of rising entropy or of another --score, whose entropies sum to at most --gamma nats, the greatest left out. Their mutual information is at most that, so that the error of drawing them at once is bounded. " +
			"With the score entropy positions do not depend on what is drawn; which are revealed when depends on the rows. Entropies are of what tokens are drawn from, at temperature 0 of temperature 1.",
		Calls:  "1 to d",
		Cost:   "As many calls as the rows make it, at most d: d with gamma 0, but where a position has no entropy.",
		Source: "Ben-Hamu et al., arXiv 2505.24857.",
		Flags:  slices.Concat([]string{"gamma"}, rankFlags),
		make:   (*Sampler).ranks,
	},
	{
		Name:    "llada2",
		Aliases: []string{"llada2.1"},
		Summary: "all positions that are sure, or a quota; with edits of what was revealed",
		Law: "As confidence, but a call reveals all positions of more than --threshold if they are at least the quota of the step, which is llada's for the length of a block, and as many as the quota otherwise. With --editing-threshold a token that was revealed is replaced in any call by another of more than that probability, at least --at-least are revealed, " +
			"and calls go on until one changes nothing, at most --post-steps of them without masks. Changes the law. Attention is not causal between blocks here.",
		Calls:  "1 to d, or more with edits",
		Cost:   "At most the steps of a block, by default 32, for each; with edits at most d and --post-steps a block.",
		Source: "LLaDA2 and LLaDA2.1; dLLM, dllm/pipelines/llada2 and llada21.",
		Flags:  slices.Concat([]string{"threshold", "steps", "editing-threshold", "at-least", "post-steps"}, rankFlags),
		make:   (*Sampler).ranks,
	},
	{
		Name:    "remdm",
		Aliases: []string{"remasking"},
		Summary: "ancestral sampling that masks again some of what was revealed",
		Law: "N equal steps from t = 1 to 0.00001, α = 1−t. In the step to s a position that was revealed is masked again with probability σ, and a masked one revealed with (α(s)−(1−σ)α(t))/(1−α(t)), its token drawn from the row on the canvas before the step; what is left is filled with the likeliest tokens by one more call. " +
			"--remask cap: σ = min(eta, (1−α(s))/α(t)). rescale: eta·min(1, (1−α(s))/α(t)). conf: min(1, (1−α(s))/α(t)) shared in proportion to e^(−p), p the probability that a token was drawn with, and masks revealed as with σ = 0. loop: without remasking up to alpha-on revealed at t-on, σ = eta at constant α up to t-off, then the rest. " +
			"forward-backward: σ = (α(s)−α(t))/α(t). dfm: with a = 10(t(1−t))^(1/4) + 1 and b = a−1, steps h = min(1/N, 1/(a/t + b/(1−t))), revealed with ah/t, masked with bh/(1−t). Masked fractions are those of tweedie with cap, rescale and forward-backward; tokens may be corrected, so that the law is another. Given positions are never masked.",
		Calls:  "steps that reveal something, at most N + 1",
		Cost:   "One network call a step that reveals something, for the rows of what it reveals, and one more where something is left to fill. More than d where N is.",
		Source: "Wang et al., arXiv 2503.00307 (ReMDM), with Campbell et al., arXiv 2205.14987 (forward-backward) and Gat et al., arXiv 2407.15595 (discrete flow matching) in its code.",
		Flags:  slices.Concat([]string{"remask", "steps", "eta", "t-on", "t-off", "alpha-on", "nucleus-p"}, drawFlags),
		make:   (*Sampler).remasks,
	},
	{
		Name:    "p2",
		Aliases: []string{"path-planning"},
		Summary: "the surest positions stay, and as many are masked as the step has, again or still",
		Law: "N calls, each about all of n free positions. A token is drawn where there is none. Positions are ordered by the log-probability of that token, or, times --eta, of the one that stands there, and after call i the ⌊n(1−i/N)⌋ lowest are masked, " +
			"whether they were before or not; the lowest position is kept among equals. Probabilities are those that tokens are drawn with, at temperature 0 of temperature 1. A larger eta masks more again. Where a network says nothing of positions that have a token, as some do, nothing is masked again. Changes the law.",
		Calls:  "N",
		Cost:   "N network calls for the rows of all free positions; those at the end that can change nothing are left out.",
		Source: "Peng et al., arXiv 2502.03540 (P2), self-planning.",
		Flags:  slices.Concat([]string{"steps", "eta"}, drawFlags),
		make:   (*Sampler).plansPaths,
	},
}
