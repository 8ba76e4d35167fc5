package draw

import (
	"slices"

	"mdmgen/internal/expsum"
)

// Row is a row of logits, one per column, in float32, as most networks return them, or in float64.
// It may also hold several rows, one after another.
type Row struct {
	single []float32
	double []float64 // if not nil, single is
}

// Single returns a row in float32 that shares memory with x.
func Single(x []float32) Row { return Row{single: x} }

// Double returns a row in float64 that shares memory with x.
func Double(x []float64) Row { return Row{double: x} }

// Len returns the number of logits.
func (r Row) Len() int { return len(r.single) + len(r.double) }

// At returns a logit.
func (r Row) At(i int) float64 {
	if r.double != nil {
		return r.double[i]
	}
	return float64(r.single[i])
}

// Set sets a logit, in the row's precision.
func (r Row) Set(i int, x float64) {
	if r.double != nil {
		r.double[i] = x
		return
	}
	r.single[i] = float32(x)
}

// Slice returns a part of the row, in the same memory.
func (r Row) Slice(from, to int) Row {
	if r.double != nil {
		return Row{double: r.double[from:to:to]}
	}
	return Row{single: r.single[from:to:to]}
}

// Append appends a row, like the built-in function. A row without logits takes x's precision.
func (r Row) Append(x Row) Row {
	return Row{append(r.single, x.single...), append(r.double, x.double...)}
}

// Empty returns a row without logits, in the same memory.
func (r Row) Empty() Row { return Row{r.single[:0], r.double[:0]} }

// Float32 returns the row in float32, in the same memory if it is Single.
func (r Row) Float32() []float32 {
	if r.double == nil {
		return r.single
	}
	out := make([]float32, len(r.double))
	for i, x := range r.double {
		out[i] = float32(x)
	}
	return out
}

// greatest, sum and into call package expsum on a stretch of columns.
func (r Row) greatest(s stretch) (top float64, bad bool) {
	if r.double != nil {
		return expsum.Greatest(r.double[s.from:s.to])
	}
	x, bad := expsum.Greatest(r.single[s.from:s.to])
	return float64(x), bad
}

func (r Row) sum(s stretch, shift, temperature float64) float64 {
	if r.double != nil {
		return expsum.Sum(r.double[s.from:s.to], shift, temperature)
	}
	return expsum.Sum(r.single[s.from:s.to], shift, temperature)
}

func (r Row) into(dst []float64, s stretch, shift, temperature float64) float64 {
	if r.double != nil {
		return expsum.Into(dst[s.from:s.to], r.double[s.from:s.to], shift, temperature)
	}
	return expsum.Into(dst[s.from:s.to], r.single[s.from:s.to], shift, temperature)
}

// Clone returns a copy.
func (r Row) Clone() Row { return Row{slices.Clone(r.single), slices.Clone(r.double)} }
