package main

import (
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/samplers"
)

// sampleFlags choose the sampler.
func sampleFlags() []cli.Flag {
	var names []string
	for _, d := range samplers.Descriptors() {
		names = append(names, d.Name)
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "sampler", Value: "fhs", Category: catSample, Usage: "`NAME` of the sampler: " + strings.Join(names, ", ")},
		&cli.IntFlag{Name: "steps", Category: catSample, DefaultText: "128", Usage: "`N` steps of the grid, or groups of parallel-fhs and its kin"},
		&cli.StringFlag{Name: "grid", Category: catSample, DefaultText: "uniform, paper for uniformization and matu",
			Usage: "`GRID` of times: uniform, lambda, paper, cos2, cosine, profile, theta:LIST or lambda:LIST"},
		&cli.Float64Flag{Name: "kappa", Category: catSample, DefaultText: "what --steps makes it", Usage: "`X` of the paper's grid, whose steps are X·min(1, θ); in place of --steps"},
		&cli.StringFlag{Name: "noise", Category: catSample, DefaultText: "the model's",
			Usage: "`NOISE` in whose time steps are taken: " + strings.Join(samplers.Noises(), ", ")},
		&cli.Float64Flag{Name: "T", Category: catSample, DefaultText: "the noise's end, or 5", Usage: "`X`, the −log α at which the sampler starts; inf where it may be"},
		&cli.Float64Flag{Name: "delta", Category: catSample, DefaultText: "the noise's end, or 0.01", Usage: "`X`, the −log α at which it stops"},
		&cli.StringFlag{Name: "sizes", Category: catSample, DefaultText: "equal", Usage: "`SIZES` of the groups of parallel-fhs and its kin: equal, cos2, cosine, profile or a list"},
		&cli.StringFlag{Name: "order", Category: catSample, DefaultText: "left-to-right",
			Usage: "`ORDER` of the ordered sampler: left-to-right, right-to-left, random or a list of positions"},
		&cli.StringFlag{Name: "tau", Category: catSample, DefaultText: "any", Usage: "`READING` of τ-leaping: any jump reveals a position, or exactly one"},
		&cli.StringFlag{Name: "finish", Category: catSample, DefaultText: "denoise", Usage: "what becomes of positions that no step revealed: denoise or leave, `HOW`"},
		&cli.Float64Flag{Name: "floor", Category: catSample, DefaultText: "0.1", Usage: "`K`: a fill that looks back keeps K times a token's own probability; in 0..1"},
		&cli.StringFlag{Name: "draw", Category: catSample, DefaultText: "exact",
			Usage: "`HOW` steps draw: exact, or float32-gumbel, the biased race of tokens and mask that float32 programs run; changes the law"},
		&cli.StringFlag{Name: "scores", Category: catSample, DefaultText: "normalised", Usage: "what is made of a score network's rows, normalised or raw: `READING`"},
		&cli.Float64Flag{Name: "temperature", Category: catSample, DefaultText: "1", Usage: "`X` that divides the logits, 0 for the likeliest token; changes the law"},
		&cli.Float64Flag{Name: "top-p", Category: catSample, DefaultText: "1", Usage: "keep the likeliest tokens of probability `P` together; changes the law"},
		&cli.IntFlag{Name: "top-k", Category: catSample, DefaultText: "all", Usage: "keep the `K` likeliest tokens; changes the law"},
		&cli.Uint64Flag{Name: "seed", Category: catSample, DefaultText: "random, printed", Usage: "`SEED` of the random streams"},
		&cli.IntFlag{Name: "batch", Category: catSample, DefaultText: "up to 8", Usage: "`N` sequences in a network call; the samples do not depend on it"},
	}
}

// samplerOptions reads the sampler's flags.
func samplerOptions(c *cli.Context) (samplers.Options, error) {
	o := samplers.Options{
		Sampler: c.String("sampler"), Grid: c.String("grid"), Steps: c.Int("steps"), Kappa: c.Float64("kappa"),
		Noise: c.String("noise"), Sizes: c.String("sizes"), Order: c.String("order"), Tau: c.String("tau"), Finish: c.String("finish"),
		Scores: samplers.Scores(c.String("scores")), Race: samplers.Race(c.String("draw")),
	}
	o.TopP, o.TopK = c.Float64("top-p"), c.Int("top-k")
	if c.IsSet("T") {
		t := c.Float64("T")
		o.T = &t
	}
	if c.IsSet("delta") {
		d := c.Float64("delta")
		o.Delta = &d
	}
	if c.IsSet("floor") {
		k := c.Float64("floor")
		o.Floor = &k
	}
	if c.IsSet("temperature") {
		t := c.Float64("temperature")
		o.Temperature = &t
	}
	return o, useProfile(c, &o)
}

// checkSamplerFlags refuses unknown samplers, flags that the sampler does not
// use, and values that would stand for "not given".
func checkSamplerFlags(c *cli.Context) error {
	name := c.String("sampler")
	if _, ok := samplers.Describe(name); !ok {
		var names []string
		for _, d := range samplers.Descriptors() {
			names = append(names, d.Name)
		}
		return usagef("--sampler %s: must be one of %s", name, strings.Join(names, ", "))
	}
	for _, flag := range []string{"grid", "noise", "sizes", "order", "tau", "finish", "scores", "draw"} {
		if c.IsSet(flag) && c.String(flag) == "" {
			return usagef("--%s: the value is empty", flag)
		}
	}
	if c.IsSet("steps") && c.Int("steps") < 1 {
		return usagef("--steps %d: must be at least 1", c.Int("steps"))
	}
	if c.IsSet("top-k") && c.Int("top-k") < 1 {
		return usagef("--top-k %d: must be at least 1", c.Int("top-k"))
	}
	if p := c.Float64("top-p"); c.IsSet("top-p") && !(p > 0 && p <= 1) {
		return usagef("--top-p %v: must be above 0 and at most 1", p)
	}
	if k := c.Float64("kappa"); c.IsSet("kappa") && !(k > 0 && !math.IsInf(k, 1)) {
		return usagef("--kappa %v: must be above 0", k)
	}
	o, err := samplerOptions(c)
	if err != nil {
		return err
	}
	uses, err := o.Uses()
	if err != nil {
		return usagef("%s: %s", c.Command.Name, bare(err))
	}
	for _, flag := range samplers.AllFlags() {
		if !c.IsSet(flag) || slices.Contains(uses, flag) {
			continue
		}
		excluding := []string{flag}
		err := usagef("%s: the sampler %s does not use it", dashed(flag), name)
		if d, _ := samplers.Describe(name); slices.Contains(d.Flags, flag) {
			err = usagef("%s: the sampler %s does not use it with %s", dashed(flag), name, company(c, flag))
			excluding = append(excluding, companions(c, flag)...)
		}
		for _, flag := range excluding {
			if leaveOut(c, err, flag) == nil {
				return checkSamplerFlags(c) // without it
			}
		}
		return err
	}
	return nil
}

// companions are the flags that are set beside one and decide whether it has a meaning.
func companions(c *cli.Context, flag string) []string {
	return slices.DeleteFunc([]string{"kappa", "sizes", "tau", "grid"}, func(other string) bool { return other == flag || !c.IsSet(other) })
}

// company names the choices beside which a flag has no meaning.
func company(c *cli.Context, flag string) string {
	parts := []string{}
	for _, other := range companions(c, flag) {
		parts = append(parts, "--"+other+" "+c.String(other))
	}
	if len(parts) == 0 {
		return "--grid uniform"
	}
	return strings.Join(parts, " and ")
}
