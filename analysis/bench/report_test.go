package bench_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/certificate"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/internal/reftest"
)

// study returns a small report with all parts.
func study(t testing.TB, seed uint64, cases ...string) *bench.Report {
	t.Helper()
	m := open(t, "xor3-mixed")
	all := cells(t, m, cases...)
	cfg := bench.Config{Repetitions: 4, Sequences: 20, Seed: seed, Keep: true}
	reps, complete, err := run(context.Background(), all, cfg)
	reftest.OK(t, err)
	e := bench.GroupErrors(all)
	reftest.OK(t, measure(context.Background(), e, 60, seed, nil))
	r := bench.Summarise(all, reps, bench.RunSettings{
		Sequences: 20, Repetitions: 4, Seed: seed, Confidence: 0.95, Quality: &bench.QualitySettings{Parts: bench.Parts(), ErrorSamples: 60},
	}, func(*bench.Cell) int { return 2 })
	r.Complete, r.Notes = complete, e.Notes
	evaluator := reftest.Must(likelihood.New(m, likelihood.Options{}))(t)
	for i := range all {
		nelbo := reftest.Must(bench.NELBOMetrics(context.Background(), evaluator, &all[i], reps, 4, 1, 0.95))(t)
		for k, metrics := range [][]bench.Metric{e.Metrics(&all[i]), bench.TextMetrics(&all[i], reps, 0.95), nelbo} {
			if metrics == nil {
				t.Fatalf("%s: no metrics of part %d", all[i].ID, k)
			}
			r.Cells[i].Quality = append(r.Cells[i].Quality, bench.NewQuality(&all[i], []string{bench.PartError, bench.PartText, bench.PartNELBO}[k], metrics))
		}
	}
	return &r
}

var usual = []string{"fhs", "parallel-fhs steps=2", "tweedie steps=4-16*2 noise=exp", "euler steps=4-16*2 noise=exp"}

func TestMarkdown(t *testing.T) {
	r := study(t, 1, usual...)
	var b strings.Builder
	reftest.OK(t, bench.Markdown(&b, r, "Made by a test."))
	got := b.String()
	for _, want := range []string{"| sampler ", "| steps |", "| tv (probability)", "≤ self nelbo (nats/token)", "calls (expected)", "Shared settings: ", "length=3", "batch=4", "Made by a test."} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	// Constant settings have no column, and every row has as many cells as the head.
	if strings.Contains(strings.SplitN(got, "\n", 2)[0], "length") {
		t.Errorf("a constant has a column:\n%s", got)
	}
	columns := 0
	for _, line := range strings.Split(got, "\n") {
		switch n := strings.Count(line, "|"); {
		case n == 0:
			columns = 0
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("%d cells in a table of %d: %s", n-1, columns-1, line)
		}
	}
}

// TestMarkdownNames checks that names chosen by users are escaped in Markdown, in cells and in
// paragraphs.
func TestMarkdownNames(t *testing.T) {
	r := study(t, 1, "fhs", "tweedie steps=4")
	name := "a|b`c`[d](e)<b>\n\n# *f*"
	r.Cells[0].Quality = []bench.Quality{{Metrics: []bench.Metric{{Name: name, Unit: "nats", Value: estimate.Estimate{Mean: 1}}}}}
	r.Notes = []string{name + " failed."}
	var b strings.Builder
	reftest.OK(t, bench.Markdown(&b, r, "model "+name))
	want := "a\\|b\\`c\\`\\[d\\](e)\\<b\\>\\n\\n# \\*f\\*"
	if n := strings.Count(b.String(), want); n != 3 {
		t.Errorf("%d times %s in\n%s", n, want, b.String())
	}
}

// TestLimits checks that no form presents a limit as an estimate, and that a limit without effect
// is replaced by the number of runs that would suffice.
func TestLimits(t *testing.T) {
	m := open(t, "markov4-sharp")
	all := cells(t, m, "fhs", "tweedie grid=lambda steps=64", "tweedie grid=lambda steps=1")
	few := bench.GroupCertificates(all)
	reftest.OK(t, few.Measure(context.Background(), certificate.Config{Runs: 4, Seed: 1}, nil, func(bench.CertifiedRun) error { return nil }))
	r := bench.Summarise(all, nil, bench.RunSettings{Confidence: 0.95}, func(*bench.Cell) int { return 1 })
	for i := range r.Cells {
		q := bench.NewQuality(&all[i], bench.PartCertificate, few.Metrics(&all[i]))
		if q.Metrics == nil {
			t.Fatal(all[i].ID)
		}
		r.Cells[i].Quality = []bench.Quality{q}
		for _, m := range q.Metrics {
			if _, limit := m.Value.Limit(); limit != strings.HasSuffix(m.Name, "_limit") {
				t.Errorf("%s: %+v", all[i].ID, m)
			}
		}
	}
	var text, csv strings.Builder
	reftest.OK(t, errors.Join(bench.Markdown(&text, &r), bench.CSV(&csv, &r)))
	tables, _ := bench.Tables(&r)
	quality := tables[1]
	at := slices.IndexFunc(quality.Head, func(s string) bool { return strings.Contains(s, "tv certificate limit") })
	for i, want := range []string{"^0$", `^0\.0[0-9]+$`, `^too few runs: [0-9]+ would suffice$`} {
		if got := quality.Rows[i][at]; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s, want %s", all[i].ID, got, want)
		}
	}
	if head := strings.SplitN(csv.String(), "\n", 2)[0]; !strings.Contains(head, "tv_certificate_limit_probability") || strings.Contains(head, "limit_probability_se") {
		t.Error(head)
	}
}

func TestCSV(t *testing.T) {
	r := study(t, 1, usual...)
	var b bytes.Buffer
	reftest.OK(t, bench.CSV(&b, r))
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 1+len(r.Cells) {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	at := func(name string) int {
		i := slices.Index(lines[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %q", name, lines[0])
		}
		return i
	}
	for i, c := range r.Cells {
		line := lines[1+i]
		if line[0] != c.ID || line[at("sampler")] != c.Settings.Get("sampler") || line[at("steps")] != c.Settings.Get("steps") {
			t.Errorf("%q", line)
		}
		for name, want := range map[string]float64{"total_s_per_sequence": c.Summary.Total.Mean, "total_s_per_sequence_se": c.Summary.Total.SE, "calls_per_sequence": c.Summary.Calls.Mean, "peak_memory_bytes": float64(c.Summary.PeakBytes)} {
			if got, err := strconv.ParseFloat(line[at(name)], 64); err != nil || got != want {
				t.Errorf("%s: %s is %q, want %v", c.ID, name, line[at(name)], want)
			}
		}
	}
}

func TestPlots(t *testing.T) {
	r := study(t, 1, usual...)
	plots := bench.Plots(r)
	var names []string
	for _, p := range plots {
		reftest.OK(t, p.Draw(io.Discard, "svg", 400, 300))
		seen := make(map[string]bool)
		bars := false
		for _, s := range p.Series {
			if seen[s.Name] {
				t.Errorf("%s: two series are %s", p.Name, s.Name)
			}
			seen[s.Name] = true
			bars = bars || slices.ContainsFunc(s.Points, func(at report.Point) bool { return at.Lo < at.Hi })
		}
		if bars && p.Bars == "" || strings.Contains(p.Caption, "NaN") || strings.Contains(p.Caption, "Inf") {
			t.Errorf("%s: %q, %q", p.Name, p.Bars, p.Caption)
		}
		names = append(names, p.Name)
		for _, s := range p.Series {
			if len(s.Points) == 0 {
				t.Errorf("%s: %s has no points", p.Name, s.Name)
			}
		}
	}
	for _, want := range []string{"seconds", "tokens", "calls-steps", "error-steps", "error-calls", "kl-calls", "self-nelbo-calls"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s in %q", want, names)
		}
	}
	tables, _ := bench.Tables(r)
	for _, table := range tables {
		for _, head := range table.Head {
			if !slices.ContainsFunc(bench.Words(r), func(f report.Fact) bool { return f.Name == head }) {
				t.Errorf("no word for %s", head)
			}
		}
	}
	if names[0] != "kl-calls" || names[len(names)-1] != "tokens" {
		t.Errorf("distance is not first, or seconds not last: %q", names)
	}
	card := r.Card()
	points := strings.Join(card.Points, "\n")
	if !strings.HasPrefix(card.Result, "Nearest to First-Hitting, by KL(P_FHS‖P_N)") || !strings.Contains(points, ". The farthest is ") || !strings.Contains(points, ".\n0, as First-Hitting itself: fhs") || !strings.Contains(points, ".\nA sequence takes from ") || len(card.Numbers) != 1 || !slices.Contains(card.Facts, report.Fact{Name: "settings", Text: fmt.Sprint(len(r.Cells))}) {
		t.Errorf("%+v", card)
	}
	equal := &bench.Report{}
	for _, c := range []struct {
		id        string
		kl, calls float64
	}{{"fhs", -1.07e-16, 4}, {"b", 0.5, 4}, {"d again", 0.125 + 1e-14, 4.1}, {"c", 0.25, math.NaN()}, {"d", 0.125, 4.1}, {"e", 1, 4.2}, {"f", 2, 2}, {"g", 3, 2}} {
		metrics := []bench.Metric{{Name: "kl", Unit: "nats", Value: estimate.Estimate{Mean: c.kl}}}
		equal.Cells = append(equal.Cells, bench.CellReport{ID: c.id, Summary: &bench.Summary{Calls: estimate.Estimate{Mean: math.NaN()}}, Quality: []bench.Quality{{Metrics: metrics}}, Expected: bench.Expected{Calls: estimate.Number(c.calls)}})
	}
	card = equal.Card()
	if got, want := card.Result+"\n"+strings.Join(card.Points, "\n"), "Nearest to First-Hitting, by KL(P_FHS‖P_N) over the whole canvas, in nats ± standard error\nAbout 2 calls: f: 2. The farthest is g: 3.\nAbout 4.1 calls: d and d again: 0.125. The farthest is e: 1.\n"+
		"Not compared, as their calls are not known: c.\n0, as First-Hitting itself: fhs.\nA sequence "; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	certified := &bench.Report{Settings: bench.RunSettings{Quality: &bench.QualitySettings{CertificateRuns: 8}}}
	for i, kl := range []estimate.Estimate{{}, {Mean: 1, SE: 0.4}, {Mean: 2, SE: 0.5}, {Mean: 3}} {
		certified.Cells = append(certified.Cells, bench.CellReport{ID: []string{"fhs", "b", "c", "d"}[i], Summary: &bench.Summary{}, Expected: bench.Expected{Calls: 4},
			Quality: []bench.Quality{{Metrics: []bench.Metric{{Name: "kl_certificate", Unit: "nats", Value: kl, Bound: "upper"}}}}})
	}
	card = certified.Card()
	if got, want := card.Result+"\n"+card.Points[0], "Least certified bound on KL(P_FHS‖P_N) over the whole canvas, in nats ± standard error\nAbout 4 calls: b: 1.00 ± 0.40. Indistinguishable from it: c: 2.00 ± 0.50. The greatest is d: 3."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if plots := bench.Plots(certified); plots[0].Name != "kl-certificate-calls" || len(plots[0].Series) != 4 {
		t.Errorf("%+v", plots)
	}
	if plots := bench.Plots(r); slices.ContainsFunc(plots, func(p report.Plot) bool {
		return strings.HasPrefix(p.Y, "TV") && slices.ContainsFunc(p.Series, func(s report.Series) bool {
			return slices.ContainsFunc(s.Points, func(at report.Point) bool { return at.Hi > 1 })
		})
	}) {
		t.Error("an interval of TV goes beyond 1")
	}
	r.Settings.Calls = []int{4}
	if slices.ContainsFunc(bench.Plots(r), func(p report.Plot) bool { return strings.HasSuffix(p.Name, "-steps") }) {
		t.Error("a picture is against steps where these stand for calls")
	}
	equal.Cells = equal.Cells[1:]
	equal.Cells[1].Quality = equal.Cells[0].Quality
	equal.Cells = equal.Cells[:2]
	equal.Cells[0].ID, equal.Cells[1].ID = "threshold threshold=0.1", "threshold threshold=0.5"
	if curves := bench.Plots(equal)[0].Series; len(curves) != 1 || curves[0].Name != "threshold" || len(curves[0].Points) != 2 {
		t.Errorf("thresholds are no curve: %+v", curves)
	}
	if got := bench.Plots(&bench.Report{Cells: []bench.CellReport{{ID: "fhs"}}}); len(got) > 0 {
		t.Errorf("nothing was measured, and %+v is drawn", got)
	}
}
