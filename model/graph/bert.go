package graph

import (
	"fmt"
)

// encoder is BERT's network: learned positions, a norm after each branch, GELU with the error
// function, and a head that is the embedding after a transform. All tokens belong to the first
// segment.
//
// All its layers have biases, so means of its rows cost nothing to leave out; see [stream.mean]. Block i
// leaves out mean 3i of its input, 3i+1 of what attention adds up, and 3i+2 of its MLP's input.
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
	return d.norm(at+"LayerNorm", d.placed(b.floats(at+"position_and_type", position, cfg.Length, h)), d.mean(0))
}

func (d encoder) block(i int, x string, last bool) string {
	b, h := d.b, d.c.Config.Hidden
	name := fmt.Sprintf("bert.encoder.layer.%d.", i)
	from, of := x, d.ids
	if last {
		from, of = d.gather(x), d.positions
	}
	in, mixed, inner, next := d.mean(3*i), d.mean(3*i+1), d.mean(3*i+2), d.mean(3*i+3)
	layer := func(part, x string, lacks, plus, minus []float32) string {
		return b.product(name+part, x, d.matrix(name+part), d.bias(name+part, lacks, plus, minus))
	}
	project := func(part, x, of string) string { return d.as(layer("attention.self."+part, x, in, nil, nil), of, h) }
	values, out := d.matrix(name+"attention.self.value"), d.matrix(name+"attention.output.dense")
	b.balance(&values, &out, func(c int) int { return c })
	v := d.as(b.product(name+"attention.self.value", x, values, d.bias(name+"attention.self.value", in, nil, mixed)), d.ids, h)
	o := d.attend(i, project("query", from, of), project("key", x, d.ids), v, of)
	if last {
		d.keep(&o, &from)
	}
	d.measure(o)
	o = b.product(name+"attention.output.dense", o, out, d.bias(name+"attention.output.dense", mixed, in, nil))
	x = d.norm(name+"attention.output.LayerNorm", b.op("Add", from, o), inner)
	y := layer("output.dense", d.gelu(layer("intermediate.dense", x, inner, nil, nil)), nil, inner, nil)
	return d.norm(name+"output.LayerNorm", b.op("Add", x, y), next)
}

func (d encoder) final(x string) string {
	const at = "cls.predictions.transform."
	y := d.b.product(at+"dense", x, d.matrix(at+"dense"), d.bias(at+"dense", d.mean(3*d.c.Config.Blocks), nil, nil))
	return d.layerNorm(at+"LayerNorm", d.gelu(y), vector(d.c, at+"LayerNorm.bias"))
}

func (d encoder) head() (string, source, []float32) {
	name := "bert.embeddings.word_embeddings"
	if !d.c.Config.Tied {
		name = d.c.Config.Names().Head
	}
	return name, whole(d.c.Tensor(name + ".weight")), vector(d.c, "cls.predictions.bias")
}

// norm adds a LayerNorm whose rows lack a mean.
func (d encoder) norm(name, x string, mean []float32) string {
	return d.measure(d.layerNorm(name, x, d.bias(name, nil, nil, mean)))
}
