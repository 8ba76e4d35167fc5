package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/estimate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/samplers/cache"
	"mdmgen/samplers/catalog"
)

// windowsSchema names the layout of the output of schedule --cache.
const windowsSchema = "mdmgen.windows/1"

// windowsMeaning explains the measurement.
const windowsMeaning = "The KL of rows with cached keys and values from full rows is in nats per token, measured on texts of First-Hitting. " +
	"A window meets the target if the KL plus three standard errors does. Windows are tried on the same texts, from the cheapest to the first that meets the target: " +
	"no confidence is claimed for the choice. `mdmgen generate --cache … --audit 1` with another seed measures it anew."

// windowTexts is the number of texts on which a window is measured, windowSeed their default seed.
const windowTexts, windowSeed = 4, 1

// Windows is the JSON output of schedule --cache.
type Windows struct {
	Schema     string         `json:"schema"`
	Provenance kit.Provenance `json:"provenance"`
	Meaning    string         `json:"meaning"`
	Target     float64        `json:"target_kl_per_token"`
	Positions  int            `json:"positions"`
	// Tried lists windows from the cheapest on; the last is within the target.
	Tried   []Tried `json:"tried"`
	Command string  `json:"command"`
}

// Tried is a window with the number of positions computed per token and its loss.
type Tried struct {
	Cache    string            `json:"cache"`
	Computed float64           `json:"positions_per_token"`
	KL       estimate.Estimate `json:"kl_per_token"`
}

// candidates returns the windows for a canvas of d positions, from the cheapest on.
func candidates(d int) (out []Tried) {
	for _, w := range []int{0, 1, 2, 4, 8, 16} {
		size := 2 * (2*w + 1)
		for _, refresh := range []int{8, 16, 32, 64} {
			full := (d-1)/refresh + 1
			if size < d && full < d {
				how := cache.Settings{Kind: cache.Window, W: w, Refresh: refresh}
				out = append(out, Tried{Cache: how.String(), Computed: float64(full*d+(d-full)*size) / float64(d)})
			}
			if full == 1 {
				break // Longer ones are equivalent.
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Tried) int { return cmp.Compare(a.Computed, b.Computed) })
	return out
}

// windows finds the cheapest window within a target, and keeps it for the model.
func (o *options) windows(ctx context.Context, s kit.Streams) error {
	if o.format == "svg" {
		return exit.Usagef("--format svg: draws interactions: leave --cache out")
	}
	seed := uint64(windowSeed)
	if o.seed != nil {
		seed = *o.seed
	}
	return o.onCanvas(ctx, s, func(out *kit.Output, m model.Model, canvas []int) error {
		r := Windows{Schema: windowsSchema, Provenance: kit.NewProvenance(m, nil), Meaning: windowsMeaning, Target: o.klPerToken, Positions: len(canvas)}
		for _, t := range candidates(len(canvas)) {
			cell, err := bench.NewCell(bench.Setting{Options: catalog.Options{Sampler: "fhs", Cache: t.Cache}}, m, m.Facts().Framed(canvas), windowTexts)
			if err != nil {
				return o.all.Refuse("schedule", err)
			}
			q, _, err := bench.AuditQuality(ctx, &cell, bench.AuditConfig{Texts: windowTexts, Seed: seed, Confidence: estimate.DefaultConfidence, KeepBytes: setup.KeepBytes(0)})
			if err != nil {
				return fmt.Errorf("schedule: %w", fault.WithoutName(err))
			}
			t.KL = q.Metrics[0].Value
			if r.Tried = append(r.Tried, t); t.KL.Mean > 0 && t.KL.Mean+3*t.KL.SE > o.klPerToken {
				continue
			}
			if file, err := setup.KeepWindow(ctx, setup.Window{Cache: t.Cache, KL: t.KL, Positions: len(canvas), Provenance: r.Provenance}); err != nil {
				s.Notice("not kept: " + err.Error())
			} else {
				s.Notice("kept as " + file)
			}
			r.Command = o.generating(len(canvas), "--cache "+t.Cache)
			break
		}
		if r.Command == "" {
			return fmt.Errorf("schedule: no window loses at most %g nats per token on %d positions: give a greater --target-kl-per-token, or a longer canvas", o.klPerToken, len(canvas))
		}
		return kit.PrintLine(out, o.format, r, r.text())
	})
}

func (r *Windows) text() string {
	t := kit.NewTable(true)
	fmt.Fprintf(t, "cache\tpositions per token\tKL, nats per token\t\n")
	for _, w := range r.Tried {
		fmt.Fprintf(t, "%s\t%.1f\t%s\t\n", w.Cache, w.Computed, w.KL)
	}
	return t.String() + fmt.Sprintf("\nto use it, as --cache auto does from now on:\n  %s\n\n%s", r.Command, kit.Wrap(r.Meaning, kit.Width, ""))
}
