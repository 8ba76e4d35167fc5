package model

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort"
	"mdmgen/model/ort/orttest"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/plan"
)

// onOneThread opens a model on devices, each of which has one thread.
func onOneThread(t *testing.T, ref, devices string, facts map[string]string) Model {
	t.Helper()
	m, err := Open(t.Context(), ref, Options{Override: facts, Runtime: ort.Config{Device: devices, Threads: 1}})
	orttest.Opened(t, m, err)
	return m
}

// ragged is a call of so many canvases that want 1, 2, 3, 1, … positions.
func ragged(f Facts, canvases int) samplers.Call {
	length := f.Length
	if !f.FixedLength {
		length = min(length, 5)
	}
	var c samplers.Call
	for r := range canvases {
		for l := range length {
			c.IDs = append(c.IDs, int64((3*r+l)%f.Columns))
		}
		c.IDs[r*length] = int64(f.MaskID)
		c.Counts = append(c.Counts, 1+r%3)
		for j := range 1 + r%3 {
			c.Positions = append(c.Positions, int64((r+j)%length))
		}
		if f.TimeConditioned {
			c.Sigma = append(c.Sigma, 0.25*float64(1+r))
		}
	}
	return c
}

// answers is all that a network says to a call.
func answers(t *testing.T, m Model, c samplers.Call) (out []float64) {
	t.Helper()
	rows, err := m.Logits(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		out = append(out, float64(x))
	}
	p, ok := m.(LogProber)
	if !ok {
		return out
	}
	k := len(c.Positions)
	targets, logMu, logMass := make([]int64, k), make([]float64, k), make([]float64, k)
	d := samplers.Drawing{Uniforms: make([]float64, k), Temperatures: make([]float64, k), Top: 1}
	for i, l := range c.Positions {
		targets[i], d.Uniforms[i], d.Temperatures[i] = int64(i%3), float64(i+1)/float64(k+1), 1+0.1*float64(l)
	}
	best := make([]draw.Best, k)
	if err := errors.Join(p.LogProbs(t.Context(), c, targets, logMu, logMass), m.(samplers.Drawer).Best(t.Context(), c, d, best)); err != nil {
		t.Fatal(err)
	}
	for i, b := range best {
		out = append(out, logMu[i], logMass[i], float64(b.Token), b.LogP, b.Entropy, float64(b.Top[0].Token), b.Top[0].LogP)
	}
	return out
}

// Several devices say to a call what one says to it, up to rounding, which on some processors depends on how
// many canvases a call has.
func TestSeveralSayWhatOneSays(t *testing.T) {
	foreign := map[string]string{"mask_id": "6", "length": "9"}
	for _, c := range []struct {
		ref   string
		facts map[string]string
		heads bool
	}{
		{reftest.Data(t, "reference", "checkpoints", "mdlm"), nil, true},
		{Converted(t, "mdlm"), map[string]string{"padding": "[3]"}, false},
		{reftest.Data(t, "reference", "checkpoints", "mdlm-timecond"), nil, true},
		{reftest.Data(t, "reference", "checkpoints", "sedd"), nil, true},
		{reftest.Data(t, "foreign", "static.onnx"), map[string]string{"mask_id": "6"}, false},
		{reftest.Data(t, "foreign", "two.onnx"), foreign, false},
		{reftest.Data(t, "foreign", "timed.onnx"), foreign, false},
	} {
		one := onOneThread(t, c.ref, "cpu", c.facts)
		for _, devices := range []string{"cpu,cpu", "cpu,cpu,cpu"} {
			m := onOneThread(t, c.ref, devices, c.facts)
			o := m.(Describer).Origin()
			if o.Provider != strings.ReplaceAll(devices, ",", " + ") || o.Threads != strings.Count(o.Provider, "cpu") {
				t.Errorf("%s: %s: provider %s, %d threads", c.ref, devices, o.Provider, o.Threads)
			}
			if _, heads := m.(LogProber); heads != c.heads {
				t.Errorf("%s: %s: heads %t", c.ref, devices, heads)
			}
			for _, rows := range []int{1, 2, 3, 5, 8, 2, 1} {
				call := ragged(m.Facts(), rows)
				got, want := answers(t, m, call), answers(t, one, call)
				if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }) {
					t.Errorf("%s: %s: another answer to %d canvases", c.ref, devices, rows)
				}
			}
		}
	}
}

// sampled are the ids of sequences on a network, nil where one failed.
func sampled(t *testing.T, m Model, sequences, batch int) (ids [][]int, faults []error) {
	t.Helper()
	canvas := slices.Repeat([]int{m.Facts().MaskID}, 12)
	seqs := make([]samplers.Sequence, sequences)
	for i := range seqs {
		seqs[i] = samplers.Sequence{Index: uint64(i), Canvas: canvas}
	}
	ids = make([][]int, sequences)
	_, err := samplers.Sample(t.Context(), m, slices.Values(seqs), samplers.Config{Method: plan.NewFHS(0), Seed: 1, Batch: batch, OnFault: func(_ uint64, err error) error {
		faults = append(faults, err)
		return nil
	}}, func(r samplers.Result) error {
		ids[r.Index] = r.IDs
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, faults
}

// Samples are the same ids whatever the devices and the batch.
func TestSeveralSampleAsOne(t *testing.T) {
	ref := reftest.Data(t, "reference", "checkpoints", "mdlm")
	want, _ := sampled(t, onOneThread(t, ref, "cpu", nil), 7, 1)
	for _, devices := range []string{"cpu", "cpu,cpu", "cpu,cpu,cpu"} {
		m := onOneThread(t, ref, devices, nil)
		for _, batch := range []int{1, 2, 3, 7} {
			if got, faults := sampled(t, m, 7, batch); faults != nil || !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, batch %d: other ids, or %v", devices, batch, faults)
			}
		}
	}
}

// failing is a network on a device that fails.
type failing struct {
	member
	err   error
	calls *atomic.Int64
}

func (f failing) Logits(context.Context, samplers.Call) ([]float32, error) {
	f.calls.Add(1)
	return nil, f.err
}

// A device that fails is left out, with a notice, and what it failed at is done by another. What no device can do,
// and a lack of memory, is the call's own fault.
func TestSeveralGoOnWithoutADevice(t *testing.T) {
	ref, facts := reftest.Data(t, "foreign", "plain.onnx"), map[string]string{"mask_id": "6", "length": "12"}
	want, _ := sampled(t, onOneThread(t, ref, "cpu", facts), 5, 1)
	broken := errors.New("the device is gone")
	for at := range 3 {
		m := onOneThread(t, ref, "cpu,cpu,cpu", facts).(*several)
		var log []string
		var calls atomic.Int64
		m.log = func(line string) { log = append(log, line) }
		m.working = slices.Clone(m.all)
		m.working[at] = failing{m.all[at], broken, &calls}
		if got, faults := sampled(t, m, 5, 3); faults != nil || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("without device %d: other ids, or %v", at, faults)
		}
		if calls.Load() != 1 || !slices.Equal(log, []string{"going on without it: device cpu: the device is gone"}) || len(m.working) != 2 {
			t.Errorf("device %d is asked %d times; %q", at, calls.Load(), log)
		}
		for i := range m.working {
			m.working[i] = failing{m.all[i], broken, &calls}
		}
		if _, faults := sampled(t, m, 2, 2); len(faults) != 2 || !errors.Is(faults[0], broken) || len(m.working) != 2 {
			t.Errorf("where all fail: %v", faults)
		}
		m.working[0] = failing{m.all[0], &ort.MemoryError{Err: broken}, &calls}
		m.working[1] = m.all[1]
		if _, err := m.Logits(t.Context(), ragged(m.Facts(), 2)); !errors.As(err, new(*ort.MemoryError)) || len(m.working) != 2 {
			t.Errorf("a device that is full: %v", err)
		}
	}
}

// A call that is cancelled ends, and leaves all devices and nothing else; closed ones say so.
func TestSeveralEnd(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	m := onOneThread(t, reftest.Builtin(t), "cpu,cpu", nil)
	long := samplers.Call{IDs: slices.Repeat([]int64{2048}, 64*128)}
	for range 64 {
		long.Positions, long.Counts = append(long.Positions, 0), append(long.Counts, 1)
	}
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if _, err := m.Logits(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call of %v: %v", wait, err)
		}
		cancel()
	}
	if _, err := m.Logits(t.Context(), ragged(m.Facts(), 2)); err != nil || len(m.(severalHeads).working) != 2 {
		t.Errorf("after that: %v", err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := m.Logits(t.Context(), ragged(m.Facts(), 2)); !errors.Is(err, ort.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left", runtime.NumGoroutine()-goroutines)
}
