package bench

import (
	"context"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/quality"
	"mdmgen/samplers"
)

// causalPaths is the number of paths in each block that bound −log P of a sampler without exact values.
const causalPaths = 16

// CausalMetrics estimates the distances between the causal law of a network with two laws and the law of a
// cell in blocks, from texts of each; none for a cell with the causal law itself.
func CausalMetrics(ctx context.Context, c *Cell, cfg quality.Config) ([]Metric, error) {
	e, err := likelihood.New(c.Model, likelihood.Options{Blocks: true, Draw: c.Sampler.Settings().Draw})
	if err != nil || samplers.Is[samplers.ByCausal](c.Sampler.Law()) {
		return nil, err
	}
	spec := c.Model.Spec()
	got, err := quality.TwoLaws(ctx, e, likelihood.Target{IDs: c.Canvas, Free: spec.Masked(c.Canvas)}, c.Sampler, causalPaths, cfg)
	from, to := Metric{Name: "kl_from_causal", Unit: "nats/token", Value: got.FromCausal}, Metric{Name: "kl_to_causal", Unit: "nats/token", Value: got.ToCausal}
	if !got.Exact {
		from.Name, from.Bound, to.Name, to.Bound = from.Name+"_by_paths", "upper", to.Name+"_by_paths", "lower"
	}
	return []Metric{from, to}, err
}
