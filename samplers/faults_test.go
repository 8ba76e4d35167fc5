package samplers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// TestOneFaultyRow checks that if a call fails because of one row, only the job of that row fails,
// with its index, and the others get their own ids.
func TestOneFaultyRow(t *testing.T) {
	net := newAnyNet()
	net.poor = func(ids []int64) error {
		if ids[0] == 3 {
			return errors.New("boom")
		}
		return nil
	}
	canvas := func(first int) []int { return []int{first, 6, 6, 6} }
	var seqs []samplers.Sequence
	for i := range 9 {
		seqs = append(seqs, samplers.Sequence{Index: uint64(i), Canvas: canvas(i % 5)})
	}
	cfg := lawstest.Config(nil, 9)
	var faults []string
	cfg.OnFault = func(index uint64, err error) error { faults = append(faults, fmt.Sprint(index, " ", err)); return nil }
	got := make(map[uint64]samplers.Result)
	totals, err := samplers.Sample(context.Background(), net, slices.Values(seqs), cfg, func(r samplers.Result) error { got[r.Index] = r; return nil })
	good := slices.Sorted(maps.Keys(got))
	if want := []uint64{0, 1, 2, 4, 5, 6, 7}; err != nil || !slices.Equal(good, want) || totals.Sequences != len(want) {
		t.Errorf("finished %v, want %v; error %v", good, want, err)
	}
	if want := []string{"3 samplers: sequence 3: network: boom", "8 samplers: sequence 8: network: boom"}; !slices.Equal(faults, want) {
		t.Errorf("faults %q, want %q", faults, want)
	}
	whole := newAnyNet()
	seqs = slices.DeleteFunc(seqs, func(q samplers.Sequence) bool { return !slices.Contains(good, q.Index) })
	rest, _ := lawstest.Collect(t, whole, slices.Values(seqs), lawstest.Config(nil, 2))
	if !lawstest.SameIDs(got, rest) {
		t.Error("ids of the others differ from what they are without the faulty ones")
	}
}

// TestFaultsStayWithTheirJob checks that invalid canvases, invalid requests or edits of decoders,
// and rows that are not numbers end only their own job with one line, while other jobs finish.
func TestFaultsStayWithTheirJob(t *testing.T) {
	net := newAnyNet()
	e := lawstest.Engine(t, net, 4)
	free := []int{6, 6, 6}
	type step struct {
		ask  func(a *samplers.Ask)
		take func(e *samplers.Edit)
	}
	one := func(a *samplers.Ask) { a.Rows = append(a.Rows, samplers.AskRow{Positions: []int{0}}) }
	for _, test := range []struct {
		name, want string
		job        samplers.Job
		step       step
	}{
		{name: "id", want: "sequence 5: position 1: id 9", job: samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 9}}},
		{name: "temperature", want: "temperature is -1", job: samplers.Job{Method: plan.NewFHS(0), Canvas: free, Draw: draw.Settings{Temperature: new(float64)}}},
		{name: "no canvas", want: "asks for no canvas", step: step{ask: func(*samplers.Ask) {}}},
		{name: "no position", want: "asks for no position", step: step{ask: func(a *samplers.Ask) { a.Rows = append(a.Rows, samplers.AskRow{}) }}},
		{name: "length", want: "canvas of 1 positions: must be 3", step: step{ask: func(a *samplers.Ask) {
			a.Rows = append(a.Rows, samplers.AskRow{Canvas: []int64{6}, Positions: []int{0}})
		}}},
		{name: "position", want: "about position 3 of a canvas of 3", step: step{ask: func(a *samplers.Ask) { a.Rows = append(a.Rows, samplers.AskRow{Positions: []int{3}}) }}},
		{name: "uniforms", want: "1 uniforms for 2 positions", step: step{ask: func(a *samplers.Ask) {
			a.Head, a.Rows = samplers.HeadBest, append(a.Rows, samplers.AskRow{Positions: []int{0, 1}, Uniforms: []float64{0.5}})
		}}},
		{name: "head", want: `head "worst"`, step: step{ask: func(a *samplers.Ask) { one(a); a.Head = "worst" }}},
		{name: "edit", want: "edits position -1", step: step{one, func(e *samplers.Edit) { e.Set(-1, 0, 0) }}},
		{name: "mask", want: "edits position 3", step: step{one, func(e *samplers.Edit) { e.Mask(3) }}},
		{name: "token", want: "puts id 8 at position 1", step: step{one, func(e *samplers.Edit) { e.Set(1, 8, 0) }}},
	} {
		job := test.job
		job.Index = 5
		if test.name == "temperature" {
			*job.Draw.Temperature = -1
		}
		if test.step.ask != nil {
			job.Canvas, job.Method = free, scripted{test.step.ask, test.step.take}
		}
		wait := accompany(t, e, test.name)
		_, err := lawstest.Last(e, context.Background(), job)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "sequence 5") {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
		wait()
	}
}

// accompany starts three jobs, which must finish, and returns a function that waits for them.
func accompany(t *testing.T, e *samplers.Engine, name string) func() {
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			if _, err := lawstest.Last(e, context.Background(), samplers.Job{Method: plan.NewFHS(0), Canvas: []int{6, 6, 6}, Index: uint64(i)}); err != nil {
				t.Errorf("%s: a job in its company: %v", name, err)
			}
		})
	}
	return wait.Wait
}

// scripted is a method of one call.
type scripted struct {
	ask  func(*samplers.Ask)
	take func(*samplers.Edit)
}

func (s scripted) Start(*samplers.Canvas, *draw.Numbers) (samplers.Decoder, error) { return s, nil }
func (s scripted) Ask(a *samplers.Ask) bool                                        { s.ask(a); return true }
func (s scripted) Take(_ samplers.Rows, e *samplers.Edit) error                    { s.take(e); return nil }
