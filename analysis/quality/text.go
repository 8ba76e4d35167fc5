package quality

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"mdmgen/analysis/estimate"
)

// MaxGram is the length of the longest n-grams counted.
const MaxGram = 4

// Text describes the tokens of one sequence, without a model. MASK is not a token: an n-gram does
// not extend across one.
type Text struct {
	// Length counts positions, Masks the positions still masked.
	Length int
	Masks  int
	// Entropy is −Σ_a f_a log f_a of the frequencies f of the token ids in the sequence, in nats:
	// the "entropy" reported with generative perplexity in Zheng et al., arXiv 2409.02908 (who
	// print nats; others print bits under the same name). It is at most the logarithm of the number
	// of tokens, so only sequences of equal length are comparable.
	Entropy float64
	// Distinct[n−1] is the number of different n-grams divided by the number of n-grams, n = 1..4
	// (distinct-n; Li et al., arXiv 1510.03055), NaN if there are no n-grams.
	Distinct [MaxGram]float64
	// Repeated is the share of 4-grams that occur earlier in the sequence: seq-rep-4 of Welleck et
	// al., arXiv 1908.04319, 1 − Distinct[3].
	Repeated float64
}

// Describe describes one sequence of ids.
func Describe(ids []int, mask int) Text {
	out := Text{Length: len(ids)}
	for _, id := range ids {
		if id == mask {
			out.Masks++
		}
	}
	spans := slices.Collect(unmasked(ids, mask))
	for n := 1; n <= MaxGram; n++ {
		counts := make(map[string]int)
		total := grams(spans, n, counts)
		out.Distinct[n-1] = math.NaN()
		if total > 0 {
			out.Distinct[n-1] = float64(len(counts)) / float64(total)
		}
		if n == 1 {
			out.Entropy = entropy(counts, total)
		}
	}
	out.Repeated = 1 - out.Distinct[MaxGram-1]
	return out
}

// unmasked yields the runs of tokens between masks.
func unmasked(ids []int, mask int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		from := 0
		for i := range len(ids) + 1 {
			if i < len(ids) && ids[i] != mask {
				continue
			}
			if i > from && !yield(ids[from:i]) {
				return
			}
			from = i + 1
		}
	}
}

// grams counts n-grams and returns their total number.
func grams(spans [][]int, n int, counts map[string]int) (total int) {
	key := make([]byte, 8*n)
	for _, s := range spans {
		for i := 0; i+n <= len(s); i++ {
			for j, id := range s[i : i+n] {
				binary.LittleEndian.PutUint64(key[8*j:], uint64(id))
			}
			counts[string(key)]++
			total++
		}
	}
	return total
}

// entropy returns the entropy of frequencies, 0 if there are none. Counts are summed in ascending
// order, so the bits do not depend on the map's order.
func entropy(counts map[string]int, total int) float64 {
	all := make([]int, 0, len(counts))
	for _, c := range counts {
		all = append(all, c)
	}
	slices.Sort(all)
	var sum float64
	for _, c := range all {
		f := float64(c) / float64(total)
		sum -= f * math.Log(f)
	}
	return sum
}

// Texts holds means over sequences, which are the units of their errors. Sequences without n-grams
// of a length are omitted from its mean.
type Texts struct {
	Entropy, Repeated estimate.Estimate
	Distinct          [MaxGram]estimate.Estimate
}

// DescribeAll describes sequences; mask is the id of MASK.
func DescribeAll(sequences [][]int, mask int, confidence float64) (out Texts) {
	var entropies, repeated []float64
	var distinct [MaxGram][]float64
	for _, ids := range sequences {
		x := Describe(ids, mask)
		if x.Length > x.Masks {
			entropies = append(entropies, x.Entropy)
		}
		for n, v := range x.Distinct {
			if !math.IsNaN(v) {
				distinct[n] = append(distinct[n], v)
			}
		}
		if !math.IsNaN(x.Repeated) {
			repeated = append(repeated, x.Repeated)
		}
	}
	out.Entropy, out.Repeated = estimate.Mean(entropies, confidence), estimate.Mean(repeated, confidence).Within(0, 1)
	for n := range distinct {
		out.Distinct[n] = estimate.Mean(distinct[n], confidence).Within(0, 1)
	}
	return out
}
