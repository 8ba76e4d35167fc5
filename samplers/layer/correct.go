package layer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// Correction is a kernel whose canvas is corrected by Gibbs sampling after it is filled. Each of
// Calls calls masks Positions of the originally free positions, chosen uniformly, and draws them
// anew, independently. With one position per call, and rows that are the conditionals of one
// distribution, this leaves that distribution invariant and brings others closer to it.
type Correction struct {
	samplers.Kernel
	Positions, Calls int
}

// Correct returns k with corrections; text is "gibbs:MxN".
func Correct(k samplers.Kernel, text string) (Correction, error) {
	out := Correction{Kernel: k}
	kind, sizes, _ := strings.Cut(text, ":")
	m, n, ok := strings.Cut(strings.Replace(sizes, "×", "x", 1), "x")
	var err, err2 error
	out.Positions, err = strconv.Atoi(m)
	out.Calls, err2 = strconv.Atoi(n)
	if kind != "gibbs" || !ok || err != nil || err2 != nil || out.Positions < 1 || out.Calls < 1 || out.Positions > schedule.MaxSteps || out.Calls > schedule.MaxSteps {
		return out, fault.Errorf("samplers", "correct %.40q: must be gibbs:MxN, M positions in each of N calls, both whole numbers in 1..%d", text, schedule.MaxSteps)
	}
	return out, nil
}

// String returns the text that [Correct] parses.
func (k Correction) String() string { return fmt.Sprintf("gibbs:%dx%d", k.Positions, k.Calls) }

// Law returns a law without a likelihood.
func (Correction) Law() samplers.Law {
	return samplers.Unknown{Why: "corrections redraw revealed positions"}
}

// Fill starts to fill, and then to correct, positions.
func (k Correction) Fill(c *samplers.Canvas, d *draw.Numbers, free []int) (samplers.Decoder, error) {
	inner, err := k.Kernel.Fill(c, d, slices.Clone(free))
	return &corrected{correction: k, inner: inner, canvas: c, draws: d, free: free}, err
}

// corrected is the decoder of a sequence: the inner decoder, until it has finished.
type corrected struct {
	correction Correction
	inner      samplers.Decoder
	told       samplers.Result // the inner decoder's report
	// done counts corrections. chosen lists the positions of the current one, with their uniforms,
	// on the canvas ids.
	done     int
	chosen   []int
	uniforms []float64
	ids      []int64
	canvas   *samplers.Canvas
	draws    *draw.Numbers
	free     []int
}

func (d *corrected) Ask(a *samplers.Ask) bool {
	if d.inner != nil {
		if d.inner.Ask(a) {
			return true
		}
		*a = samplers.Ask{Rows: a.Rows[:0]}
		samplers.Report(d.inner, &d.told)
		d.inner = nil
	}
	d.chosen = slices.DeleteFunc(append(d.chosen[:0], d.free...), d.canvas.IsMasked)
	if d.done == d.correction.Calls || len(d.chosen) == 0 {
		return false
	}
	slices.SortFunc(d.chosen, func(i, j int) int {
		return cmp.Or(cmp.Compare(d.draws.Correction(i, d.done), d.draws.Correction(j, d.done)), i-j)
	})
	d.chosen = d.chosen[:min(d.correction.Positions, len(d.chosen))]
	d.ids, d.uniforms = append(d.ids[:0], d.canvas.IDs()...), d.draws.Tokens(d.uniforms[:0], d.chosen)
	for _, l := range d.chosen {
		d.ids[l] = int64(d.canvas.Spec().Mask)
	}
	theta := d.canvas.Theta(float64(len(d.chosen)) / float64(len(d.free)))
	a.Rows = append(a.Rows, samplers.AskRow{Canvas: d.ids, Positions: d.chosen, Theta: theta, Uniforms: d.uniforms})
	a.Head, a.Step = samplers.HeadBest, -1
	d.done++
	return true
}

// Report adds the corrections to the RuleCalls of the inner decoder, if it reports any.
func (d *corrected) Report(r *samplers.Result) {
	if r.RuleCalls = d.told.RuleCalls; r.RuleCalls > 0 {
		r.RuleCalls += d.done
	}
}

func (d *corrected) Take(r samplers.Rows, e *samplers.Edit) error {
	if d.inner != nil {
		return d.inner.Take(r, e)
	}
	for i, l := range d.chosen {
		b, err := r.Best(0, i)
		if err != nil {
			return fmt.Errorf("position %d: %w", l, err)
		}
		e.Set(l, b.Token, b.LogP)
	}
	return nil
}

// MostCalls also counts the corrections.
func (k Correction) MostCalls(c samplers.Spec, d, length int) int {
	return k.Kernel.MostCalls(c, d, length) + k.Calls
}
