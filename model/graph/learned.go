package graph

import "mdmgen/model/checkpoint"

// learned is GPT-2's network with bidirectional attention: blocks like those of [gated] with LayerNorm,
// biases everywhere, an MLP with GELU in its tanh form, and a learned embedding of each position.
type learned struct{ *gated }

func newLearned(s *stream) layers {
	g := newGated(s).(*gated)
	g.norm = func(name, x string, _ int) string { return s.layerNorm(name, x, vector(s.c, name+".bias")) }
	g.turn = func(_ int, x, _ string, _ int) string { return x }
	g.feed = func(i int, x string) string {
		n := g.names.MLP(i)
		return s.linear(n.Down, s.b.gelu("FastGelu", s.linear(n.Up, x, true)), true)
	}
	return learned{g}
}

func (d learned) embed() string {
	const table = checkpoint.PositionTable
	t := d.c.Tensor(table)
	return d.placed(d.b.floats(table, vector(d.c, table), t.Shape...))
}
