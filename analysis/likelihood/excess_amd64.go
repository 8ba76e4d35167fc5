package likelihood

import "golang.org/x/sys/cpu"

// excessAVX2 is packedExcess of blocks of 16 words.
//
//go:noescape
func excessAVX2(before, x *uint64, blocks int) int64

var hasAVX2 = cpu.X86.HasAVX2

// packedExcess is packedSum, by vector instructions where the processor has them: sums of
// integers, and so the same.
func packedExcess(before, x []uint64) int64 {
	n := len(before) / 16
	if !hasAVX2 || n == 0 {
		return packedSum(before, x)
	}
	x = x[:len(before)]
	return excessAVX2(&before[0], &x[0], n) + packedSum(before[16*n:], x[16*n:])
}
