package graph

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"

	"mdmgen/model/internal/onnxpb"
)

// factors returns a number for each channel between two layers, by which the rows of the first
// matrix are divided and the columns of the second multiplied. It reads both, so it is called only
// when they are written.
type factors func() ([]float32, error)

// balance puts factors between from, whose results reach the columns of to by nothing but sums and
// products with other channels; channel maps a column of to to its row of from. A row of the stream
// is quantised with one scale, or one for a few channels, so a channel with large values, which small
// weights take, would leave few steps to all others. The factors make values and weights equally
// large (Nagel et al., arXiv 1906.04721, equation 11). They are powers of two, so the network is the
// same to the bit, and 1 for channels like most.
func (b *builder) balance(from, to *source, channel func(column int) int) {
	if b.dtype != Int8 && !b.dtype.four() {
		return
	}
	first, second := *from, *to
	from.over = sync.OnceValues(func() ([]float32, error) {
		ratio, taken, out := make([]float64, first.rows), make([]float64, first.rows), make([]float32, first.rows)
		err := first.all(func(r int, row []float32) error {
			for _, x := range row {
				ratio[r] += float64(x) * float64(x)
			}
			return nil
		})
		if err == nil {
			err = second.all(func(_ int, row []float32) error {
				for c, x := range row {
					taken[channel(c)] += float64(x) * float64(x)
				}
				return nil
			})
		}
		for i := range ratio {
			ratio[i] = math.Log2(ratio[i]/taken[i]) / 4
		}
		usual := slices.Sorted(slices.Values(ratio))[len(ratio)/2]
		for i := range out {
			out[i] = 1
			if e := math.RoundToEven(ratio[i] - usual); math.Abs(e) < 64 { // false for NaN
				out[i] = float32(math.Exp2(e))
			}
		}
		return out, err
	})
	to.by, to.channel = from.over, channel
}

// balanced yields rows with their factors.
func (s source) balanced(yield func(r int, row []float32) error) error {
	over, by := s.over, s.by
	s.over, s.by = nil, nil
	return s.all(func(r int, row []float32) error {
		if over != nil {
			f, err := over()
			if err != nil {
				return err
			}
			for c := range row {
				row[c] /= f[r]
			}
		}
		if by != nil {
			f, err := by()
			if err != nil {
				return err
			}
			for c := range row {
				row[c] *= f[s.channel(s.left+c)]
			}
		}
		return yield(r, row)
	})
}

// vectorOver is a vector divided by factors.
type vectorOver struct {
	v    []float32
	over factors
}

func (v vectorOver) elem() int64 { return onnxpb.Float }
func (v vectorOver) dims() []int { return []int{len(v.v)} }
func (v vectorOver) size() int64 { return 4 * int64(len(v.v)) }

func (v vectorOver) WriteTo(w io.Writer) (int64, error) {
	f, err := v.over()
	if err != nil {
		return 0, err
	}
	raw := make([]byte, 0, v.size())
	for i, x := range v.v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x/f[i]))
	}
	n, err := w.Write(raw)
	return int64(n), err
}
