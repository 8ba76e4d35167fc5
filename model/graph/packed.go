package graph

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"mdmgen/internal/half"
	"mdmgen/internal/parallel"
	"mdmgen/internal/plainfile"
	"mdmgen/model/internal/onnxpb"
)

// data is a part of a checkpoint that goes into the model's bytes, or into the file next to them.
type data interface {
	io.WriterTo
	// size is the number of bytes, elem the element type, dims the dimensions.
	size() int64
	elem() int64
	dims() []int
}

// packed adds data made from a matrix.
func (b *builder) packed(name string, d data) string {
	return b.constant(initializer{name: name, elem: d.elem(), dims: d.dims(), src: d})
}

func (s source) elem() int64 { return onnxpb.Float }
func (s source) dims() []int { return s.shape(s.cols) }

// shape returns the dimensions of a matrix of as many rows, [rows, inner…], or [experts, rows of an
// expert, inner…].
func (s source) shape(inner ...int) []int {
	if n := len(s.experts); n > 0 {
		return append([]int{n, s.rows / n}, inner...)
	}
	return append([]int{s.rows}, inner...)
}

// readAhead is how many bytes of a matrix are read at a time.
const readAhead = 1 << 20

// all yields rows, each [cols] and valid until the next.
func (s source) all(yield func(r int, row []float32) error) error {
	if s.over != nil || s.by != nil {
		return s.balanced(yield)
	}
	if s.experts != nil {
		return s.alternate(yield)
	}
	if s.tensor.Across {
		return s.across(yield)
	}
	cols := s.tensor.Shape[1]
	if s.tensor.Path == "" {
		row := make([]float32, s.cols)
		for r := range s.rows {
			s.tensor.Widen(row, (s.first+r)*cols+s.left)
			s.scaled(r, row)
			if err := yield(r, row); err != nil {
				return err
			}
		}
		return nil
	}
	wrong := func(err error) error { return fmt.Errorf("tensor %s: %w", s.tensor.Name, err) }
	f, err := s.tensor.Open(s.first*cols, s.rows*cols)
	if err != nil {
		return wrong(err)
	}
	defer f.Close()
	size := s.tensor.Dtype.Size()
	stored := bufio.NewReaderSize(f, min(readAhead, s.rows*cols*size))
	raw, row := make([]byte, cols*size), make([]float32, s.cols)
	for r := range s.rows {
		if _, err := io.ReadFull(stored, raw); err != nil {
			return wrong(plainfile.Cause(err))
		}
		s.tensor.Dtype.Widen(row, raw[s.left*size:][:s.cols*size])
		s.scaled(r, row)
		if err := yield(r, row); err != nil {
			return err
		}
	}
	return nil
}

// across yields the rows of a matrix that is stored as [in, out], which is in memory meanwhile.
func (s source) across(yield func(r int, row []float32) error) error {
	values, row := make([]float32, s.tensor.Len()), make([]float32, s.cols)
	s.tensor.Widen(values, 0)
	for r := range s.rows {
		for c := range row {
			row[c] = values[(s.left+c)*s.tensor.Shape[1]+s.first+r]
		}
		s.scaled(r, row)
		if err := yield(r, row); err != nil {
			return err
		}
	}
	return nil
}

// alternate yields the rows of experts. The first matrix of an expert is streamed, and the others are
// in memory.
func (s source) alternate(yield func(r int, row []float32) error) error {
	r := 0
	for _, one := range s.experts {
		others := make([][]float32, 0, len(one))
		for _, m := range one[1:] {
			values := make([]float32, 0, m.rows*m.cols)
			if err := m.all(func(_ int, row []float32) error { values = append(values, row...); return nil }); err != nil {
				return err
			}
			others = append(others, values)
		}
		err := one[0].all(func(i int, row []float32) error {
			for j := -1; j < len(others); j++ {
				if j >= 0 {
					row = others[j][i*s.cols : (i+1)*s.cols]
				}
				if err := yield(r, row); err != nil {
					return err
				}
				r++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scaled multiplies a row by its factor.
func (s source) scaled(r int, row []float32) {
	if s.scale != nil {
		for i := range row {
			row[i] *= s.scale[r]
		}
	}
}

// name returns the name of the tensor, of experts that of the first.
func (s source) name() string {
	if s.experts != nil {
		return s.experts[0][0].tensor.Name + "…"
	}
	return s.tensor.Name
}

// together is the number of rows that are packed at a time, by all processors.
const together = 64

// each writes the bytes that pack appends for each row. pack is called concurrently.
func (s source) each(w io.Writer, pack func(dst []byte, row []float32) ([]byte, error)) (n int64, err error) {
	var rows [together][]float32
	var packed [together][]byte
	var faults [together]error
	filled, first := 0, s.first
	flush := func() error {
		parallel.For(filled, func(i int) { packed[i], faults[i] = pack(packed[i][:0], rows[i]) })
		for i := range filled {
			if faults[i] != nil {
				return fmt.Errorf("tensor %s, row %d: %w", s.name(), first+i, faults[i])
			}
			k, err := w.Write(packed[i])
			if n += int64(k); err != nil {
				return err
			}
		}
		first, filled = first+filled, 0
		return nil
	}
	err = s.all(func(_ int, row []float32) error {
		rows[filled] = append(rows[filled][:0], row...)
		if filled++; filled == together {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return n, err
}

// halves is a matrix in float16.
type halves struct{ source }

func (h halves) elem() int64 { return onnxpb.Half }
func (h halves) size() int64 { return h.source.size() / 2 }

func (h halves) WriteTo(w io.Writer) (int64, error) {
	return h.each(w, func(dst []byte, row []float32) ([]byte, error) {
		for _, x := range row {
			y := half.ToFloat16(x)
			if y&0x7FFF == 0x7C00 && !math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("the weight %g is beyond the greatest float16, 65504: use another dtype", x)
			}
			dst = append(dst, byte(y), byte(y>>8))
		}
		return dst, nil
	})
}

// largest returns the weight of largest magnitude.
func largest(block []float32) float32 {
	var top, size uint32 // Without the sign bit, the order of the bits is that of the magnitudes.
	for _, x := range block {
		b := math.Float32bits(x)
		if s := b &^ (1 << 31); s > size {
			top, size = b, s
		}
	}
	return math.Float32frombits(top)
}

// step8 returns the step of weights of which the largest becomes 127 or −127.
func step8(row []float32) float32 { return float32(math.Abs(float64(largest(row)))) / 127 }

// step4 returns the step of a block of 4-bit weights with the least squared error, of those that make
// the weight of largest magnitude −8 or beyond. A weight beyond −8 or 7 is clamped.
func step4(block []float32) (best float32) {
	top, least := largest(block), math.Inf(1)
	if math.IsInf(float64(top), 0) {
		return top
	}
	for _, most := range [...]float32{-8, -8.5, -9, -9.5, -10, 7, 7.5, 8, 8.5} {
		by := float64(top / most)
		if by == 0 {
			return 0
		}
		in, sum := 1/by, 0.0
		for _, x := range block {
			off := float64(x) - by*min(max(math.RoundToEven(float64(x)*in), -8), 7)
			sum += off * off
		}
		if sum < least {
			best, least = float32(by), sum
		}
	}
	return best
}

// quantise returns the number of steps in x, clamped to low..high.
func quantise(x, step float32, low, high int) int {
	if step == 0 {
		return 0
	}
	return min(max(int(math.RoundToEven(float64(x)/float64(step))), low), high)
}

// scales are the steps of the blocks of a row, in order: [rows], or [rows·blocks] if a row has
// several.
type scales struct {
	source
	step  func(block []float32) float32
	block int
	// apart means that blocks are a dimension of their own: [rows, blocks].
	apart bool
}

func (s scales) dims() []int {
	n := blocks(s.cols, s.block)
	if s.apart {
		return s.shape(n)
	}
	return []int{s.rows * n}
}

func (s scales) size() int64 { return 4 * int64(s.rows) * int64(blocks(s.cols, s.block)) }

func (s scales) WriteTo(w io.Writer) (int64, error) {
	return s.each(w, func(dst []byte, row []float32) ([]byte, error) {
		for from := 0; from < s.cols; from += s.block {
			by := s.step(row[from:min(from+s.block, s.cols)])
			if math.IsInf(float64(by), 0) { // Quantised weights would be finite and meaningless.
				return nil, errors.New("a weight is infinite, which integers cannot represent: use another dtype")
			}
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(by))
		}
		return dst, nil
	})
}

func blocks(cols, block int) int { return (cols + block - 1) / block }

// packed8 is a matrix in signed bytes, [in, out], the layout of MatMulInteger. The whole matrix is
// in memory at a time, in a quarter of its float32 size.
type packed8 struct{ source }

func (p packed8) elem() int64 { return onnxpb.Int8 }
func (p packed8) dims() []int { return []int{p.cols, p.rows} }
func (p packed8) size() int64 { return int64(p.rows) * int64(p.cols) }

// tile is the number of rows that are transposed at a time, the bytes of a cache line.
const tile = 64

func (p packed8) WriteTo(w io.Writer) (int64, error) {
	out, some := make([]byte, p.size()), make([]byte, tile*p.cols)
	err := p.all(func(r int, row []float32) error {
		by, at := step8(row), r%tile
		for c, x := range row {
			some[c*tile+at] = byte(quantise(x, by, -127, 127))
		}
		if at == tile-1 || r == p.rows-1 {
			for c := range p.cols {
				copy(out[c*p.rows+r-at:], some[c*tile:c*tile+at+1])
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	n, err := w.Write(out)
	return int64(n), err
}

// packed4 is a matrix in 4 bits around 8, [out, blocks, block/2]: two weights in a byte, the first
// in the lower half. With joined, it is [out, in/2].
type packed4 struct {
	source
	block  int // weights that share a scale
	joined bool
}

func (p packed4) elem() int64 { return onnxpb.Uint8 }
func (p packed4) dims() []int {
	if p.joined {
		return p.shape(p.cols / 2)
	}
	return []int{p.rows, blocks(p.cols, p.block), p.block / 2}
}
func (p packed4) size() int64 { return int64(p.rows) * int64(blocks(p.cols, p.block)*p.block/2) }

func (p packed4) WriteTo(w io.Writer) (int64, error) {
	return p.each(w, func(dst []byte, row []float32) ([]byte, error) {
		for from := 0; from < p.cols; from += p.block {
			block := row[from:min(from+p.block, p.cols)]
			by := step4(block)
			at := len(dst)
			for range p.block / 2 {
				dst = append(dst, 0x88) // missing weights count as 0
			}
			for i, x := range block {
				shift := 4 * (i % 2)
				dst[at+i/2] = dst[at+i/2]&^(0xF<<shift) | byte(8+quantise(x, by, -8, 7))<<shift
			}
		}
		return dst, nil
	})
}
