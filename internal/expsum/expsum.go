// Package expsum sums the exponentials of rows of logits in float64. Apart from the network's
// calls, likelihoods and draws spend most of their time here.
package expsum

import "math"

// Sum returns Σ e^((x−shift)/temperature) over a row whose greatest value is at most shift, to a
// few units in the last place of each term. Terms of e^−700 or less count as 0: they do not change
// a sum that is at least 1.
func Sum[F float32 | float64](row []F, shift, temperature float64) float64 {
	var sum float64
	if temperature == 1 {
		for _, x := range row {
			if y := float64(x) - shift; y > least {
				sum += exp(y)
			}
		}
		return sum
	}
	for _, x := range row {
		if y := (float64(x) - shift) / temperature; y > least {
			sum += exp(y)
		}
	}
	return sum
}

// Term is like Sum of one value, with the same bits.
func Term(x, shift, temperature float64) float64 {
	if y := (x - shift) / temperature; y > least {
		return exp(y)
	}
	return 0
}

// Log returns log(x·2^exponent). The product may be subnormal, whose [math.Log] is wrong on amd64, or
// underflow.
func Log(x float64, exponent int) float64 {
	if p := math.Ldexp(x, exponent); p >= 0x1p-1022 {
		return math.Log(p)
	}
	fraction, e := math.Frexp(x)
	return math.Log(fraction) + float64(e+exponent)*math.Ln2
}

// Add returns log(e^a + e^b).
func Add(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// Into is like Sum, and also writes the terms to dst. It computes terms that count as 0 with [math.Exp].
func Into[F float32 | float64](dst []float64, row []F, shift, temperature float64) float64 {
	var sum float64
	dst = dst[:len(row)]
	for i, x := range row {
		y := float64(x) - shift
		if temperature != 1 {
			y /= temperature
		}
		if !(y > least) {
			dst[i] = math.Exp(y)
			continue
		}
		p := exp(y)
		dst[i] = p
		sum += p
	}
	return sum
}

// least is a lower bound on the y for which [exp] is valid.
const least = -700

// exp returns e^y for y in (least, 0]. It dominates the time of sums over rows, and [math.Exp]
// takes several times as long.
//
// With n the integer nearest to y·1024/log 2, k = ⌊n/1024⌋ and j the rest, e^y is
// 2^k·2^(j/1024)·e^r, |r| ≤ log 2/2048. The Taylor polynomial of degree 3 has a relative error of
// 6e-16 in e^r. Rounding y·1024/log 2 adds a relative error of |y|·1.1e-16, which is largest where
// e^y is least.
func exp(y float64) float64 {
	const (
		scale = expTableSize / math.Ln2
		// c1, c2, c3 are the coefficients of e^r as a polynomial of r·scale.
		c1 = 1 / scale
		c2 = c1 * c1 / 2
		c3 = c2 * c1 / 3
		// Adding 1.5·2^52 rounds to an integer, which is then in the low bits.
		magic = 0x1.8p52
	)
	z := y * scale
	m := z + magic
	r := z - (m - magic)
	bits := math.Float64bits(m)
	return (1 + r*(c1+r*(c2+r*c3))) * math.Float64frombits(math.Float64bits(expTable[bits%expTableSize])+(bits/expTableSize)<<52)
}

const expTableSize = 1024

// expTable holds 2^(j/1024).
var expTable = func() (t [expTableSize]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / expTableSize)
	}
	return t
}()

// Greatest returns the greatest value of a row, −Inf for an empty one. bad reports whether a value
// is not a number.
func Greatest[F float32 | float64](row []F) (top F, bad bool) {
	top = F(math.Inf(-1))
	for len(row) > 0 {
		// Nearly all values are less than one before them: check four at a time.
		for len(row) >= 4 && row[0] <= top && row[1] <= top && row[2] <= top && row[3] <= top {
			row = row[4:]
		}
		for _, x := range row[:min(4, len(row))] {
			if x > top {
				top = x
			} else if x != x {
				bad = true
			}
		}
		row = row[min(4, len(row)):]
	}
	return top, bad
}
