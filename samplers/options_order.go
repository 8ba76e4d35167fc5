package samplers

import (
	"cmp"

	"mdmgen/samplers/schedule"
)

// blocks makes the samplers that reveal FHS's order in groups.
func (s *Sampler) blocks(o Options, c Spec) error {
	curve, list, err := schedule.ParseSizes(o.Sizes)
	if err != nil {
		return err
	}
	s.settings.Sizes = cmp.Or(o.Sizes, "equal")
	sizes := schedule.ListSizes(list)
	if list == nil {
		s.settings.Steps = cmp.Or(o.Steps, DefaultSteps)
		if sizes, err = schedule.NewSizes(curve, s.settings.Steps, o.Profile); err != nil {
			return err
		}
	}
	if s.law = (parallelFHS{sizes}); s.settings.Sampler == "paired-fhs" {
		s.law = lookBack{sizes, s.floor(o), c.mostMasked()}
	}
	return nil
}

// ordered makes the sampler of an order.
func (s *Sampler) ordered(o Options) error {
	order, list, err := schedule.ParseOrder(o.Order)
	s.settings.Order = cmp.Or(o.Order, string(schedule.LeftToRight))
	s.law = ordered{order, list}
	return err
}
