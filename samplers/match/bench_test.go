package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
	"mdmgen/tokenize"
)

// BenchmarkReveal draws groups on 1,024 positions with 126,464 tokens and an automaton of about 200
// states.
func BenchmarkReveal(b *testing.B) {
	const columns, length = 126464, 1024
	words := reftest.Must(tokenize.Parse("llada-like", reftest.Gunzip(b, reftest.Shared(b, "reference", "tokenizers", "llada-like.tokenizer.json.gz"))))(b)
	texts := reftest.Must(words.Texts())(b)[:columns]
	row := make([]float32, columns)
	for i := range row {
		row[i] = float32(rand.NormFloat64())
	}
	schema := `{"type":"object","properties":{"name":{"type":"string","maxLength":40},"age":{"type":"integer"},"street":{"type":"string","minLength":3,"maxLength":60},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","age","street","tags"]}`
	for _, c := range []struct{ name, pattern string }{{"small", `\{"name": "[a-z ]{0,40}", "age": [0-9]{1,3}, "street": "[A-Za-z ]{3,60}"\}`}, {"schema", reftest.Must(Schema([]byte(schema)))(b)}, {"words", `([A-Z][a-z]{1,12} ){1,15}[^\n]*`}} {
		begin := b.Elapsed()
		v := NewVocabulary(texts, columns-1)
		b.Logf("vocabulary %v", b.Elapsed()-begin)
		begin = b.Elapsed()
		l := reftest.Must(v.Language(b.Context(), c.pattern))(b)
		arcs := 0
		for _, a := range l.arcs {
			for _, x := range a {
				arcs += len(x.classes)
			}
		}
		fmt.Printf("%s: language %v, %d states, %d classes, %d arcs\n", c.name, b.Elapsed()-begin, len(l.arcs), len(l.members), arcs)
		law := reftest.Must(draw.NewCategorical(draw.Vocabulary{Columns: columns, Mask: columns - 2}, draw.Settings{}))(b)
		for _, size := range []int{1, 8, 1024} {
			b.Run(c.name+fmt.Sprint("/", size), func(b *testing.B) {
				j := &joint{sets: newSets(l), law: law, plain: law, mask: columns - 2, to: length}
				order := rand.Perm(length)
				var ids []int64
				for n := 0; b.Loop(); n += size {
					if n+size > length || n == 0 {
						n, ids = 0, nil
						for range length {
							ids = append(ids, j.mask)
						}
					}
					var group []*wanted
					for _, p := range order[n : n+size] {
						group = append(group, &wanted{position: p, row: draw.Single(row), uniform: rand.Float64(), to: new(draw.Result)})
						j.marginal = size > 8
					}
					slices.SortFunc(group, func(a, b *wanted) int { return a.position - b.position })
					reftest.OK(b, j.draw(ids, group))
				}
			})
		}
	}
}
