package graph

// modern is ModernBERT's network: blocks like those of [gated] with LayerNorm without a bias, of which
// some are local, an MLP with GELU, and a head that is the embedding after a transform.
type modern struct{ *gated }

func newModern(s *stream) layers {
	g := newGated(s).(*gated)
	d := modern{g}
	first := g.names.At(0, g.names.AttentionNorm)
	g.norm = func(name, x string, _ int) string {
		if name == first { // The embeddings are normalised already.
			return x
		}
		return s.layerNorm(name, x, false)
	}
	g.feed = d.mlp
	return d
}

func (d modern) embed() string {
	const norm = "embeddings.norm"
	x := d.stream.embed()
	if d.distinct != "" {
		d.distinct = d.layerNorm(norm, d.distinct, false)
	}
	return d.layerNorm(norm, x, false)
}

// mlp adds an MLP whose two inner branches are one matrix, of which the first gates the other.
func (d modern) mlp(i int, x string) string {
	n := d.names.MLP(i)
	half := func(first int, own string) string {
		w := whole(d.c.Tensor(n.Up + ".weight"))
		w.rows = d.c.Config.Inner
		w.first = first * w.rows
		return d.part(n.Up+own, n.Up, x, w, false)
	}
	return d.linear(n.Down, d.b.op("Mul", d.gelu(half(0, ".gate")), half(1, ".up")), false)
}

func (d modern) final(x string) string {
	return d.layerNorm("head.norm", d.gelu(d.linear("head.dense", d.gated.final(x), false)), false)
}

func (d modern) head() (string, source, []float32) {
	name, w, _ := d.gated.head()
	return name, w, vector(d.c, "decoder.bias")
}
