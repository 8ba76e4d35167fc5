package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
	"mdmgen/internal/reftest"
)

func sample() bound.Report {
	with := func(p report.Plot, name string, points ...report.Point) report.Plot {
		for _, at := range points {
			p.Add(name, "", at)
		}
		return p
	}
	points := []report.Point{{X: 1, Y: 0.5}, {X: 2, Y: 0.2, Lo: -0.1, Hi: 0.3}, {X: 4, Y: 0}, {X: 8, Y: math.NaN()}, {X: 16, Y: 0.01, Lo: 0.005, Hi: math.Inf(1)}}
	return bound.Report{
		Schema: bound.Schema, Mode: "text", Holds: true,
		Notes: []string{"a note with <b> & </script>"},
		Lines: []report.Line{
			{Name: "a.b", Statement: "x < y", Left: report.Value{Estimate: estimate.Estimate{Mean: 1.25, Lo: 1, Hi: 1.5, N: 4}}, Right: report.Exact(math.Inf(1)), Gap: report.Value{Estimate: estimate.Estimate{Mean: math.NaN()}}, Unit: "nats", OK: true, Verdict: "holds (exact)"},
			{Name: "c", Statement: "</script><script>", Unit: "TV", OK: false, Verdict: "violated"},
		},
		Plots: []report.Plot{
			with(report.Plot{Name: "p", Title: "T <&>", X: "N", Y: "TV", LogX: true, LogY: true}, "one & two", points...),
			with(report.Plot{Name: "gap", Title: "gap", X: "window", Y: "nats"}, "gap", points...),
			with(report.Plot{Name: "none", Title: "nothing", LogY: true}, "zero", report.Point{X: 1}),
		},
	}
}

// TestPage checks that the page stands by itself and that its JSON is the report.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Page(&b, map[string]string{"seed": "</script>1"}); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if got := strings.Count(s, "<script"); got != 1 {
		t.Errorf("%d script elements, want the one of the data", got)
	}
	for _, bad := range []string{"src=", "href=", "url(", "@import", "<link", "onload"} {
		if strings.Contains(strings.ReplaceAll(s, "xlink:href=\"#", ""), bad) {
			t.Errorf("the page holds %q: it must not ask for anything", bad)
		}
	}
	for _, want := range []string{"1.25 [1, 1.5]", "∞", "Violated: 1 of 2", "x &lt; y", "<svg", "there is no point to show", "currentColor", "prefers-color-scheme: dark"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	data := regexp.MustCompile(`(?s)<script type="application/json" id="report">(.*)</script>`).FindStringSubmatch(s)
	if data == nil {
		t.Fatal("no data")
	}
	var got struct {
		Schema     string
		Lines      []struct{ Statement string }
		Provenance map[string]string
	}
	if err := json.Unmarshal([]byte(data[1]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != bound.Schema || len(got.Lines) != 2 || got.Lines[1].Statement != "</script><script>" || got.Provenance["seed"] != "</script>1" {
		t.Errorf("data %+v", got)
	}
}

// TestPageWorld writes the page of a world; MDMGEN_PAGE names a folder that keeps it, to be
// looked at.
func TestPageWorld(t *testing.T) {
	for _, name := range []string{"xor3-mixed", "theorem5-point3", "timed3", "markov3-exact"} {
		r, err := bound.World(context.Background(), reftest.Data(t, "reference", "laws", name+".json"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Page(&b, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "ZgotmplZ") || strings.Count(b.String(), "<svg") != len(r.Plots) {
			t.Errorf("%s: %d pictures of %d", name, strings.Count(b.String(), "<svg"), len(r.Plots))
		}
		if dir := os.Getenv("MDMGEN_PAGE"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPlot(t *testing.T) {
	p := sample().Plots[0]
	var svg, picture bytes.Buffer
	if err := p.Draw(&svg, "svg", 400, 300); err != nil {
		t.Fatal(err)
	}
	if err := wellFormed(svg.Bytes()); err != nil {
		t.Errorf("svg: %v", err)
	}
	if err := p.Draw(&picture, "png", 400, 300); err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(&picture)
	if err != nil {
		t.Fatal(err)
	}
	if want := 400 * 192 / 72; abs(c.Width-want) > 1 {
		t.Errorf("png: %d pixels wide, want %d", c.Width, want)
	}
}

func abs(x int) int { return max(x, -x) }

func wellFormed(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestPlotRanges draws what makes axes difficult.
func TestPlotRanges(t *testing.T) {
	for name, points := range map[string][]report.Point{
		"one point":   {{X: 3, Y: 2}},
		"flat":        {{X: 1, Y: 2}, {X: 2, Y: 2}},
		"tiny":        {{X: 1, Y: 1e-99}, {X: 2, Y: 1e-90}},
		"wide":        {{X: 1, Y: 1e-99}, {X: 1e9, Y: 1e99}},
		"bar below 0": {{X: 1, Y: 1, Lo: -5, Hi: 2}, {X: 2, Y: 3, Lo: 2, Hi: 4}},
		"bar beside":  {{X: 1, Y: 1, Lo: 2, Hi: 3}},
	} {
		for _, log := range []bool{false, true} {
			p := report.Plot{Name: name, LogX: log, LogY: log, Series: []report.Series{{Name: "s", Points: points}}}
			if err := p.Draw(io.Discard, "svg", 300, 200); err != nil {
				t.Errorf("%s, log %v: %v", name, log, err)
			}
		}
	}
}

func TestPlotMistakes(t *testing.T) {
	p := sample().Plots[0]
	for name, err := range map[string]error{
		"format":   p.Draw(io.Discard, "gif", 300, 200),
		"size":     p.Draw(io.Discard, "svg", 0, 200),
		"nan size": p.Draw(io.Discard, "png", math.NaN(), 200),
		"no point": sample().Plots[2].Draw(io.Discard, "svg", 300, 200),
	} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
