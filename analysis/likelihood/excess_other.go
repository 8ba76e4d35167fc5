//go:build !amd64

package likelihood

// packedExcess is packedSum.
func packedExcess(before, x []uint64) int64 { return packedSum(before, x) }
