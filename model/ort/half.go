package ort

import "math"

// fromHalf widens an IEEE 754 binary16 number.
func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1F)
	frac := uint32(h & 0x3FF)
	switch exp {
	case 0:
		// Zero or subnormal: frac · 2⁻²⁴, exact in float32.
		f := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1F:
		return math.Float32frombits(sign | 0x7F800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toHalf rounds to binary16, ties to even.
func toHalf(x float32) uint16 {
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

// fromBrain widens a bfloat16 number: the upper half of a float32.
func fromBrain(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// toBrain rounds to bfloat16, ties to even.
func toBrain(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7FFFFFFF > 0x7F800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7FFF + b>>16&1) >> 16)
}
