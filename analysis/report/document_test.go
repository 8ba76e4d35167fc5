package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// made describes what made a page.
type made struct{ Schema string }

func (made) Card() Card {
	return Card{Result: "It is <small>.", Numbers: []Fact{{"gap", "1"}}, Facts: []Fact{{"seed", "7"}}, Command: "mdmgen bound a<b"}
}

// TestWrite checks the parts of a page that no report of package bound has.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, Document{
		Title: "A <study>", Unfinished: "Half of it.", Notes: []string{"one & two"},
		Tables: []Table{{Title: "Costs", Head: []string{"cell", "calls"}, Rows: [][]string{{"<fhs>", "8 ± 1"}}, Numbers: 1}},
		Data:   made{"x</script>"},
	})
	reftest.OK(t, err)
	s := b.String()
	for _, want := range []string{
		"<title>A &lt;study&gt;</title>", "Half of it.", "one &amp; two", `<h2 id="table-0">Costs</h2>`, `<a href="#table-0">Costs</a>`, `<th>cell</th><th class="n">calls</th>`, `<td data-k="cell">&lt;fhs&gt;</td><td class="n" data-k="calls">8 ± 1</td>`, `{"Schema":"x\u003c/script\u003e"}`,
		`<p class="result">It is &lt;small&gt;.</p>`, "<dt>gap</dt><dd>1</dd>", "<dt>seed</dt><dd>7</dd>", "mdmgen bound a&lt;b</code>",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"Statements", "judged", "Pictures", "Laws", "Where it comes from"} {
		if strings.Contains(s, not) {
			t.Errorf("the page has %q, which it was not given", not)
		}
	}
}

func TestCounts(t *testing.T) {
	line := func(k Kind) Line { return Line{Judgement: Judge(k, ": x")} }
	got := fmt.Sprint(Counts([]Line{line(HoldsExactly), line(Equal), line(Violated), line(NotResolved), line(NotJudged), line(NotJudged)}))
	if want := "[{violated 1 statement is violated} {holds 2 statements hold} {open 1 statement is not resolved} {none 2 statements have no verdict}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Counts(nil); got != nil {
		t.Errorf("nothing is counted as %v", got)
	}
}

// TestVacuous checks that statements without a claim are folded, and violated ones never.
func TestVacuous(t *testing.T) {
	upper := func(x float64) Value { v := Exact(x); v.Bound = "upper"; return v }
	for _, c := range []struct {
		l    Line
		want bool
	}{
		{Line{Right: upper(1), Unit: "probability"}, true},
		{Line{Right: upper(0.9), Unit: "probability"}, false},
		{Line{Right: upper(2), Unit: "nats"}, false},
		{Line{Right: upper(math.Inf(1)), Unit: "nats"}, true},
		{Line{Right: Exact(1.4), Unit: "TV", Judgement: Judge(HoldsExactly, "")}, true},
		{Line{Right: Exact(1), Unit: "TV", Judgement: Judge(Equal, " 1e-10")}, false},
		{Line{Right: Exact(math.Inf(1)), Unit: "nats", Judgement: Judge(Equal, " 1e-10")}, false},
		{Line{Right: Exact(math.NaN()), Unit: "TV"}, false},
	} {
		if c.l.OK = true; vacuous(c.l) != c.want {
			t.Errorf("%+v: %v", c.l, !c.want)
		}
		if c.l.OK = false; vacuous(c.l) {
			t.Errorf("%+v is violated, and folded", c.l)
		}
	}
}

// TestValue checks that an interval shows two digits of its width, and that infinite intervals are
// not shown.
func TestValue(t *testing.T) {
	v := Value{}
	v.Mean, v.Lo, v.Hi = 35.3264, 33.0728, 37.5799
	if got := v.String(); got != "35.3 [33.1, 37.6]" {
		t.Errorf("%s", got)
	}
	v.Mean, v.Lo, v.Hi = 2.3184e-5, -7.1e-6, 5.34567e-5
	if got := v.String(); got != "2.32e−5 [−7.1e−6, 5.35e−5]" {
		t.Errorf("%s", got)
	}
	v.Mean, v.Lo, v.Hi, v.Bound = 35.3264, math.Inf(-1), math.Inf(1), "upper"
	if got := v.String(); got != "≤ 35.3264 (error not known)" {
		t.Errorf("%s", got)
	}
	if v.Mean = math.NaN(); v.String() != "–" {
		t.Errorf("%s", v)
	}
	if v = Exact(math.Copysign(0, -1)); v.String() != "0" {
		t.Errorf("%s", v)
	}
}

// TestPalette checks that all colours are visible on white and on a dark page.
func TestPalette(t *testing.T) {
	for _, c := range palette {
		for _, page := range []color.RGBA{{0xff, 0xff, 0xff, 0xff}, {0x15, 0x18, 0x1e, 0xff}} {
			rgba, ok := c.(color.RGBA)
			if x := contrast(rgba, page); ok && x < 3 { // black becomes the colour of the text
				t.Errorf("%v: contrast %.2f on %v", c, x, page)
			}
		}
	}
}

// contrast returns the contrast ratio of WCAG 2.
func contrast(a, b color.RGBA) float64 {
	luminance := func(c color.RGBA) float64 {
		part := func(v uint8) float64 {
			if x := float64(v) / 255; x > 0.04045 {
				return math.Pow((x+0.055)/1.055, 2.4)
			} else {
				return x / 12.92
			}
		}
		return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestLooks checks that series shown together look different, except a line that belongs to another
// series, which has its colour and no name in the legend.
func TestLooks(t *testing.T) {
	var p Plot
	for _, name := range []string{"euler", "euler grid=paper", "tweedie", "a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		p.Add(name, "", Point{X: 1, Y: 1})
	}
	for i := range 42 {
		p.Add(fmt.Sprint("more ", i), "", Point{X: 1, Y: 1})
	}
	p.Add("euler grid=paper, expected", StyleLine, Point{X: 1, Y: 1})
	looks := p.looks()
	seen := make(map[string]bool)
	for _, s := range p.named() {
		key := fmt.Sprintf("%v %T", looks[s.Name].line.Color, looks[s.Name].glyph.Shape)
		if seen[key] {
			t.Errorf("%s looks like another", s.Name)
		}
		seen[key] = true
	}
	if looks["euler grid=paper, expected"].line.Color != looks["euler grid=paper"].line.Color || len(p.named()) != 54 {
		t.Error("a line has another colour than its series")
	}
}

// TestAlike checks that a series looks the same in all plots shown together, whatever else each
// contains, and that plots without common series start anew.
func TestAlike(t *testing.T) {
	plots := make([]Plot, 3)
	for i, names := range [][]string{{"fhs", "euler", "spread"}, {"spread", "klass", "euler"}, {"windows"}} {
		for _, name := range names {
			plots[i].Add(name, "", Point{X: 1, Y: 1})
		}
	}
	plots = Shown(plots...)
	first, second := plots[0].looks(), plots[1].looks()
	for _, name := range []string{"spread", "euler"} {
		if first[name].line.Color != second[name].line.Color {
			t.Errorf("%s has two colours", name)
		}
	}
	if c := second["klass"].line.Color; c == second["spread"].line.Color || c == second["euler"].line.Color || c == first["fhs"].line.Color {
		t.Error("klass looks like another")
	}
	if plots[2].looks()["windows"].line.Color != palette[0] {
		t.Error("what shares no series does not begin anew")
	}
}

// TestLogTicks checks that no tick is beyond the axis, however powers of ten are rounded, and that
// a short axis has labels between powers.
func TestLogTicks(t *testing.T) {
	for low := -6; low < 3; low++ {
		for high := low + 1; high < 5; high++ {
			var labels []string
			most := math.Pow(10, float64(high))
			for _, tick := range (logTicks{labels: high-low <= 2}).Ticks(math.Pow(10, float64(low)), most) {
				if tick.Value > most*(1+1e-6) {
					t.Errorf("1e%d to 1e%d: a tick at %v", low, high, tick.Value)
				}
				if tick.Label != "" {
					labels = append(labels, tick.Label)
				}
			}
			want := high - low + 1
			if high-low <= 2 {
				want += 2 * (high - low)
			}
			if len(labels) != want {
				t.Errorf("1e%d to 1e%d: labels %q, want %d", low, high, labels, want)
			}
		}
	}
}

// TestUnplaced checks that a value of 0 stays among the numbers, and that the text says why it is
// not drawn.
func TestUnplaced(t *testing.T) {
	p := Plot{LogY: true}
	p.Add("s", "", Point{X: 1, Y: 1})
	p.Add("s", "", Point{X: 2, Y: 0})
	p.Add("none", "", Point{X: 2, Y: 0})
	if rows := p.numbers().Rows; len(rows) != 3 || !strings.Contains(p.says(), "A logarithmic axis cannot show the values of 0 or less of s and none.") {
		t.Errorf("%v: %s", rows, p.says())
	}
	if placed := p.placed(); len(placed) != 1 || placed[0].Name != "s" {
		t.Errorf("the legend has %v", placed)
	}
}

// TestLegend checks that the names in the legend are below each other, complete and inside the
// picture.
func TestLegend(t *testing.T) {
	p := Plot{Name: "p", LogX: true, LogY: true}
	for i := range 28 {
		name := fmt.Sprintf("name%02d", i)
		p.Add(name, "", Point{X: 1, Y: 1})
		p.Add(name, "", Point{X: 2, Y: 0.5})
	}
	var b bytes.Buffer
	reftest.OK(t, p.Draw(&b, "svg", 400, p.Height(260)))
	var at []float64
	for _, m := range regexp.MustCompile(`y="(-[0-9.]+)"[^>]*>name`).FindAllStringSubmatch(b.String(), -1) {
		at = append(at, reftest.Must(strconv.ParseFloat(m[1], 64))(t))
	}
	slices.Sort(at)
	for i := 1; i < len(at); i++ {
		if at[i]-at[i-1] < fontSize {
			t.Errorf("names at %v and %v", at[i-1], at[i])
		}
	}
	if len(at) != 28 || at[0] < -p.Height(260)+260/2 || at[27] > 0 {
		t.Errorf("%d names from %v", len(at), at)
	}
}

// TestHidden checks that series that coincide with another are named.
func TestHidden(t *testing.T) {
	var p Plot
	for i, name := range []string{"a", "b", "c", "d"} {
		p.Add(name, "", Point{X: 1, Y: float64(i / 3)})
	}
	if got := p.says(); got != "On a lie b and c." {
		t.Errorf("%s", got)
	}
}

// TestOnePoint checks that a plot of one point names it.
func TestOnePoint(t *testing.T) {
	p := Plot{Name: "p"}
	p.Add("lonely", "", Point{X: 1, Y: 1})
	var b bytes.Buffer
	if err := p.Draw(&b, "svg", 400, p.Height(260)); err != nil || !strings.Contains(b.String(), ">lonely<") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// TestSaid checks names of samplers, N, T and δ in words.
func TestSaid(t *testing.T) {
	t.Parallel()
	for about, want := range map[string]string{
		"": "", "T=6.90776": "T = 6.90776", "delta=0.01": "δ = 0.01", "T=5": "T = 5",
		"euler.N=4": "euler, N = 4", "euler,grid=uniform,delta=0.1.N=2": "euler grid=uniform δ = 0.1, N = 2", "tau-any.paper.N=16": "tau-leaping, the paper’s grid, N = 16", "paper.N=16": "the paper’s grid, N = 16",
		"N=8": "N = 8", "euler,grid=paper.N=8": "euler grid=paper, N = 8", "random-sizes.N=2": "random-sizes, N = 2",
		"parallel-fhs 8": "parallel-fhs, N = 8", "confidence": "confidence",
	} {
		if got := Said(about); got != want {
			t.Errorf("%s: %q, want %q", about, got, want)
		}
	}
}
