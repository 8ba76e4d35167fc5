package graph

// product adds a linear layer to rows x [n, in]: x·Wᵀ, and bias [out] where it is not nil.
// Torch stores W as [out, in], which is Gemm's transposed B. The layer's parameters are
// called name.weight and name.bias.
func (b *builder) product(name, x string, w source, bias []float32) string {
	in := []string{x, b.matrix(name+".weight", w)}
	if bias != nil {
		in = append(in, b.floats(name+".bias", bias, len(bias)))
	}
	return b.node("", "Gemm", attrs{{"transB", 1}}, in...)
}
