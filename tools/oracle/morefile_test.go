package oracle

import (
	"fmt"
	"slices"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/verify"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// moreFile compares the program's laws with a file of the layout mdm-laws-more/1: laws of further samplers
// on a world, whose own file holds q0 and μ. Final states are compared where no mask is left.
func moreFile(m *matcher, f *file) {
	in := inputs[struct {
		World string
		Laws  []lawstest.More
	}](m.t, f)
	_, open, w := f.in.world(m.t, in.World)
	var notOffered []string
	for i, l := range in.Laws {
		o, ok := l.Options()
		if !ok || w.Timed() && slices.Contains(atRandomTimes, l.Sampler) {
			notOffered = append(notOffered, l.Sampler)
			continue
		}
		same := func(name string, got, want []float64) {
			m.item(fmt.Sprintf("laws[%d].%s", i, name), verify.Relative, m.limit, func(c *verify.Comparison) {
				for j := range want {
					c.Add(got[j], want[j], func() string { return fmt.Sprintf("%s of %s, %d", name, o.Sampler, j) })
				}
			})
		}
		s := reftest.Must(catalog.New(o, open.Spec()))(m.t)
		same("law_denoised", w.OnSequences(reftest.Must(w.SamplerLaw(s))(m.t)), l.LawDenoised)
		calls, finish, err := s.ExpectedCalls(w.D)
		if !s.Planned() {
			_, calls, err = s.Outcomes(m.t.Context(), open, lawstest.AllMask(open), 1e6)
			finish = 0
		}
		if reftest.OK(m.t, err); l.Calls != nil {
			same("expected_calls", []float64{calls + finish}, []float64{*l.Calls})
		}
		if o.Finish = "leave"; l.Law != nil {
			s := reftest.Must(catalog.New(o, open.Spec()))(m.t)
			same("law", w.OnSequences(reftest.Must(w.SamplerLaw(s))(m.t)), w.OnSequences(l.Law))
		}
	}
	slices.Sort(notOffered)
	m.t.Logf("%d laws were not compared, since the program has none of %v", len(notOffered), slices.Compact(notOffered))
}

// atRandomTimes are the samplers that query a time-conditioned network at random times, where the program
// has no exact laws; package plan compares samples with those of the file.
var atRandomTimes = []string{"fhs_parallel", "uniformization", "matu"}

func total(p []float64) float64 {
	var s laws.Sum
	for _, x := range p {
		s.Add(x)
	}
	return s.Value()
}
