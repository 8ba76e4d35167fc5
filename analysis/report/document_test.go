package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestWrite checks the parts of a page that no report of package bound has.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, Document{
		Title: "A <study>", Unfinished: "Half of it.", Notes: []string{"one & two"},
		Tables: []Table{{Title: "Costs", Head: []string{"cell", "calls"}, Rows: [][]string{{"<fhs>", "8 ± 1"}}, Numbers: 1}},
		Data:   map[string]string{"schema": "x</script>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := b.String()
	for _, want := range []string{"<title>A &lt;study&gt;</title>", "Half of it.", "one &amp; two", "<h2>Costs</h2>", `<th>cell</th><th class="n">calls</th>`, `<td>&lt;fhs&gt;</td><td class="n">8 ± 1</td>`, `{"schema":"x\u003c/script\u003e"}`} {
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

// TestStyles: a line has the colour of the series that it belongs to and no marks; rings
// stand alone.
func TestStyles(t *testing.T) {
	at := []Point{{X: 1, Y: 1}, {X: 2, Y: 0.5}}
	draw := func(list ...Series) string {
		var b bytes.Buffer
		if err := (Plot{Name: "p", X: "N", LogX: true, Series: list}).Draw(&b, "svg", 300, 200); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	measured, expected := Series{Name: "euler", Style: StylePoints, Points: at}, Series{Name: "euler, expected", Style: StyleLine, Points: at}
	both := draw(measured, expected)
	if strings.Contains(both, "#D55E00") || !strings.Contains(both, "#0072B2") {
		t.Error("the line has another colour than its series")
	}
	other := expected
	other.Name = "tweedie, expected"
	if !strings.Contains(draw(measured, other), "#D55E00") {
		t.Error("a line to no series has no colour of its own")
	}
	if looks([]Series{{Name: "a"}, {Name: "a b"}, {Name: "a b, expected", Style: StyleLine}}, 2) != 1 {
		t.Error("a line takes the looks of another series")
	}
	front := draw(Series{Name: "euler", Points: at}, Series{Name: "Pareto front", Style: StyleMarks, Points: at})
	if !strings.Contains(front, "#808080") {
		t.Error("the front is not grey")
	}
}
