package reference

import (
	"context"
	"encoding/binary"
	"index/suffixarray"
	"math"
	"math/bits"
	"slices"
	"sort"

	"mdmgen/analysis/likelihood"
	"mdmgen/internal/fault"
)

// NGram is a language model over tokens by interpolated Kneser–Ney smoothing: with c(hw) a
// count of w behind the history h, c(h) = Σ_w c(hw), and N(h) how many different w there are,
//
//	p(w|h) = max(c(hw)−D, 0)/c(h) + D·N(h)/c(h)·p(w|h′),
//
// h′ being h without its first token, down to the uniform law over the vocabulary behind the
// empty history; p(w|h) = p(w|h′) where c(h) = 0. At the longest history that a token has c
// is how often hw is in the training text, and at the shorter ones below it how many
// different tokens stand before hw there. Each length of hw, counted either way, has its own
// D = n₁/(n₁+2n₂), n_k of its runs having the count k. The sum over w is 1 for any D in 0..1. Source:
// Kneser and Ney, ICASSP 1995, 181–184, interpolated as in Chen and Goodman, Harvard
// TR-10-98, section 4.1.6.
//
// A token's history is what stands before it in its window, up to order−1 tokens; tokens that
// are given count as history and not in the product. An NGram may be shared.
type NGram struct {
	order, vocabulary int
	// tokens is the training text, each token as its number among those that occur, from 1;
	// number finds it. width is the bits of a number.
	tokens []uint32
	number map[int]uint32
	width  int
	// often has the runs of order tokens as they are in the text; before [n], for n below
	// order, a run of n tokens for each different token that stands before it.
	often  counts
	before []counts
}

// counts are runs of so many tokens, sorted, the first token in the highest bits; how often
// one is there is its count. Runs that reach the text's end are filled with 0.
type counts struct {
	tokens, width int
	keys          []uint64
	// discounts [tokens+1] are D of runs by length.
	discounts []float64
}

// NewNGram counts a training text, whose runs may cross its documents. vocabulary is the
// number of tokens that the law is over, which must include all of the text's; order is at
// least 1, and must be so small that order tokens fit into 64 bits. The memory is up to
// 8·order bytes a token.
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
	keys := make([]uint64, len(text))
	g.often = counts{tokens: order, width: g.width}
	for i := range keys {
		keys[i] = g.often.key(g.tokens[i:min(i+order, len(text))])
	}
	slices.Sort(keys)
	g.often = newCounts(keys, order, g.width)
	g.before = make([]counts, order)
	for n := 1; n < order; n++ {
		g.before[n] = g.often.without(n)
	}
	return g, nil
}

// newCounts takes sorted keys of runs of so many tokens.
func newCounts(keys []uint64, tokens, width int) counts {
	c := counts{tokens: tokens, width: width, keys: keys, discounts: make([]float64, tokens+1)}
	for n := 1; n <= tokens; n++ {
		c.discounts[n] = c.discount(n)
	}
	return c
}

// without are the different runs of n+1 tokens without their first.
func (c counts) without(n int) counts {
	var keys []uint64
	shift := c.width * (c.tokens - n - 1)
	for from := 0; from < len(c.keys); from = c.end(from, len(c.keys), n+1) {
		if key := c.keys[from] >> shift; key&(1<<c.width-1) != 0 {
			keys = append(keys, key&(1<<(c.width*n)-1))
		}
	}
	slices.Sort(keys)
	return newCounts(keys, n, c.width)
}

// key is a run of up to so many tokens, filled with 0.
func (c counts) key(run []uint32) uint64 {
	var key uint64
	for _, n := range run {
		key = key<<c.width | uint64(n)
	}
	return key << (c.width * (c.tokens - len(run)))
}

// discount is D of runs of n tokens.
func (c counts) discount(n int) float64 {
	var once, twice float64
	for from := 0; from < len(c.keys); {
		to := c.end(from, len(c.keys), n)
		switch whole := c.keys[from]>>(c.width*(c.tokens-n))&(1<<c.width-1) != 0; {
		case whole && to-from == 1:
			once++
		case whole && to-from == 2:
			twice++
		}
		from = to
	}
	if once == 0 {
		return 0.5 // Where no run is rare, nothing shows what rare ones are worth; any value is a law.
	}
	return once / (once + 2*twice)
}

// end is where, before to, the keys end that share the first n tokens with that at from.
func (c counts) end(from, to, n int) int {
	shift := c.width * (c.tokens - n)
	key := c.keys[from] >> shift
	step := 1
	for from+step < to && c.keys[from+step]>>shift == key {
		from, step = from+step, 2*step
	}
	return from + 1 + sort.Search(min(step, to-from)-1, func(i int) bool { return c.keys[from+1+i]>>shift != key })
}

// interval is the part of keys that begins with a run.
func (c counts) interval(run []uint32) (from, to int) {
	key := c.key(run)
	from = sort.Search(len(c.keys), func(i int) bool { return c.keys[i] >= key })
	if shift := c.width * (c.tokens - len(run)); from < len(c.keys) && c.keys[from]>>shift == key>>shift {
		return from, c.end(from, len(c.keys), len(run))
	}
	return from, from
}

// next is p(w|h) of the runs that are counted, p being p(w|h′).
func (c counts) next(h []uint32, w uint32, p float64) float64 {
	from, to := 0, len(c.keys)
	if len(h) > 0 {
		from, to = c.interval(h)
	}
	n := len(h) + 1
	if from < to && c.keys[from]>>(c.width*(c.tokens-n))&(1<<c.width-1) == 0 {
		from = c.end(from, to, n) // the text's end
	}
	if from == to {
		return p
	}
	kinds, here, d := 0, 0, c.discounts[n]
	for at := from; at < to; kinds++ {
		end := c.end(at, to, n)
		if c.keys[at]>>(c.width*(c.tokens-n))&(1<<c.width-1) == uint64(w) {
			here = end - at
		}
		at = end
	}
	return (max(float64(here)-d, 0) + d*float64(kinds)*p) / float64(to-from)
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
	for i := len(h) - 1; i >= 0; i-- {
		if h[i] == 0 { // No run of the text has what it does not have.
			h = h[i+1:]
			break
		}
	}
	p := 1 / float64(g.vocabulary)
	for n := range len(h) {
		p = g.before[n+1].next(h[len(h)-n:], w, p)
	}
	return g.often.next(h, w, p)
}

// Holds returns the indices of the texts that occur in the training text, ascending: the law
// was made from them, and what it gives them bounds nothing.
func (g *NGram) Holds(texts [][]int) (out []int) {
	index := suffixarray.New(inBytes(g.tokens))
	aligned := func(at int) bool { return at%4 == 0 }
	for i, text := range texts {
		run := g.numbers(text)
		if len(run) > 0 && !slices.Contains(run, 0) && slices.ContainsFunc(index.Lookup(inBytes(run), -1), aligned) {
			out = append(out, i)
		}
	}
	return out
}

// inBytes writes each number in four bytes.
func inBytes(run []uint32) (out []byte) {
	for _, n := range run {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return out
}
