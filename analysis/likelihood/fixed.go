package likelihood

// fixed is how whole rows are kept: probabilities as fixed-point numbers, whose sums cost
// less than those of floating-point numbers, which wait for each other, and are the same in
// any order.
//
// The exact form has a word a column, in multiples of 2^−61: sums over 2^17 columns are
// exact to 2^−44. The packed form, for more than mostExact columns, has two columns a word in
// multiples of 2^−31, each below a guard bit: half the memory, and less time
// (BenchmarkExcess). Its rounding, a unit a column at most, changes the normalisation of a mixture, Z of [mixes], by about
// 2^−31·√V·(1+w) and so log P of a text by 1e-8 to 1e-7: no more than rows of float32
// logits do, whose relative error is 6e-8. Probabilities of the text's own tokens are not
// rounded in either form.
type fixed struct {
	columns int
	packed  bool
}

const (
	// mostExact is the greatest number of columns whose rows are kept exactly. Worlds, whose
	// rows are of float64, have fewer.
	mostExact = 256

	exactOne  = 1 << 61
	packedOne = 1 << 31
	// guard has the bit above each of the two columns of a word, lane the low column.
	guard = packedOne | packedOne<<32
	lane  = packedOne - 1
)

func newFixed(columns int) fixed { return fixed{columns, columns > mostExact} }

// words is the length of a row.
func (f fixed) words() int {
	if f.packed {
		return (f.columns + 1) / 2
	}
	return f.columns
}

// one is the probability 1 in the units of excess.
func (f fixed) one() float64 {
	if f.packed {
		return packedOne
	}
	return exactOne
}

// put writes the probabilities p [columns] to a row.
func (f fixed) put(row []uint64, p []float64) {
	if !f.packed {
		for k, x := range p {
			row[k] = uint64(int64(x * exactOne))
		}
		return
	}
	// What rounding takes from a column the next but one gets, so that it does not add up
	// where columns are alike.
	const bits = 30
	n, low, high := len(p)/2, int64(1<<(bits-1)), int64(1<<(bits-1))
	row = row[:(len(p)+1)/2]
	for k := range n {
		low = low&(1<<bits-1) + int64(p[2*k]*exactOne)
		high = high&(1<<bits-1) + int64(p[2*k+1]*exactOne)
		row[k] = uint64(min(low>>bits, lane)) | uint64(min(high>>bits, lane))<<32 | guard
	}
	if len(p)%2 == 1 {
		low = low&(1<<bits-1) + int64(p[2*n]*exactOne)
		row[n] = uint64(min(low>>bits, lane)) | guard
	}
}

// threshold writes to dst, for a row p, the x for which Z = 1 + w·excess(p′, x): since rows
// sum to 1,
//
//	Z = 1 + Σ_a max(0, w·p′_a − (1+w−κ)·p_a),
//
// x = (1+w−κ)/w·p. What is above 1 is as good as 1: no p′ is above it.
func (f fixed) threshold(dst, p []uint64, w, floor float64) {
	ratio := (1 + w - floor) / w
	dst = dst[:len(p)]
	if !f.packed {
		limit := uint64(min(2/ratio, 1) * exactOne)
		for i, y := range p {
			if y <= limit {
				dst[i] = uint64(int64(ratio * float64(int64(y))))
			} else {
				dst[i] = 2 * exactOne
			}
		}
		return
	}
	const bits = 30
	limit, times := uint64(min(1/ratio, 1)*packedOne), uint64(min(ratio, 1<<33)*(1<<bits))
	var low, high uint64 // As in put.
	for i, y := range p {
		out := uint64(lane | lane<<32)
		if y := y & lane; y <= limit {
			low = low&(1<<bits-1) + y*times
			out = out&^lane | min(low>>bits, lane)
		}
		if y := y >> 32 & lane; y <= limit {
			high = high&(1<<bits-1) + y*times
			out = out&lane | min(high>>bits, lane)<<32
		}
		dst[i] = out
	}
}

// excess is Σ_a max(0, p′_a − x_a) in units, p′ words of a row and x of its threshold.
func (f fixed) excess(before, x []uint64) int64 {
	if f.packed {
		return packedExcess(before, x)
	}
	return exactExcess(before, x)
}

func exactExcess(before, x []uint64) int64 {
	var sum int64
	for i, p := range before {
		sum += max(int64(p-x[i]), 0)
	}
	return sum
}

// packedSum takes two columns at a time: the guard bits of p′ keep a difference from
// borrowing of the other column, and stay where it is not negative. A row sums to 1 and
// what rounding adds, so that no column of the sum reaches 2^32.
func packedSum(before, x []uint64) int64 {
	var sum uint64
	for i, p := range before {
		d := p - x[i]
		keep := d & guard
		sum += d & (keep - keep>>31)
	}
	return int64(sum&(1<<32-1) + sum>>32)
}
