package bound

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"mdmgen/analysis/laws"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

func openWorld(t *testing.T, name string) (*world.World, *likelihood.Evaluator) {
	t.Helper()
	w, _ := lawstest.Open(t, name)
	return w, reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
}

// tiny opens a small random checkpoint. It skips the test without ONNX Runtime.
func tiny(t testing.TB, name string) (model.Model, *likelihood.Evaluator) {
	t.Helper()
	m, err := model.Open(context.Background(), reftest.Data(t, "reference", "checkpoints", name), model.Options{Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	return m, reftest.Must(likelihood.New(m, likelihood.Options{}))(t)
}

// grids returns Euler and Tweedie with several numbers of steps, from T = 6 to δ = 0.01.
func grids(t testing.TB, finish string, steps ...int) []Case {
	t.Helper()
	var out []Case
	for _, name := range []string{"euler", "tweedie"} {
		for _, n := range steps {
			s := reftest.Must(catalog.New(catalog.Options{Sampler: name, Steps: n, PlanOptions: catalog.PlanOptions{T: new(catalog.Theta(6)), Delta: new(catalog.Theta(0.01)), Grid: "lambda", Finish: finish}}, samplers.Spec{}))(t)
			out = append(out, Case{name, n, s})
		}
	}
	return out
}

// sequences returns all texts of a world.
func sequences(w *world.World) (out []likelihood.Target) {
	space := laws.NewSpace(w.Facts().Length, w.Facts().Columns)
	for i := range space.Sequences {
		out = append(out, likelihood.Whole(space.Sequence(i)))
	}
	return out
}

// Text returns the report of a study whose chunks are all computed here. If ctx ends, it covers the
// chunks finished.
func Text(ctx context.Context, m model.Model, e *likelihood.Evaluator, ts []likelihood.Target, cluster []int, cfg Config) (Report, error) {
	s, err := NewStudy(m, e, ts, cluster, cfg)
	if err != nil {
		return Report{}, err
	}
	for i := range s.Chunks() {
		c, err := s.Work(ctx, i)
		if err == nil {
			err = s.Take(c)
		}
		if err != nil && (i == 0 || ctx.Err() == nil) {
			return Report{}, err
		}
		if err != nil {
			return s.Report(), err
		}
		if cfg.Done != nil {
			cfg.Done(s.Size(i))
		}
	}
	return s.Report(), nil
}

func find(t testing.TB, r Report, name string) report.Line {
	t.Helper()
	for _, l := range r.Lines {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no line %s", name)
	return report.Line{}
}

// checkForm checks the form of a report: lines with sides, verdicts of known forms, JSON.
func checkForm(t testing.TB, r Report) {
	t.Helper()
	if r.Schema != Schema || len(r.Lines) == 0 || len(r.Notes) == 0 {
		t.Errorf("report %+v", r)
	}
	seen := make(map[string]bool)
	for _, l := range r.Lines {
		if seen[l.Name] || l.Statement == "" || l.Unit == "" {
			t.Errorf("line %+v", l)
		}
		seen[l.Name] = true
		known := l.Verdict == ""
		for _, form := range []string{"holds (exact): D", "holds, one-sided 99.9 %", "equal within ", "not resolved: ", "violated: "} {
			known = known || strings.HasPrefix(l.Verdict, form)
		}
		if !known || l.OK == strings.HasPrefix(l.Verdict, "violated") {
			t.Errorf("line %s: verdict %q, %t", l.Name, l.Verdict, l.OK)
		}
	}
	reftest.Must(json.Marshal(r))(t)
}

// TestTextOfWorld compares the lines of a text that consists of all sequences of a world with the
// laws in the world's file.
func TestTextOfWorld(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "theorem5-point3", "markov3-exact"} {
		w, e := openWorld(t, name)
		ts := sequences(w)
		r := reftest.Must(Text(context.Background(), w, e, ts, nil, Config{Cases: grids(t, "", 4, 8, 16), Seed: 3}))(t)
		checkForm(t, r)
		if !r.Holds {
			t.Errorf("%s: %+v", name, r.Lines)
		}
		want := 0.0
		for _, x := range laws.NegLog(lawstest.FHS(t, w)) {
			want += x / float64(len(ts))
		}
		if got := find(t, r, "jensen").Left.Mean; got != want && math.Abs(got-want) > 1e-10*want {
			t.Errorf("%s: E[−log P_FHS] is %v, want %v", name, got, want)
		}
		if math.IsInf(want, 1) {
			continue
		}
		gap := find(t, r, "jensen").Gap.Mean
		if exact := name != "xor3-mixed"; exact != (gap < 1e-12) {
			t.Errorf("%s: the gap is %v", name, gap)
		}
	}
}

// TestTextOfNetwork checks laws that hold for any rows, on small random networks.
func TestTextOfNetwork(t *testing.T) {
	for _, name := range []string{"mdlm", "radd"} {
		m, e := tiny(t, name)
		ts := []likelihood.Target{
			likelihood.Whole([]int{5, 17, 9, 99, 3}), likelihood.Whole([]int{1, 2, 3, 4, 5}), likelihood.Whole([]int{8, 8, 8, 8, 8}),
			{IDs: []int{5, 17, 9, 99, 3, 42}, Free: []int{1, 2, 4, 5}},
		}
		done := 0
		r := reftest.Must(Text(context.Background(), m, e, ts, nil, Config{Cases: grids(t, "", 2, 8), Seed: 1, Done: func(n int) { done += n }}))(t)
		checkForm(t, r)
		if !r.Holds || done != 4 {
			t.Errorf("%s: %d windows, %+v", name, done, r.Lines)
		}
		if gap := find(t, r, "jensen").Gap; !(gap.Mean > 0) {
			t.Errorf("%s: gap %+v", name, gap)
		}
		// p* > 0 needs as many calls as positions, including the last call.
		if l := find(t, r, "collision euler 2"); !strings.Contains(l.Verdict, "p* = 0") {
			t.Errorf("%s: %+v", name, l)
		}
		again, err := Text(context.Background(), m, e, ts, nil, Config{Cases: grids(t, "", 2, 8), Seed: 1})
		if a, b := fmt.Sprintf("%+v", r), fmt.Sprintf("%+v", again); err != nil || a != b {
			t.Errorf("%s: two runs differ: %v", name, err)
		}
	}
}
