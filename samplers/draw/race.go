package draw

// Race is the random numbers of one position in one step of a grid, of few bits each: for a race of
// its tokens. It belongs to one goroutine.
type Race struct {
	draws          *Numbers
	position, step int
	block          uint64
	words          [4]uint64
}

// Coarse returns the i-th of them: a uniform on {1, …, 2^bits−1}, bits in 1..64.
func (r *Race) Coarse(i uint64, bits int) float64 {
	for ; ; i += 1 << 32 { // another number where this one is 0
		if block := i/4 + 1; block != r.block {
			r.block = block
			r.words = philox([2]uint64{r.draws.seed, forRaces}, [4]uint64{r.draws.index, uint64(r.position), uint64(r.step), block})
		}
		if k := r.words[i%4] >> (64 - bits); k != 0 {
			return float64(k)
		}
	}
}
