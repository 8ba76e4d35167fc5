package samplers

import (
	"slices"
)

// SameLaw says that two samplers are known to give d free positions the same distribution,
// whatever the network: timed says that it may look at the time. Where it is false they may
// still agree. How tokens are drawn exactly is no difference: see [draw.By].
func SameLaw(a, b *Sampler, d int, timed bool) bool {
	one, planned := a.Law()
	other, also := b.Law()
	switch {
	case !planned || !also || !a.settings.Draw.Same(b.settings.Draw) || one.Fixed != other.Fixed || a.settings.Scores != b.settings.Scores:
		return false
	case one.Fixed || one.LookBack || other.LookBack || timed && one.Clock != other.Clock:
		return false // These have more to them than what is compared here.
	case one.Steps == nil && other.Steps == nil:
		x, err := one.Sizes(d)
		y, also := other.Sizes(d)
		return err == nil && also == nil && slices.Equal(x, y)
	case one.Steps == nil || other.Steps == nil || one.OneByOne != other.OneByOne || a.denoise != b.denoise:
		return false
	}
	return one.Steps.Same(other.Steps, timed)
}
