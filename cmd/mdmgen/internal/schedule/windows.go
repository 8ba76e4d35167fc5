package schedule

import (
	"context"
	"fmt"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// windowsSchema names the layout of the output of schedule --cache.
const windowsSchema = "mdmgen.windows/1"

// windowsMeaning explains the measurement.
const windowsMeaning = "The KL of rows with cached keys and values from full rows is in nats per token, measured on texts of First-Hitting. " +
	"A cache is within the target if the upper end of its interval is. Those tried halve a list from the cheapest to the dearest, and all intervals hold together with a confidence of 0.95, whichever is chosen. " +
	"One far above the target is given up after few texts. `mdmgen generate --cache … --audit 1` with another seed measures it anew."

// Windows is the JSON output of schedule --cache.
type Windows struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	Target     float64        `json:"target_kl_per_token"`
	Positions  int            `json:"positions"`
	// Tried lists caches in the order in which they were measured. The last that is within the target
	// computes the fewest positions.
	Tried   []bench.Tried `json:"tried"`
	Command string        `json:"command"`
}

// windows finds the cheapest cache within a target, and keeps it for the model.
func (o *options) windows(ctx context.Context, s kit.Streams) error {
	if o.format == "svg" {
		return exit.Usagef("--format svg: draws interactions: leave --cache out")
	}
	seed := uint64(setup.CacheSeed)
	if o.seed != nil {
		seed = *o.seed
	}
	return o.onCanvas(ctx, s, func(m model.Model, canvas []int) error {
		found, file, err := setup.FindCache(ctx, s, m, catalog.Options{CacheCost: o.klPerToken}, len(canvas), seed, true)
		if err != nil {
			return fmt.Errorf("schedule: %w", fault.WithoutName(err))
		}
		if found.Found.Cache == "" {
			return fmt.Errorf("schedule: no cache costs at most %g nats per token on %d positions: give a greater --target-kl-per-token, or a longer canvas", o.klPerToken, found.Positions)
		}
		if file != "" {
			s.Notice("kept as " + file)
		}
		r := Windows{Schema: windowsSchema, Provenance: kit.NewProvenance(m, nil), Meaning: windowsMeaning, Target: o.klPerToken, Positions: found.Positions, Tried: found.Tried, Command: o.generating(len(canvas), "--cache "+found.Found.Cache)}
		return kit.PrintLine(s.Results, o.format, r, r.text())
	})
}

func (r *Windows) text() string {
	t := kit.NewTable(true)
	fmt.Fprintf(t, "cache\tpositions per token\tKL, nats per token\tat most\t\n")
	for _, w := range r.Tried {
		fmt.Fprintf(t, "%s\t%.1f\t%s\t%.2g\t\n", w.Cache, w.Computed, w.KL, w.KL.Hi)
	}
	return t.String() + fmt.Sprintf("\nto use it, as --cache auto with --cache-cost %v does from now on:\n  %s\n\n%s", r.Target, r.Command, kit.Wrap(r.Meaning, kit.Width, ""))
}
