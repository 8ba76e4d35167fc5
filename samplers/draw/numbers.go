package draw

import "math/bits"

// Numbers are the random numbers of one sequence. Each is a function of only the seed, the
// sequence's index, its purpose and, for tokens, the position and the number of tokens drawn there
// before. So a sample does not depend on the batch, the order or the other sequences, a discarded
// draft costs no randomness, and a position that is masked again is drawn anew. The generator is
// Philox4x64-10. Numbers belong to one goroutine.
type Numbers struct {
	seed, index uint64
	// taken counts, by position, the drawn tokens that were put on the canvas.
	taken []uint32
}

// The purposes of a number: half of the generator's key, so that no two uses share numbers.
const (
	forTokens = iota
	forPlans
	_ // unused, as the next, so that the others keep their values
	_
	forCalls
	forOrders
	forSteps
	forCorrections
	forAudits
)

// NewNumbers returns the numbers of sequence index, for any number of positions.
func NewNumbers(seed, index uint64) *Numbers { return &Numbers{seed: seed, index: index} }

// Reset makes d the numbers of another sequence, from the start.
func (d *Numbers) Reset(seed, index uint64) { *d = Numbers{seed, index, d.taken[:0]} }

// Token returns the uniform of the next token at a position. It stays the same until a token is put
// on the canvas there: see [Numbers.Took].
func (d *Numbers) Token(position int) float64 {
	var n uint32
	if position < len(d.taken) {
		n = d.taken[position]
	}
	return d.uniform(forTokens, uint64(position), uint64(n))
}

// Tokens appends to dst the uniforms of the next tokens at positions.
func (d *Numbers) Tokens(dst []float64, positions []int) []float64 {
	for _, l := range positions {
		dst = append(dst, d.Token(l))
	}
	return dst
}

// Call returns the uniform of a token drawn at a position in call number call of the sequence, for
// decoders that discard the draws at positions they do not choose. Unlike Token's, it differs from
// call to call.
func (d *Numbers) Call(position, call int) float64 {
	return d.uniform(forCalls, uint64(position), uint64(call))
}

// Plan returns the uniform of a position in the plan of the sequence.
func (d *Numbers) Plan(position int) float64 { return d.uniform(forPlans, uint64(position), 0) }

// Order returns a uniform of a position for the order in which call number call visits positions.
func (d *Numbers) Order(position, call int) float64 {
	return d.uniform(forOrders, uint64(position), uint64(call))
}

// Step returns the uniform that decides whether a position changes in a step.
func (d *Numbers) Step(position, step int) float64 {
	return d.uniform(forSteps, uint64(position), uint64(step))
}

// Correction returns the uniform with which a correction chooses positions.
func (d *Numbers) Correction(position, correction int) float64 {
	return d.uniform(forCorrections, uint64(position), uint64(correction))
}

// Audit returns the uniform that decides whether a call is audited.
func (d *Numbers) Audit(call int) float64 { return d.uniform(forAudits, uint64(call), 0) }

// Took records that a token drawn at a position was put on the canvas: the next one has another uniform.
func (d *Numbers) Took(position int) {
	for len(d.taken) <= position {
		d.taken = append(d.taken, 0)
	}
	d.taken[position]++
}

// uniform returns a uniform on {1, …, 2^53−1}/2^53. 0 and 1 never occur, so its logarithm and that
// of its complement are finite.
func (d *Numbers) uniform(use, a, b uint64) float64 {
	for _, word := range philox([2]uint64{d.seed, use}, [4]uint64{d.index, a, b}) {
		if k := word >> 11; k != 0 {
			return float64(k) * 0x1p-53
		}
	}
	return 0x1p-53 // with probability 2^−212
}

// Uniforms is the randomness of a plan: one number in (0,1) for each free position. [Numbers]
// implements it for a sampled sequence, and a [Stream] for a series of plans.
type Uniforms interface {
	// Plan returns the number of a position.
	Plan(position int) float64
}

// philox is the counter-based generator Philox4x64-10. It returns 256 random bits that are a function of
// only a key and a counter (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). It passes its authors' test batteries with all counters, including neighbouring ones.
func philox(key [2]uint64, counter [4]uint64) [4]uint64 {
	const (
		m0, m1 = 0xd2e7470ee14c6c93, 0xca5a826395121157
		w0, w1 = 0x9e3779b97f4a7c15, 0xbb67ae8584caa73b
	)
	c, k0, k1 := counter, key[0], key[1]
	for range 10 {
		high0, low0 := bits.Mul64(m0, c[0])
		high1, low1 := bits.Mul64(m1, c[2])
		c = [4]uint64{high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0}
		k0, k1 = k0+w0, k1+w1
	}
	return c
}
