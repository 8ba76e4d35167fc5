package samplers

import "mdmgen/samplers/schedule"

// RawLaw is the law of a sampler that takes the mass of a score network's rows as a
// factor of the rate.
type RawLaw struct {
	// Steps has the probabilities of a row of mass 1.
	Steps schedule.Steps
	// Stays returns the probability that a position of mass c ≥ 0 stays masked in step k,
	// and an error where none is, as Euler's may be.
	Stays func(k int, c float64) (float64, error)
}

// RawLaw returns that of a sampler with raw scores, false for others.
func (s *Sampler) RawLaw() (RawLaw, bool) {
	k, ok := s.law.(rawKernel)
	if !ok {
		return RawLaw{}, false
	}
	return RawLaw{k.steps, k.stays}, true
}
