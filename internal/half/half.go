// Package half converts numbers of 16 bits to float32, exactly, and back, rounding to nearest, ties
// to even.
package half

import "math"

// FromFloat16 widens an IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of
// fraction. Every value of binary16, subnormals included, is a float32.
//
// With the bits moved to their place in float32, the value is too small by the difference of the
// biases, 2^−112 (a subnormal stays one). The product corrects this without rounding. Infinities
// and NaNs keep their exponent of all ones.
func FromFloat16(h uint16) float32 {
	bits := uint32(h&0x7fff) << 13
	sign := uint32(h&0x8000) << 16
	if bits >= 0x1f<<23 {
		return math.Float32frombits(sign | 0x7f800000 | bits)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(bits)*0x1p112))
}

// ToFloat16 rounds to binary16.
func ToFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7FFFFFFF
	switch {
	case b > 0x7F800000:
		return sign | 0x7E00 // not a number
	case b >= 0x477FF000: // 65520, the first that rounds to infinity
		return sign | 0x7C00
	case b < 0x38800000: // below 2⁻¹⁴: subnormal, a multiple of 2⁻²⁴
		f := math.Float32frombits(b) * 0x1p24
		return sign | uint16(math.RoundToEven(float64(f)))
	}
	b += 0xFFF + b>>13&1
	return sign | uint16((b-0x38000000)>>13)
}

// FromBFloat16 widens a bfloat16: the upper half of a float32.
func FromBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// ToBFloat16 rounds to bfloat16.
func ToBFloat16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7FFFFFFF > 0x7F800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7FFF + b>>16&1) >> 16)
}
