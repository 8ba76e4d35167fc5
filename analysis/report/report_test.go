package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/analysis/bound"
	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
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
			{Name: "a.b", Statement: "x < y", Left: report.Value{Estimate: estimate.Estimate{Mean: 1.25, Lo: 1, Hi: 1.5, N: 4}}, Right: report.Exact(math.Inf(1)), Gap: report.Value{Estimate: estimate.Estimate{Mean: math.NaN()}}, Unit: "nats", Judgement: report.Judge(report.HoldsExactly, "")},
			{Name: "c", Statement: "</script><script>", Unit: "TV", Judgement: report.Judge(report.Violated, "")},
		},
		Plots: []report.Plot{
			with(report.Plot{Name: "p", Title: "T <&>", X: "N", Y: "TV", LogX: true, LogY: true}, "one & two", points...),
			with(report.Plot{Name: "gap", Title: "gap", X: "window", Y: "nats"}, "gap", points...),
			with(report.Plot{Name: "none", Title: "nothing", LogX: true}, "zero", report.Point{}),
		},
	}
}

// TestPage checks that the page is self-contained and that its JSON is the report.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	reftest.OK(t, sample().Page(&b, map[string]string{"seed": "</script>1"}))
	s := b.String()
	if got := strings.Count(s, "<script"); got != 1 {
		t.Errorf("%d script elements, want the one of the data", got)
	}
	for _, bad := range []string{"src=", "href=", "url(", "@import", "<link", "onload"} {
		if strings.Contains(strings.ReplaceAll(s, "href=\"#", ""), bad) {
			t.Errorf("the page holds %q: it must not ask for anything", bad)
		}
	}
	for _, want := range []string{"1.25 [1.00,\u00a01.50]", "∞", "1 statement is violated", "1 statement holds", "x &lt; y", "<svg", "There is no point to show", "currentColor", "prefers-color-scheme: dark"} {
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
	reftest.OK(t, json.Unmarshal([]byte(data[1]), &got))
	if got.Schema != bound.Schema || len(got.Lines) != 2 || got.Lines[1].Statement != "</script><script>" || got.Provenance["seed"] != "</script>1" {
		t.Errorf("data %+v", got)
	}
}

// TestPages writes a page of every mode; MDMGEN_PAGE names a folder to keep them for inspection.
func TestPages(t *testing.T) {
	for name, r := range reports(t) {
		var b bytes.Buffer
		reftest.OK(t, r.Page(&b, nil))
		s := b.String()
		if n := strings.Count(s, "<figure "); n != len(r.Plots) || n == 0 || strings.Contains(s, "There is no point") {
			t.Errorf("%s: %d pictures of %d", name, n, len(r.Plots))
		}
		data := strings.Index(s, "<script")
		for _, bad := range []string{"NaN", "Inf", "ZgotmplZ", "None of", "[−∞", "∞]", ">−0<"} {
			if strings.Contains(s[:data], bad) {
				t.Errorf("%s: the page has %q", name, bad)
			}
		}
		for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(s, -1) {
			reftest.OK(t, valid([]byte(svg)), name)
		}
		judged := 0
		for _, m := range regexp.MustCompile(`<li class="(?:holds|open|violated|none)">(\d+) statements? `).FindAllStringSubmatch(s, -1) {
			n, _ := strconv.Atoi(m[1])
			judged += n
		}
		if judged != len(r.Lines) {
			t.Errorf("%s: %d of %d statements are counted", name, judged, len(r.Lines))
		}
		if !strings.Contains(s, `<p class="result">`) {
			t.Errorf("%s: the page does not say what was found", name)
		}
		ids := make(map[string]bool)
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(s, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two elements are %s", name, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(s, -1) {
			if !ids[m[1]] {
				t.Errorf("%s: nothing is %s", name, m[1])
			}
		}
		for _, p := range r.Plots {
			for _, series := range p.Series {
				if p.Bars == "" && slices.ContainsFunc(series.Points, func(at report.Point) bool { return at.Lo < at.Hi }) {
					t.Errorf("%s: %s does not say what its bars are", name, p.Name)
				}
			}
		}
		if dir := os.Getenv("MDMGEN_PAGE"); dir != "" {
			reftest.OK(t, os.WriteFile(filepath.Join(dir, name+".html"), b.Bytes(), 0o600))
		}
	}
}

// reports returns a report of every mode.
func reports(t *testing.T) map[string]bound.Report {
	t.Helper()
	ctx, out := context.Background(), make(map[string]bound.Report)
	keep := func(name string, r bound.Report, err error) {
		reftest.OK(t, err, name)
		out[name] = r
	}
	for _, name := range []string{"xor3-mixed", "theorem5-point3", "timed3", "markov3-exact"} {
		r, err := bound.World(ctx, reftest.Data(t, "reference", "laws", name+".json"), nil)
		keep(name, r, err)
	}
	m, _ := lawstest.Open(t, "xor3-mixed")
	e := reftest.Must(likelihood.New(m, likelihood.Options{}))(t)
	cfg := bound.Config{Draws: 40, Seed: 1}
	for _, name := range []string{"euler", "tweedie", "parallel-fhs"} {
		for _, n := range []int{2, 8, 16, 32} {
			cfg.Cases = append(cfg.Cases, bound.Case{Name: name, N: n, Sampler: reftest.Must(catalog.New(catalog.Options{Sampler: name, Steps: n}, m.Spec()))(t)})
		}
	}
	ts := []likelihood.Target{likelihood.Whole([]int{0, 1, 1}), likelihood.Whole([]int{1, 1, 0}), likelihood.Whole([]int{0, 0, 0})}
	plan, err := bound.Plan(ctx, 8, cfg.Cases)
	keep("plan", plan, err)
	text := func(name string, ts []likelihood.Target, plans int) {
		cfg.Plans = plans
		study := reftest.Must(bound.NewStudy(m, e, ts, nil, cfg))(t)
		for i := range study.Chunks() {
			c, err := study.Work(ctx, i)
			reftest.OK(t, errors.Join(err, study.Take(c)))
		}
		keep(name, study.Report(), nil)
	}
	text("text", ts, 0)
	text("one-window", ts[:1], 0)
	text("long", ts, 8)
	chain, err := bound.Chain(ctx, m, e, ts[0], cfg)
	keep("chain", chain, err)
	return out
}

func TestPlot(t *testing.T) {
	p := sample().Plots[0]
	p.X = "λ‖"
	var svg, pdf bytes.Buffer
	reftest.OK(t, p.Draw(&svg, "svg", 400, 300))
	reftest.OK(t, valid(svg.Bytes()), "svg:")
	if s := svg.String(); !strings.Contains(s, "<title>T &lt;&amp;&gt;</title>") || !strings.Contains(s, ">λ‖<") {
		t.Errorf("svg has no title, or no letters:\n%.500s", s)
	}
	if err := p.Draw(&pdf, "pdf", 400, 300); err != nil || !bytes.HasPrefix(pdf.Bytes(), []byte("%PDF-")) {
		t.Errorf("pdf: %v, %.20q", err, pdf.Bytes())
	}
}

var (
	styles  = regexp.MustCompile(`^(fill|stroke):(#[0-9A-F]{6}|none|currentColor)$|^(fill-opacity|stroke-opacity|stroke-width|font-size|stroke-dashoffset):[0-9.]+(px)?$|^stroke-dasharray:([0-9.]+(,[0-9.]+)*|none)$|^font-[a-z]+:.+$`)
	numbers = regexp.MustCompile(`^-?[0-9]*\.?[0-9]+(e[-+]?[0-9]+)?(pt)?$`)
	path    = regexp.MustCompile(`^([MLA]-?[0-9][-0-9.e,+ ]*|Z)+$`)
)

// valid returns an error if an SVG picture is not XML, or has an attribute that no browser accepts,
// such as the fill #-8000 or the width −1.
func valid(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			ok := true
			switch a.Name.Local {
			case "style":
				for _, s := range strings.Split(strings.Trim(a.Value, ";"), ";") {
					ok = ok && styles.MatchString(s)
				}
			case "width", "height", "font-size":
				ok = numbers.MatchString(a.Value) && a.Value[0] != '-'
			case "x", "y":
				ok = numbers.MatchString(a.Value)
			case "d":
				ok = path.MatchString(a.Value)
			default:
				ok = !strings.Contains(a.Value, "NaN") && !strings.Contains(a.Value, "Inf")
			}
			if !ok {
				return fmt.Errorf("<%s %s=%q>", e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

// TestDocs checks that the pictures of the documents are as valid as newly drawn ones.
func TestDocs(t *testing.T) {
	replayed := []string{"generate.svg", "confidence-16-calls.svg", "random-groups-16-calls.svg", "remdm.svg", "spread-16-calls.svg"} // drawings of mdmgen replay, of their own
	n := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "docs"), func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".svg" || slices.Contains(replayed, filepath.Base(name)) {
			return err
		}
		b, err := os.ReadFile(name)
		if err == nil {
			err = valid(b)
		}
		if n++; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil || n < 10 {
		t.Errorf("%d pictures, %v", n, err)
	}
}

// TestPlotRanges draws points that are difficult for axes.
func TestPlotRanges(t *testing.T) {
	for name, points := range map[string][]report.Point{
		"one point":   {{X: 3, Y: 2}},
		"flat":        {{X: 1, Y: 2}, {X: 2, Y: 2}},
		"tiny":        {{X: 1, Y: 1e-99}, {X: 2, Y: 1e-90}},
		"wide":        {{X: 1, Y: 1e-99}, {X: 1e9, Y: 1e99}},
		"bar below 0": {{X: 1, Y: 1, Lo: -5, Hi: 2}, {X: 2, Y: 3, Lo: 2, Hi: 4}},
		"zero":        {{X: 1}, {X: 2, Y: -1}},
		"two of one":  {{X: 2, Y: 1}, {X: 2, Y: 3}, {X: 1, Y: 3}},
		"bar beside":  {{X: 1, Y: 1, Lo: 2, Hi: 3}},
		"bar too far": {{X: 1, Y: 1, Lo: -1, Hi: 2}, {X: 2, Y: 1e-17, Lo: 0, Hi: 2e-17}},
	} {
		for _, log := range []bool{false, true} {
			p := report.Plot{Name: name, LogX: log, LogY: log, Series: []report.Series{{Name: "s", Points: points}}}
			var b bytes.Buffer
			reftest.OK(t, p.Draw(&b, "svg", 300, 200), name, ", log", log)
			reftest.OK(t, valid(b.Bytes()), name, ", log", log)
		}
	}
}

func TestPlotMistakes(t *testing.T) {
	p := sample().Plots[0]
	for name, err := range map[string]error{
		"format":   p.Draw(io.Discard, "gif", 300, 200),
		"no point": sample().Plots[2].Draw(io.Discard, "svg", 300, 200),
	} {
		reftest.FailsInLine(t, err, "", name)
	}
}

// TestTeX checks that characters special to LaTeX are escaped, and that the table uses booktabs.
func TestTeX(t *testing.T) {
	var b bytes.Buffer
	report.Table{Title: "Cost", Head: []string{"sampler", "tv (50 %)"}, Rows: [][]string{{`a_b{\}`, "1.5 ± 0.2"}, {"<c>", "–"}}, Numbers: 1}.TeX(&b)
	const want = `% Cost
\noindent\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
\begin{tabular}{@{}lr@{}}
\toprule
sampler & tv \\
 & (50 \%) \\
\midrule
a\_b\{\textbackslash{}\} & 1.5 $\pm$ 0.2 \\
$<$c$>$ & -- \\
\bottomrule
\end{tabular}}
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
