package likelihood

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
)

// TestRawLaws compares laws of raw scores with reference laws, with masses c(s,l) = 1 + ((s+3l) mod
// 7 − 3)/10 at state s and position l.
func TestRawLaws(t *testing.T) {
	data := reftest.Must(os.ReadFile(reftest.Data(t, "reference", "laws-more", "markov4-sharp.json")))(t)
	var file struct {
		Laws []struct {
			Sampler  string
			Settings struct {
				ForwardTimes []float64 `json:"forward_times"`
			}
			Law         []float64
			LawDenoised []float64 `json:"law_denoised"`
		}
	}
	reftest.OK(t, json.Unmarshal(data, &file))
	w := openWorld(t, reftest.Law(t, "markov4-sharp"))
	e := mustNew(t, w)
	checked := 0
	for _, l := range file.Laws {
		name, ok := map[string]string{"truncated_tau_unnormalised": "tweedie", "tau_any_unnormalised": "tau-leaping", "euler_unnormalised": "euler"}[l.Sampler]
		if !ok {
			continue
		}
		var times []string
		for _, x := range l.Settings.ForwardTimes {
			times = append(times, strconv.FormatFloat(x, 'g', -1, 64))
		}
		s := reftest.Must(catalog.New(catalog.Options{Sampler: name, Scores: plan.ScoresRaw, Grid: "theta:" + strings.Join(times, ",")}, samplers.Spec{Noise: "exp", LogScores: true}))(t)
		raw, _ := s.RawLaw()
		for i := range l.LawDenoised {
			ids := []int{i / 27, i / 9 % 3, i / 3 % 3, i % 3}
			table := reftest.Must(e.Table(context.Background(), Whole(ids), true))(t)
			for a := range 1 << 4 {
				canvas := make([]int, 4)
				for l := range canvas {
					if canvas[l] = 3; a>>l&1 == 1 {
						canvas[l] = ids[l]
					}
				}
				for _, l := range table.outside(a) {
					table.LogMass[a*4+l] = math.Log(1 + float64((w.State(canvas)+3*l)%7-3)/10)
				}
			}
			got := reftest.Must(rawLaw(4, raw, func(int) (*Table, error) { return table, nil }))(t)
			want := GridLaw{-math.Log(l.Law[w.State(ids)]), -math.Log(l.LawDenoised[i])}
			if !sameLog(got.Leave, want.Leave) || !sameLog(got.Denoise, want.Denoise) {
				t.Errorf("%s: text %d: %v, want %v", l.Sampler, i, got, want)
			}
			checked++
		}
	}
	if checked < 81*4 {
		t.Errorf("%d values compared", checked)
	}
}

// TestRawNetwork checks on score networks that the laws of raw scores sum to 1 over the
// tokens of a position, and that a network without scores has none.
func TestRawNetwork(t *testing.T) {
	ctx := context.Background()
	conditions := samplers.Spec{Noise: "loglinear", TimeConditioned: true, LogScores: true}
	delta := 0.1
	o := catalog.Options{Sampler: "tweedie", Scores: plan.ScoresRaw, Steps: 3, Delta: (*catalog.Theta)(&delta), Finish: "leave"}
	s := reftest.Must(catalog.New(o, conditions))(t)
	e := tiny(t, "sedd")
	var sum float64
	for id := range e.facts.Columns {
		ids := []int{5, id, 9}
		if e.Check(Whole(ids)) != nil {
			continue
		}
		got := reftest.Must(e.Exact(ctx, Target{IDs: ids, Free: []int{1}}, s))(t)
		if !(got.Grid.Leave >= got.Grid.Denoise) || got.NegLog != got.Grid.Leave {
			t.Errorf("id %d: %v", id, got)
		}
		sum += math.Exp(-got.Grid.Denoise)
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("probabilities sum to %v", sum)
	}
	reftest.Fails(t, reftest.Err(tiny(t, "mdlm").Exact(ctx, Whole([]int{1, 2}), s)), "no mass", "a network without scores")
}
