package reference

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
)

// NGram is a language model over tokens by interpolated absolute discounting: with c(hw) how
// often w stands behind the history h in the training text, c(h) = Σ_w c(hw), and N(h) how
// many different w do,
//
//	p(w|h) = max(c(hw)−D, 0)/c(h) + D·N(h)/c(h)·p(w|h′),
//
// h′ being h without its first token, down to the uniform law over the vocabulary behind the
// empty history; p(w|h) = p(w|h′) where c(h) = 0. Each length of hw has its own
// D = n₁/(n₁+2n₂), n_k of its sequences being there k times. The sum over w is 1 for any D in
// 0..1. Source: Ney, Essen and Kneser, Computer Speech & Language 8 (1994) 1–38, and Chen and
// Goodman, Harvard TR-10-98, section 2.6.
//
// A token's history is what stands before it in its window, up to Order−1 tokens; tokens that
// are given count as history and not in the product. An NGram may be shared.
type NGram struct {
	order, vocabulary int
	// tokens is the training text, each token as its number among those that occur, from 1;
	// number finds it. width is the bits of a number.
	tokens []uint32
	number map[int]uint32
	width  int
	// keys are all runs of order tokens, sorted, the first token in the highest bits; runs
	// that reach the text's end are filled with 0.
	keys []uint64
	// discounts [order+1] are D by the length of hw.
	discounts []float64
}

// NewNGram counts a training text, whose runs may cross its documents. vocabulary is the
// number of tokens that the law is over, which must include all of the text's; order is at
// least 1, and must be so small that order tokens fit into 64 bits. The memory is about 12
// bytes a token.
func NewNGram(text []int, order, vocabulary int) (*NGram, error) {
	if order < 1 || len(text) == 0 {
		return nil, fault.Errorf("reference", "order %d, %d tokens of training text: must be at least 1 each", order, len(text))
	}
	g := &NGram{order: order, vocabulary: vocabulary, number: make(map[int]uint32), tokens: make([]uint32, len(text))}
	for i, w := range text {
		n, ok := g.number[w]
		if !ok {
			n = uint32(len(g.number) + 1)
			g.number[w] = n
		}
		g.tokens[i] = n
	}
	if len(g.number) > vocabulary {
		return nil, fault.Errorf("reference", "%d different tokens in the training text, and a vocabulary of %d", len(g.number), vocabulary)
	}
	g.width = bits.Len(uint(len(g.number)))
	if g.width*order > 64 {
		return nil, fault.Errorf("reference", "order %d with %d different tokens: must be at most %d", order, len(g.number), 64/g.width)
	}
	g.keys = make([]uint64, len(text))
	for i := range g.keys {
		g.keys[i] = g.key(g.tokens[i:min(i+order, len(text))])
	}
	slices.Sort(g.keys)
	for n := range order + 1 {
		g.discounts = append(g.discounts, g.discount(n))
	}
	return g, nil
}

// key is a run of up to order tokens, filled with 0.
func (g *NGram) key(run []uint32) uint64 {
	var key uint64
	for _, n := range run {
		key = key<<g.width | uint64(n)
	}
	return key << (g.width * (g.order - len(run)))
}

// discount is D of runs of n tokens.
func (g *NGram) discount(n int) float64 {
	if n == 0 {
		return 0
	}
	var once, twice float64
	shift := g.width * (g.order - n)
	for from := 0; from < len(g.keys); {
		to := from + 1
		for to < len(g.keys) && g.keys[to]>>shift == g.keys[from]>>shift {
			to++
		}
		switch whole := g.keys[from]>>shift&(1<<g.width-1) != 0; {
		case whole && to-from == 1:
			once++
		case whole && to-from == 2:
			twice++
		}
		from = to
	}
	if once == 0 {
		return 0.5 // A text without rare runs tells nothing of them; any value is a law.
	}
	return once / (once + 2*twice)
}

// LogProb implements [Reference]. A token is one of the vocabulary.
func (g *NGram) LogProb(ctx context.Context, windows []likelihood.Target) ([]float64, error) {
	out := make([]float64, len(windows))
	for i, w := range windows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run := g.numbers(w.IDs)
		for _, l := range w.Free {
			out[i] += math.Log(g.next(run[max(0, l-g.order+1):l], run[l]))
		}
	}
	return out, nil
}

// numbers are tokens as the text's, 0 for those that it does not have.
func (g *NGram) numbers(ids []int) []uint32 {
	out := make([]uint32, len(ids))
	for i, w := range ids {
		out[i] = g.number[w]
	}
	return out
}

// next is p(w|h).
func (g *NGram) next(h []uint32, w uint32) float64 {
	p := 1 / float64(g.vocabulary)
	for n := 0; n <= len(h); n++ {
		behind := h[len(h)-n:]
		if slices.Contains(behind, 0) {
			break
		}
		from, to := g.behind(behind)
		if from == to {
			break
		}
		count, kinds := float64(to-from), float64(len(g.number))
		if n > 0 {
			kinds = float64(g.kinds(from, to, n+1))
		}
		d := g.discounts[n+1]
		here := 0.0
		if w != 0 {
			first, last := g.interval(append(slices.Clone(behind), w))
			here = max(float64(last-first)-d, 0)
		}
		p = (here + d*kinds*p) / count
	}
	return p
}

// interval is the part of keys that begins with a run.
func (g *NGram) interval(run []uint32) (from, to int) {
	shift := g.width * (g.order - len(run))
	key := g.key(run) >> shift
	from = sort.Search(len(g.keys), func(i int) bool { return g.keys[i]>>shift >= key })
	to = from + sort.Search(len(g.keys)-from, func(i int) bool { return g.keys[from+i]>>shift > key })
	return from, to
}

// behind is the part of keys that begins with a history and has a token after it.
func (g *NGram) behind(h []uint32) (from, to int) {
	from, to = 0, len(g.keys)
	if len(h) > 0 {
		from, to = g.interval(h)
	}
	for from < to && g.keys[from]>>(g.width*(g.order-len(h)-1))&(1<<g.width-1) == 0 {
		from++
	}
	return from, to
}

// kinds counts the different runs of n tokens in a part of keys.
func (g *NGram) kinds(from, to, n int) int {
	shift, kinds := g.width*(g.order-n), 0
	for ; from < to; kinds++ {
		key := g.keys[from] >> shift
		from += sort.Search(to-from, func(i int) bool { return g.keys[from+i]>>shift > key })
	}
	return kinds
}

// Holds returns the indices of the texts that occur in the training text, ascending: of
// those the law was made from, and nothing that it says of them bounds anything.
func (g *NGram) Holds(texts [][]int) []int {
	var out []int
	begin := make(map[uint64][]int) // by their first order tokens
	runs := make([][]uint32, len(texts))
	for i, text := range texts {
		run := g.numbers(text)
		if len(run) == 0 || slices.Contains(run, 0) {
			continue
		}
		if from, to := g.interval(run[:min(len(run), g.order)]); from == to {
			continue
		}
		if len(run) <= g.order {
			out = append(out, i)
			continue
		}
		runs[i] = run
		key := g.key(run[:g.order])
		begin[key] = append(begin[key], i)
	}
	for at := 0; len(begin) > 0 && at+g.order <= len(g.tokens); at++ {
		key := g.key(g.tokens[at : at+g.order])
		begin[key] = slices.DeleteFunc(begin[key], func(i int) bool {
			found := at+len(runs[i]) <= len(g.tokens) && slices.Equal(runs[i], g.tokens[at:at+len(runs[i])])
			if found {
				out = append(out, i)
			}
			return found
		})
	}
	slices.Sort(out)
	return out
}
