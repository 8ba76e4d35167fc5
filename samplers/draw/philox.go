package draw

import "math/bits"

// philox is the counter-based generator Philox4x64-10: 256 random bits that are a
// function of a key and a counter and of nothing else (Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). It passes the batteries that
// its authors ran with any counter, neighbouring ones included.
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
