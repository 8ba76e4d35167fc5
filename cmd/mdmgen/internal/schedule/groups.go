package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/interaction"
	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/spread"
)

// groupsSchema names the layout of schedule's output for numbers of calls.
const groupsSchema = "mdmgen.groups/1"

// maxCalls bounds --calls.
const maxCalls = 1 << 14

// groupsMeaning explains a prediction.
const groupsMeaning = "The KL, in nats per token, is from the same order with one position per call. It is predicted from pairwise interactions of positions. " +
	"It is not a bound: on 120 to 128 positions of three networks, measured values are within a factor of 1.5; on few positions they are up to 4 times higher. Its error is the profile's alone. `mdmgen generate --audit 1` measures it."

// fewMeaning is added for fewer than farPositions positions, of which none are far apart.
const (
	fewMeaning   = " On fewer than 20 positions none are far apart, and the sampler parallel-fhs can be as close as spread: `mdmgen bench --length %d --calls … --sampler spread,parallel-fhs --quality audit` compares them."
	farPositions = 20
)

// Groups is the JSON output of schedule for numbers of calls.
type Groups struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	// File is the file with the interactions, "" if they are not kept.
	File         string               `json:"file,omitempty"`
	Interactions *interaction.Profile `json:"interactions"`
	Positions    int                  `json:"positions"`
	Choices      []Grouped            `json:"choices"`
}

// Grouped holds the groups for one number of calls.
type Grouped struct {
	Calls int `json:"calls"`
	// Predicted is in nats per token, SE its standard error, Random the prediction for random
	// groups.
	Predicted float64 `json:"predicted_kl_per_token"`
	SE        float64 `json:"se"`
	Random    float64 `json:"random_groups"`
	// Groups are positions, before the shift and the reflection that each sequence draws. Apart is
	// the least distance between two positions of each group, 0 for a group of one.
	Groups  [][]int `json:"groups"`
	Apart   []int   `json:"apart"`
	Command string  `json:"command"`
}

// groups prints the best groups for numbers of calls, or for the least number of calls within a
// target.
func (o *options) groups(ctx context.Context, s kit.Streams) (err error) {
	var calls []int
	if o.calls != "" {
		if calls, err = bench.Ints(o.calls, 1, maxCalls); err != nil {
			return exit.Usagef("--calls: %s", fault.Plain(err))
		}
	}
	return o.onCanvas(ctx, s, func(m model.Model, canvas []int) error {
		if most := slices.Max(append(calls, 1)); most > len(canvas) {
			return exit.Usagef("--calls: %d for %d positions: must be in 1..%d, or --length greater", most, len(canvas), len(canvas))
		}
		read := setup.Profile{Path: o.profile}
		in, file, err := read.Interactions(ctx, s, m)
		if err != nil {
			return err
		}
		r := Groups{Schema: groupsSchema, Provenance: kit.NewProvenance(m, nil), Meaning: groupsMeaning, File: file, Interactions: in, Positions: len(canvas)}
		if len(canvas) < farPositions {
			r.Meaning += fmt.Sprintf(fewMeaning, len(canvas))
		}
		free := likelihood.InOrder(len(canvas))
		if o.calls == "" {
			calls = []int{fewest(in, free, o.klPerToken)}
		}
		for _, n := range calls {
			c, err := group(in, m.Spec(), free, n)
			if err != nil {
				return err
			}
			setting := fmt.Sprintf("--calls %d", n)
			if file != "" {
				setting += " --set profile=" + kit.Quoted(file)
			}
			c.Command = o.generating(len(free), setting)
			r.Choices = append(r.Choices, c)
		}
		if o.format == "svg" {
			p := in.Plot("What a reveal tells about another position")
			return p.Draw(s.Results, "svg", 560, 400)
		}
		return kit.PrintLine(s.Results, o.format, r, r.text())
	})
}

// group predicts the groups for n calls.
func group(in *interaction.Profile, spec samplers.Spec, free []int, n int) (Grouped, error) {
	d := float64(len(free))
	best := spread.Choose(&in.Interactions, free, n)
	out := Grouped{Calls: n, Predicted: best.Nats / d, Groups: best.Groups}
	out.SE = in.Err(func(in *spread.Interactions) float64 { return spread.Predict(in, free, best.Groups) / d })
	random, err := catalog.New(catalog.Options{Sampler: "parallel-fhs", Steps: n}, spec)
	if err != nil {
		return out, err
	}
	if out.Random, err = interaction.Predict(&in.Interactions, random, free); err != nil {
		return out, err
	}
	for _, g := range best.Groups {
		apart := 0
		for i, a := range g {
			for _, b := range g[:i] {
				apart = min(cmp.Or(apart, len(free)), max(a-b, b-a))
			}
		}
		out.Apart = append(out.Apart, apart)
	}
	return out, nil
}

// fewest returns the least number of calls with a predicted KL per token of at most x.
func fewest(in *interaction.Profile, free []int, x float64) int {
	return 1 + sort.Search(len(free)-1, func(n int) bool { return spread.Choose(&in.Interactions, free, 1+n).Nats <= x*float64(len(free)) })
}

func (r *Groups) text() string {
	in := r.Interactions
	head := fmt.Sprintf("interactions  %s; asymmetry %s\npositions     %d\n\n", in, in.Asymmetry, r.Positions)
	t := kit.NewTable(true)
	fmt.Fprintf(t, "calls\tspread: KL, nats per token\trandom groups of parallel-fhs\tsizes of spread's groups, and how far apart\t\n")
	for _, c := range r.Choices {
		fmt.Fprintf(t, "%d\t%s\t%.2g\t%s\t\n", c.Calls, estimate.Digits(c.Predicted, c.SE), c.Random, c.short())
	}
	uses := "\nto use:\n"
	for _, c := range r.Choices {
		uses += "  " + c.Command + "\n"
	}
	return head + t.String() + uses + "\n" + kit.Wrap(r.Meaning, kit.Width, "")
}

// short describes a plan briefly: sizes and distances of the first and last groups.
func (c *Grouped) short() string {
	var items []string
	for i, g := range c.Groups {
		if items = append(items, fmt.Sprint(len(g))); c.Apart[i] > 0 {
			items[i] += fmt.Sprintf("/%d", c.Apart[i])
		}
	}
	if n := len(items); n > 6 {
		items = slices.Concat(items[:3], []string{"…"}, items[n-3:])
	}
	return strings.Join(items, " ")
}
