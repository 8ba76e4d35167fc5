package kit_test

import (
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	most := strings.Repeat("y", kit.MaxLine)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil}, {"\n", []string{""}}, {"a", []string{"a"}}, {"a\r\n\nb\r", []string{"a", "", "b"}}, {long + "\nb\n" + long, []string{long, "b", long}}, {most + "\r\nz", []string{most, "z"}},
	} {
		var got []string
		for l, err := range kit.Lines(strings.NewReader(c.text), "x") {
			if err != nil || l.N != len(got)+1 {
				t.Fatalf("line %d: %v, want line %d", l.N, err, len(got)+1)
			}
			got = append(got, string(l.Text))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") || len(got) != len(c.want) {
			t.Errorf("%.20q: %d lines, want %d", c.text, len(got), len(c.want))
		}
	}
	for l, err := range kit.Lines(strings.NewReader("a\n"+most+"y\nz\n"), "x") {
		if l.N != 1 && (err == nil || !strings.HasPrefix(err.Error(), "x:2: ")) {
			t.Errorf("one byte too many: line %d, %v", l.N, err)
		}
	}
}
