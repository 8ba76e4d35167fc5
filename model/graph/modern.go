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
		return s.layerNorm(name, x, nil)
	}
	g.feed = d.mlp
	return d
}

func (d modern) embed() string {
	const norm = "embeddings.norm"
	x := d.stream.embed()
	if d.distinct != "" {
		d.distinct = d.layerNorm(norm, d.distinct, nil)
	}
	return d.layerNorm(norm, x, nil)
}

// mlp adds an MLP whose two inner branches are one matrix, of which the first gates the other.
func (d modern) mlp(i int, x string) string {
	n := d.names.MLP(i)
	half := func(first int) source {
		w := d.matrix(n.Up)
		w.rows = d.c.Config.Inner
		w.first = first * w.rows
		return w
	}
	wide, narrow := half(1), d.matrix(n.Down)
	d.b.balance(&wide, &narrow, func(c int) int { return c })
	gate, up := d.gelu(d.part(n.Up+".gate", n.Up, x, half(0), false)), d.part(n.Up+".up", n.Up, x, wide, false)
	return d.part(n.Down, n.Down, d.b.innerOf(d.b.op("Mul", gate, up), zero8), narrow, false)
}

func (d modern) final(x string) string {
	return d.layerNorm("head.norm", d.gelu(d.linear("head.dense", d.gated.final(x), false)), nil)
}

func (d modern) head() (string, source, []float32) {
	name, w, _ := d.gated.head()
	return name, w, vector(d.c, "decoder.bias")
}
