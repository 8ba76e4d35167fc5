package draw

import "math/rand/v2"

// Stream is a source of uniforms for estimates, determined by only a seed and an index. Sampled
// sequences use [Numbers]. The zero value is not ready for use: call Reset or [NewStream]. A Stream
// belongs to one goroutine.
//
// The generator is PCG-DXSM of math/rand/v2. Its 128 bits of state are computed from (seed, index)
// by four rounds of a Feistel network whose round function is the finalizer of SplitMix64 (Steele,
// Lea and Flood, 2014) with a constant per round. The map is one to one, so no two pairs of seed
// and index share a stream.
type Stream struct {
	pcg rand.PCG
}

// NewStream returns the stream of an index.
func NewStream(seed, index uint64) *Stream {
	s := new(Stream)
	s.Reset(seed, index)
	return s
}

// Reset makes s the stream of an index, from the start.
func (s *Stream) Reset(seed, index uint64) {
	// Odd multiples of 2^64/φ distinguish the rounds.
	const golden = 0x9e3779b97f4a7c15
	a, b := seed, index
	for round := range uint64(2) {
		a ^= splitMix(b + (2*round+1)*golden)
		b ^= splitMix(a + (2*round+2)*golden)
	}
	s.pcg.Seed(a, b)
}

// Plan returns the next uniform; it ignores the position, since plans ask in ascending order.
func (s *Stream) Plan(int) float64 { return s.Float64() }

// splitMix is the finalizer of SplitMix64.
func splitMix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Float64 returns a uniform on {1, …, 2^53−1}/2^53. 0 and 1 never occur, so its logarithm and that
// of its complement are finite.
func (s *Stream) Float64() float64 {
	for {
		if k := s.pcg.Uint64() >> 11; k != 0 {
			return float64(k) * 0x1p-53
		}
	}
}
