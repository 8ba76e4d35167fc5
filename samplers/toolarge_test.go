package samplers

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/draw"
)

// narrow is a network without room for calls of more than one canvas.
type narrow struct {
	Network
	calls, failed int
}

type noRoom struct{}

func (noRoom) Error() string  { return "no room" }
func (noRoom) TooLarge() bool { return true }

func (n *narrow) Logits(ctx context.Context, c Call) ([]float32, error) {
	if n.calls++; len(c.Counts) > 1 {
		n.failed++
		return nil, noRoom{}
	}
	return n.Network.Logits(ctx, c)
}

// TestCallTooLarge checks that a call that is too large ends a run, whose size the caller chose,
// immediately; shared engines continue with one row per call, as after other errors.
func TestCallTooLarge(t *testing.T) {
	t.Parallel()
	spec := Spec{Vocabulary: draw.Vocabulary{Columns: 3, Mask: 2}}
	net := &narrow{Network: flat{spec}}
	seqs := slices.Values([]Sequence{{Canvas: []int{2, 2}}, {Index: 1, Canvas: []int{2, 2}}})
	if _, err := Sample(t.Context(), net, seqs, Config{Method: oneByOne{}, Batch: 2}, func(Result) error { return nil }); !errors.As(err, new(noRoom)) || net.calls != 1 {
		t.Errorf("%v after %d calls", err, net.calls)
	}
	net = &narrow{Network: flat{spec}}
	e := reftest.Must(newEngine(net, 2))(t)
	e.shared = true
	made := 0
	for i := range uint64(2) {
		e.admit(t.Context(), Job{Canvas: []int{2, 2}, Method: oneByOne{}, Index: i}, i, nil, func(_ Result, err error) {
			if made++; err != nil {
				t.Error(err)
			}
		})
	}
	for len(e.queue) > 0 {
		e.round()
	}
	if made != 2 || net.failed != 2 || net.calls != 6 {
		t.Errorf("%d samples of 2, %d calls, of which %d failed", made, net.calls, net.failed)
	}
}

// flat is a network whose rows are all zeros.
type flat struct{ spec Spec }

func (f flat) Spec() Spec { return f.spec }
func (f flat) Logits(_ context.Context, c Call) ([]float32, error) {
	return make([]float32, len(c.Positions)*f.spec.Columns), nil
}

// oneByOne fills one position per call.
type oneByOne struct{ *Canvas }

func (oneByOne) Start(c *Canvas, _ *draw.Numbers) (Decoder, error) { return oneByOne{c}, nil }

func (o oneByOne) Ask(a *Ask) bool {
	if free := o.Masked(nil); len(free) > 0 {
		a.Rows = append(a.Rows, AskRow{Positions: free[:1]})
	}
	return len(a.Rows) > 0
}

func (o oneByOne) Take(_ Rows, e *Edit) error {
	e.Set(o.Masked(nil)[0], 0, 0)
	return nil
}
