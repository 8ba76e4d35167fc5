package samplers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/schedule"
)

// blocks makes the samplers that reveal FHS's order in groups.
func (s *Sampler) blocks(o Options, c Spec) error {
	curve, list, err := parseSizes(o.Sizes)
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

// mostMasked is the greatest masked fraction at which a network is asked: below 1 where it has
// no row at 1, that of the end of its noise.
func (c *Spec) mostMasked() float64 {
	if !c.TimeConditioned || c.InfiniteSigma {
		return 1
	}
	noise, _ := schedule.ParseNoise(c.Noise) // which New has checked
	_, end := noise.Range()
	if math.IsInf(end, 1) {
		end = defaultT
	}
	return schedule.LambdaOf(end)
}

// parseSizes reads the sizes of groups: the name of a curve, or a list.
func parseSizes(text string) (curve schedule.GridKind, list []int, err error) {
	switch text {
	case "", "equal":
		return schedule.GridLambda, nil, nil
	case string(schedule.GridCos2), string(schedule.GridCosine), string(schedule.GridProfile):
		return schedule.GridKind(text), nil, nil
	}
	if list, err = parseInts(text, 1); err != nil {
		err = fault.Errorf("samplers", "sizes %q: must be equal, cos2, cosine, profile or a list of sizes: %w", text, err)
	}
	return "", list, err
}

func (s *Sampler) ordered(o Options) error {
	s.settings.Order = cmp.Or(o.Order, string(LeftToRight))
	switch order := Order(s.settings.Order); order {
	case LeftToRight, RightToLeft, RandomOrder:
		s.law = ordered{order: order}
		return nil
	}
	list, err := parseInts(o.Order, 0)
	if err != nil {
		return fault.Errorf("samplers", "order %q: must be left-to-right, right-to-left, random or a list of positions: %w", o.Order, err)
	}
	sorted := slices.Sorted(slices.Values(list))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fault.Errorf("samplers", "order: position %d appears twice", sorted[i])
		}
	}
	s.law = ordered{order: ListedOrder, list: list}
	return nil
}

// parseInts reads "3,1,2", each at least least.
func parseInts(text string, least int) ([]int, error) {
	var out []int
	for _, item := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || n < least || n > math.MaxInt32 {
			return nil, fmt.Errorf("%.40q is not a whole number of at least %d", item, least)
		}
		out = append(out, n)
	}
	return out, nil
}
