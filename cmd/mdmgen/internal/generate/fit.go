package generate

import (
	"errors"
	"fmt"
	"slices"

	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/model/ort"
	"mdmgen/samplers/draw"
	plans "mdmgen/samplers/plan"

	"github.com/dustin/go-humanize/english"
)

// fitBatch finds how many sequences of a call memory has room for, by calls for twice as many
// each time, up to most. It is 0 where there is none for one.
//
// A device that is full says so, and the network can go on. A machine that is full ends programs,
// so that a call is made only where one and a half times what the calls so far have taken is left.
func (g *generation) fitBatch(most int) (int, error) {
	j, positions := g.widest()
	before, known := sysinfo.Resident()
	return double(most, func(n int) (bool, error) {
		if free, ok := sysinfo.Free(); n > 1 && known && ok {
			if now, _ := sysinfo.Resident(); free/3*2 < now-min(before, now) {
				return false, nil
			}
		}
		_, err := g.call(j, j.Canvas, positions, n)
		return fits(err)
	})
}

// fits takes a lack of memory for an answer.
func fits(err error) (bool, error) {
	if lack := (*ort.MemoryError)(nil); errors.As(err, &lack) {
		return false, nil
	}
	return err == nil, err
}

// double is the last of 1, 2, 4, … and most, at most that, that fits; 0 where none does.
func double(most int, fits func(n int) (bool, error)) (int, error) {
	last := 0
	for n := 1; n <= most; n = min(2*n, most) {
		ok, err := fits(n)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		if last = n; n == most {
			break
		}
	}
	return last, nil
}

// widest is the job of the longest canvas, and the most positions of it that a call asks for: those of
// the largest block of some plans, all where the network's rows decide.
func (g *generation) widest() (job, []int) {
	j := slices.MaxFunc(g.jobs, func(a, b job) int { return len(a.Canvas) - len(b.Canvas) })
	free := g.free(j.Canvas)
	if !j.method.Planned() {
		return j, free
	}
	want := 1
	var plan plans.Plan
	for i := range uint64(8) {
		if err := j.method.Plan(&plan, draw.NewStream(0, i), free); err != nil {
			break // None: [generation.tryPlans] has drawn one.
		}
		for _, b := range plan.Blocks {
			want = max(want, len(b.Positions))
		}
	}
	return j, free[:min(want, len(free))]
}

// findBatch does what --batch auto asks for.
func (g *generation) findBatch() error {
	n, err := g.fitBatch(g.next)
	switch {
	case err != nil:
		return fmt.Errorf("generate: %w", fault.WithoutName(err))
	case n == 0:
		return g.noRoom()
	}
	g.sampler.Batch = n
	g.streams.Notice(fmt.Sprintf("--batch auto: %d", n))
	return nil
}

// noRoom is the error of a call that memory has no room for.
func (g *generation) noRoom() error {
	j, _ := g.widest()
	return fmt.Errorf("generate: memory has no room for a call of %s of %s: lower --batch or --length, or choose a smaller --dtype",
		english.Plural(max(g.settings.Batch, 1), "sequence", ""), english.Plural(len(j.Canvas), "position", ""))
}
