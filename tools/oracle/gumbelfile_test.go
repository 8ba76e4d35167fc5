package oracle

import (
	"fmt"
	"slices"
	"strings"

	"mdmgen/internal/parallel"
)

// gumbelFile recomputes a file of the layout mdm-laws-gumbel/1: the effect on a draw of Gumbel
// noise of low precision.
func gumbelFile(m *matcher, f *file) {
	in := inputs[struct {
		Truncated []struct {
			P []float64
			M float64
		} `json:"truncated_gumbel"`
		Finite []struct {
			Case string
			P    []float64
		} `json:"finite_precision"`
	}](m.t, f)
	truncated, finite := list{}, list{}
	for i, row := range in.Truncated {
		m.match(fmt.Sprintf("sum of truncated_gumbel[%d].p", i), total(row.P), 1.0)
		truncated = append(truncated, object{"p": given{}, "M": given{}, "truncated": TruncatedGumbel(row.P, row.M)})
	}
	draws := make([][3][]float64, len(in.Finite))
	parallel.For(2*len(in.Finite), func(i int) {
		if i%2 == 0 {
			draws[i/2][1] = Grid24(in.Finite[i/2].P)
		} else {
			draws[i/2][2] = Mdlm32(in.Finite[i/2].P)
		}
	})
	for i, row := range in.Finite {
		m.match(fmt.Sprintf("sum of finite_precision[%d].p", i), total(row.P), 1.0)
		draws[i][0] = TruncatedGumbel(row.P, MaxGumbel(24))
		finite = append(finite, drawValues(row.Case, row.P, draws[i]))
	}
	m.match("", f.doc, object{
		"M_float32": MaxGumbel(24), "M_float64": MaxGumbel(53),
		"truncated_gumbel": truncated, "finite_precision": finite,
	})
}

// drawValues returns the laws of the draws and, if the last category is MASK, the probability of
// the others and the law conditioned on them.
func drawValues(name string, p []float64, draws [3][]float64) object {
	out := object{"p": given{}}
	for suffix, law := range map[string][]float64{"true": p, "truncated_M_float32": draws[0], "grid24": draws[1], "mdlm32": draws[2]} {
		limit := lawsLimit
		if suffix == "mdlm32" {
			limit = float32Limit
		}
		if suffix != "true" {
			out[suffix] = within{law, limit}
		}
		if !strings.HasPrefix(name, "mask_column") {
			continue
		}
		unmask := 0.0
		conditional := slices.Clone(law[:len(law)-1])
		for _, x := range conditional {
			unmask += x
		}
		for i := range conditional {
			conditional[i] /= unmask
		}
		out["unmask_probability_"+suffix] = within{unmask, limit}
		out["token_law_given_unmask_"+suffix] = within{conditional, limit}
	}
	return out
}
