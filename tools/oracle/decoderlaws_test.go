package oracle

import (
	"context"
	"fmt"
	"math"
	"strings"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/remask"
)

// decoderLaw is the exact law of a decoder on a world.
type decoderLaw struct {
	ID, Decoder, World string
	Settings           decoderSettings
	Canvas             []int
	LawOver            string `json:"law_over"`
	Law                []float64
	Calls              *float64
}

// decoderOutcome is the result of comparing a sampler with a decoderLaw.
type decoderOutcome struct {
	// p is the p-value of Pearson's chi-square of the draws under the law.
	p float64
	// calls is the mean number of calls by the decoder's rule, se its standard error, and want the
	// file's number, NaN if it has none to compare.
	calls, se, want float64
	// difference is the largest difference of the file's law, and of the numbers of calls, from the
	// sum over all outcomes of the decoder; NaN if these are not computed.
	difference float64
}

// decoderLawsFile draws sequences from each law of a file and compares them with it. The
// probability of a false alarm over all laws is 1 in 1,000.
func decoderLawsFile(m *matcher, f *file) {
	t := m.t
	const draws, level = 10000, 1e-3
	in := inputs[struct{ Laws []decoderLaw }](t, f)
	least, most, exact := 1.0, 0.0, 0
	for i, law := range in.Laws {
		_, w, _ := f.in.world(t, law.World)
		// Each law has its own seed.
		got, err := law.draw(t.Context(), w, draws, uint64(i))
		reftest.OK(t, err, law.ID)
		if got.difference >= 0 {
			exact++
			if most = max(most, got.difference); got.difference > 1e-6 { // logits are float32
				t.Errorf("%s: the outcomes are %.3g from the law", law.ID, got.difference)
			}
		}
		least = min(least, got.p)
		if got.p < level/float64(len(in.Laws)) {
			t.Errorf("%s: p = %.3g", law.ID, got.p)
		}
		if math.Abs(got.calls-got.want) > 4.5*got.se+1e-12 {
			t.Errorf("%s: %v calls of the rule, want %v ± %v", law.ID, got.calls, got.want, got.se)
		}
	}
	t.Logf("%d laws of %d draws each, least p %.3g; the outcomes of %d differ by at most %.3g", len(in.Laws), draws, least, exact, most)
}

// draw compares n draws with the law.
func (law decoderLaw) draw(ctx context.Context, w *world.World, n int, seed uint64) (out decoderOutcome, err error) {
	o, err := law.Settings.lawOptions(law.Decoder, len(law.Canvas))
	if err != nil {
		return out, err
	}
	s, err := catalog.New(o, w.Spec())
	if err != nil {
		return out, err
	}
	if o.Sampler == "tweedie" {
		law.Calls = nil // those of upstream's loop, which makes empty calls
	}
	if out, err = law.compare(ctx, w, s, n, seed); err == nil {
		out.difference, err = law.outcomes(ctx, w, s)
	}
	return out, err
}

// base returns the number of tokens of a position in the law, including MASK if the law is over
// states.
func (law decoderLaw) base(w *world.World) int {
	if law.LawOver == "states" {
		return w.Facts().Columns + 1
	}
	return w.Facts().Columns
}

// outcomes compares the law with the sum over the decoder's outcomes.
func (law decoderLaw) outcomes(ctx context.Context, w *world.World, s *catalog.Sampler) (float64, error) {
	set := s.Settings()
	if set.Score == "" && set.Remask == "" || set.Transfer == "binomial" {
		return math.NaN(), nil
	}
	all, calls, err := s.Outcomes(ctx, w, law.Canvas, 1e6)
	if err != nil {
		return 0, err
	}
	var most float64
	if law.Calls != nil {
		most = math.Abs(calls - *law.Calls)
	}
	base := law.base(w)
	got := make([]float64, len(law.Law))
	for _, x := range all {
		at := 0
		for _, id := range x.IDs {
			at = at*base + id
		}
		got[at] += x.P
	}
	for i, p := range got {
		most = max(most, math.Abs(p-law.Law[i]))
	}
	return most, nil
}

// compare compares n draws of a sampler with the law.
func (law decoderLaw) compare(ctx context.Context, w *world.World, s *catalog.Sampler, n int, seed uint64) (out decoderOutcome, err error) {
	base := law.base(w)
	counts := make([]int, len(law.Law))
	var sum, squares float64
	_, err = samplers.Sample(ctx, w, samplers.Copies(law.Canvas, 0, n), samplers.Config{Method: s, Seed: seed, Batch: 64}, func(r samplers.Result) error {
		at := 0
		for _, id := range r.IDs {
			if id >= base {
				return fmt.Errorf("a mask is left: %v", r.IDs)
			}
			at = at*base + id
		}
		counts[at]++
		calls := float64(r.RuleCalls)
		if law.Decoder == "bd3lm-fhs" {
			calls = float64(r.Calls)
		}
		sum, squares = sum+calls, squares+calls*calls
		return nil
	})
	if err != nil {
		return out, err
	}
	out = decoderOutcome{p: reftest.Goodness(counts, law.Law), calls: sum / float64(n), want: math.NaN()}
	out.se = math.Sqrt(max(squares/float64(n)-out.calls*out.calls, 0) / float64(n))
	if law.Calls != nil {
		out.want = *law.Calls
	}
	return out, nil
}

// lawOptions returns the options of the sampler with a decoder's law on a canvas of the given
// length.
func (s decoderSettings) lawOptions(decoder string, length int) (catalog.Options, error) {
	switch {
	case decoder == "bd3lm-fhs":
		return catalog.Options{}, nil
	case s.Alg == "origin", s.Sampler == "mdlm":
		// Each mask is revealed independently, with a probability that depends on the times.
		end, last := s.Eps, 0.0
		if s.Sampler == "mdlm" {
			end, last = 1e-5, 1e-5
		}
		list := make([]string, s.Steps+1)
		for i := range list {
			list[i] = fmt.Sprint(1 - float64(i)*(1-end)/float64(s.Steps))
		}
		list[s.Steps] = fmt.Sprint(last)
		o := catalog.Options{Sampler: "tweedie", PlanOptions: catalog.PlanOptions{Grid: "lambda:" + strings.Join(list, ",")}}
		o.Temperature, o.TopP, o.TopK = s.Temperature, s.TopP, s.TopK
		return o, nil
	case decoder == "remdm":
		o := catalog.Options{Sampler: "remdm", Steps: s.Steps}
		o.Remask, o.Eta, o.NucleusP = remask.Remask(strings.TrimPrefix(s.Sampler, "remdm-")), s.Eta, s.NucleusP
		if o.Remask == remask.RemaskLoop {
			o.TOn, o.TOff, o.AlphaOn = &s.TOn, &s.TOff, s.AlphaOn
		}
		return o, nil
	}
	return s.options(decoder, length, length, 0)
}
