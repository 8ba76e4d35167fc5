package samplers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/schedule"
)

// correcting is the law of a sampler whose canvas is then corrected by Gibbs sampling: each of
// so many calls masks positions that were free, chosen uniformly, and draws them anew, each by
// itself. One position a call, and rows that are the conditionals of one law, leave that law as
// it is, and bring others nearer to it.
type correcting struct {
	unplanned
	inner            *Sampler
	positions, count int
}

// correct is s with corrections; text is "gibbs:MxN".
func (s *Sampler) correct(text string) (*Sampler, error) {
	law := correcting{inner: s}
	kind, sizes, _ := strings.Cut(text, ":")
	m, n, ok := strings.Cut(strings.Replace(sizes, "×", "x", 1), "x")
	var err, err2 error
	law.positions, err = strconv.Atoi(m)
	law.count, err2 = strconv.Atoi(n)
	if kind != "gibbs" || !ok || err != nil || err2 != nil || law.positions < 1 || law.count < 1 || law.positions > schedule.MaxSteps || law.count > schedule.MaxSteps {
		return nil, fault.Errorf("samplers", "correct %.40q: must be gibbs:MxN, M positions in each of N calls, both whole numbers in 1..%d", text, schedule.MaxSteps)
	}
	out := &Sampler{law: law, settings: s.settings}
	out.settings.Correct = fmt.Sprintf("gibbs:%dx%d", law.positions, law.count)
	return out, nil
}

func (correcting) declare() Law { return Law{Why: "corrections draw again what was revealed"} }

// Correction tells of a sampler that is corrected what it is without that, and how many positions
// each of so many calls draws anew; ok is false for others.
func (s *Sampler) Correction() (inner *Sampler, positions, calls int, ok bool) {
	law, ok := s.law.(correcting)
	return law.inner, law.positions, law.count, ok
}

func (law correcting) head(draw.Draw) Head { return law.inner.head() }

func (law correcting) start(c *Canvas, d *draw.Draws, free []int, _ bool) (Decoder, error) {
	inner, err := law.inner.on(c, d, slices.Clone(free))
	return &corrected{law: law, inner: inner, canvas: c, draws: d, free: free}, err
}

// corrected is the decoder of a sequence: the inner one, until that has finished.
type corrected struct {
	law   correcting
	inner Decoder
	tally // what the inner one did
	// done counts corrections, chosen are the positions of this one, with their uniforms on
	// the canvas ids.
	done     int
	chosen   []int
	uniforms []float64
	ids      []int64
	canvas   *Canvas
	draws    *draw.Draws
	free     []int
}

func (d *corrected) Ask(a *Ask) bool {
	if d.inner != nil {
		if d.inner.Ask(a) {
			return true
		}
		*a = Ask{Rows: a.Rows[:0]}
		d.add(d.inner)
		d.release()
	}
	d.chosen = slices.DeleteFunc(append(d.chosen[:0], d.free...), d.canvas.masked)
	if d.done == d.law.count || len(d.chosen) == 0 {
		return false
	}
	slices.SortFunc(d.chosen, func(i, j int) int {
		return cmp.Or(cmp.Compare(d.draws.Correction(i, d.done), d.draws.Correction(j, d.done)), i-j)
	})
	d.chosen = d.chosen[:min(d.law.positions, len(d.chosen))]
	d.ids, d.uniforms = append(d.ids[:0], d.canvas.ids...), d.draws.Tokens(d.uniforms[:0], d.chosen)
	for _, l := range d.chosen {
		d.ids[l] = int64(d.canvas.spec.Mask)
	}
	theta := d.canvas.theta(float64(len(d.chosen)) / float64(len(d.free)))
	a.Rows = append(a.Rows, AskRow{Canvas: d.ids, Positions: d.chosen, Theta: theta, Uniforms: d.uniforms})
	a.Head, a.Step = HeadBest, -1
	d.done++
	return true
}

// RuleCalls counts the corrections with the calls of the rule that is corrected, and 0 where
// there is none.
func (d *corrected) RuleCalls() int {
	if d.ruleCalls == 0 {
		return 0
	}
	return d.ruleCalls + d.done
}

func (d *corrected) Take(r Rows, e *Edit) error {
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

// release gives back the memory of the inner decoder.
func (d *corrected) release() {
	releaseOf(d.inner)
	d.inner = nil
}

func (law correcting) mostCalls(c Spec, d, length int) int {
	return law.inner.mostCalls(c, d, length) + law.count
}
