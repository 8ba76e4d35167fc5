package graph

import (
	"fmt"
)

// encoder is BERT's network: learned positions, a norm after each branch, GELU with the error
// function, and a head that is the embedding after a transform. All tokens belong to the first
// segment.
type encoder struct{ *stream }

func newEncoder(s *stream) layers { return encoder{s} }

// embed adds positions to the embeddings, so no projection depends on ids alone.
func (d encoder) embed() string {
	const at = "bert.embeddings."
	b, cfg := d.b, d.c.Config
	h := cfg.Hidden
	position, kind := vector(d.c, at+"position_embeddings.weight"), vector(d.c, at+"token_type_embeddings.weight")[:h]
	for i := range position {
		position[i] += kind[i%h]
	}
	return d.norm(at+"LayerNorm", d.placed(b.floats(at+"position_and_type", position, cfg.Length, h)))
}

func (d encoder) block(i int, x string, last bool) string {
	b, h := d.b, d.c.Config.Hidden
	name := fmt.Sprintf("bert.encoder.layer.%d.", i)
	from, of := x, d.ids
	if last {
		from, of = d.gather(x), d.positions
	}
	project := func(part, x, of string) string { return d.as(d.linear(name+"attention.self."+part, x, true), of, h) }
	values, out := d.matrix(name+"attention.self.value"), d.matrix(name+"attention.output.dense")
	b.balance(&values, &out, func(c int) int { return c })
	v := d.as(d.part(name+"attention.self.value", name+"attention.self.value", x, values, true), d.ids, h)
	o := d.attend(i, project("query", from, of), project("key", x, d.ids), v, of)
	if last {
		d.keep(&o, &from)
	}
	x = d.norm(name+"attention.output.LayerNorm", b.op("Add", from, d.part(name+"attention.output.dense", name+"attention.output.dense", o, out, true)))
	y := d.gelu(d.linear(name+"intermediate.dense", x, true))
	return d.norm(name+"output.LayerNorm", b.op("Add", x, d.linear(name+"output.dense", y, true)))
}

func (d encoder) final(x string) string {
	const at = "cls.predictions.transform."
	return d.norm(at+"LayerNorm", d.gelu(d.linear(at+"dense", x, true)))
}

func (d encoder) head() (string, source, []float32) {
	name := "bert.embeddings.word_embeddings"
	if !d.c.Config.Tied {
		name = d.c.Config.Names().Head
	}
	return name, whole(d.c.Tensor(name + ".weight")), vector(d.c, "cls.predictions.bias")
}

func (d encoder) norm(name, x string) string { return d.layerNorm(name, x, true) }
