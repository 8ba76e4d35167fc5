package samplers_test

import (
	"slices"
	"testing"

	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// TestUnplanned checks that a sample of any of them is the same in any batch, contains the given
// tokens, fills the rest, and takes no call that commits nothing.
func TestUnplanned(t *testing.T) {
	reftest.Long(t)
	for _, timed := range []bool{false, true} {
		for _, o := range lawstest.Unplanned() {
			net := lawstest.NewHashNet(timed)
			wino := o.Sampler == "wino"
			net.All = o.Sampler == "p2" || wino
			s := reftest.Must(catalog.New(o, net.Spec()))(t, o)
			if s.Planned() {
				t.Errorf("%v has a plan", s)
			}
			cfg := lawstest.Config(s, 1)
			cfg.OnStep = func(s samplers.Step) {
				if len(s.Positions) == 0 && s.Rows > 0 && o.Sampler != "p2" && (o.BadWordsIDs == "" || o.Correct == "") {
					t.Errorf("%v: a call of sequence %d commits nothing", o, s.Index)
				}
			}
			want, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), cfg)
			for _, seq := range lawstest.Mixed() {
				r := want[seq.Index]
				for l, id := range r.IDs {
					if id == net.Mask || id == 4 || seq.Canvas[l] != net.Mask && id != seq.Canvas[l] {
						t.Fatalf("%+v: %v became %v", o, seq.Canvas, r.IDs)
					}
				}
				if most := s.MostCalls(net.Spec(), seq.Canvas); r.Calls+r.FinishCalls > most && (!wino || o.BadWordsIDs == "") {
					t.Errorf("%+v: %d calls, at most %d", o, r.Calls+r.FinishCalls, most)
				}
				if canvases := max(1, s.Canvases()); o.Lookahead == 0 && !wino && r.Rows != canvases*(r.Calls+r.FinishCalls) || s.Settings().Score != "" && r.RuleCalls < r.Calls {
					t.Errorf("%+v: %+v", o, r)
				}
			}
			for _, batch := range []int{3, 40} {
				if got, _ := lawstest.Collect(t, net, slices.Values(lawstest.Mixed()), lawstest.Config(s, batch)); !lawstest.SameIDs(got, want) {
					t.Errorf("%+v: other samples in batches of %d", o, batch)
				}
			}
			if net.Bad != "" {
				t.Errorf("%+v: %s", o, net.Bad)
			}
		}
	}
}

// TestDrawOfJob checks that a job's draw settings also apply to the scores.
func TestDrawOfJob(t *testing.T) {
	net := newAnyNet()
	how := draw.Settings{Temperature: new(0.3), TopK: 3}
	for _, o := range lawstest.Unplanned() {
		o.Draw = draw.Settings{}
		plain := lawstest.NewFor(t, o, net.Spec())
		o.Draw = how
		own := lawstest.NewFor(t, o, net.Spec())
		canvas := slices.Repeat([]int{6}, 15)
		e := lawstest.Engine(t, net, 1)
		a, err := lawstest.Last(e, t.Context(), samplers.Job{Canvas: canvas, Method: plain, Draw: how})
		b, err2 := lawstest.Last(e, t.Context(), samplers.Job{Canvas: canvas, Method: own})
		if err != nil || err2 != nil || !slices.Equal(a.IDs, b.IDs) {
			t.Errorf("%+v: %v, %v: %v, %v", o, a, b, err, err2)
		}
	}
}
