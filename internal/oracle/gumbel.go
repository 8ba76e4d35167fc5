package oracle

import (
	"context"
	"fmt"
	"strings"
)

// gumbelFile recomputes a file of the layout mdm-laws-gumbel/1: what Gumbel noise of low
// precision does to a draw.
func gumbelFile(ctx context.Context, f file, m *matcher) error {
	in := &inputs{ctx: ctx}
	for _, name := range []string{"truncated_gumbel", "finite_precision"} {
		for i, n := range in.list(f.doc, name) {
			if err := m.sums(fmt.Sprintf("%s[%d].p", name, i), in.get(n, "p")); err != nil {
				return err
			}
		}
	}
	if in.err != nil || !m.ok() {
		return in.err
	}
	truncated := list{}
	for _, n := range in.list(f.doc, "truncated_gumbel") {
		p, most := probabilities(in, n), in.number(n, "M", -5, 100)
		if in.err != nil {
			return in.err
		}
		truncated = append(truncated, object{"p": given{}, "M": given{}, "truncated": TruncatedGumbel(p, most)})
	}
	nodes := in.list(f.doc, "finite_precision")
	ps := make([][]float64, len(nodes))
	for i, n := range nodes {
		ps[i] = probabilities(in, n)
	}
	if in.err != nil {
		return in.err
	}
	draws := make([][3][]float64, len(nodes))
	inParallel(2*len(nodes), func(i int) {
		if i%2 == 0 {
			draws[i/2][1] = Grid24(ps[i/2])
		} else {
			draws[i/2][2] = Mdlm32(ps[i/2])
		}
	})
	for _, prefix := range []string{"", "unmask_probability_", "token_law_given_unmask_"} {
		m.wider[prefix+"mdlm32"] = float32Loosening
	}
	finite := list{}
	for i, n := range nodes {
		draws[i][0] = TruncatedGumbel(ps[i], MaxGumbel(24))
		finite = append(finite, drawValues(in.text(n, "case"), ps[i], draws[i]))
	}
	want := object{
		"M_float32": MaxGumbel(24), "M_float64": MaxGumbel(53),
		"truncated_gumbel": truncated, "finite_precision": finite,
	}
	if in.err != nil {
		return in.err
	}
	return m.match("", f.doc, want)
}

// probabilities reads "p", a law without zeros.
func probabilities(in *inputs, n *node) []float64 {
	p := in.numbers(n, "p", 1e-12, 1)
	if in.err == nil && (len(p) < 1 || len(p) > 16) {
		in.fail("field %q: must have 1 to 16 entries", "p")
	}
	return p
}

// drawValues are the laws of the draws, and where the last category is MASK the
// probability of another and the law given that.
func drawValues(name string, p []float64, draws [3][]float64) object {
	out := object{
		"p": given{}, "truncated_M_float32": draws[0], "grid24": draws[1], "mdlm32": draws[2],
	}
	if !strings.HasPrefix(name, "mask_column") {
		return out
	}
	for suffix, law := range map[string][]float64{"true": p, "truncated_M_float32": draws[0], "grid24": draws[1], "mdlm32": draws[2]} {
		tokens := law[:len(law)-1]
		total := 0.0
		for _, x := range tokens {
			total += x
		}
		given := make([]float64, len(tokens))
		for i, x := range tokens {
			given[i] = x / total
		}
		out["unmask_probability_"+suffix], out["token_law_given_unmask_"+suffix] = total, given
	}
	return out
}
