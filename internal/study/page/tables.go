package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chosen is a table of a few columns, with the block after it that it is taken from.
var chosen = regexp.MustCompile("(?ms)^<!-- columns: ([^\n]*) -->\n(.*?)^<!-- end of columns -->\n.*?^```\n")

// Derive makes a page's tables of a few columns anew. Between the lines
//
//	<!-- columns: sampler, steps, calls -->
//	<!-- end of columns -->
//
// stand those columns of the wide tables that the next block shows. It is an error where these do
// not have them.
func Derive(text string) (string, error) {
	var fault error
	out := chosen.ReplaceAllStringFunc(text, func(found string) string {
		m := chosen.FindStringSubmatch(found)
		blocks := Read(found)
		if len(blocks) != 1 || !blocks[0].Shown {
			fault = fmt.Errorf("the columns %s: no output stands below them", m[1])
			return found
		}
		table, err := narrow(blocks[0].Output, strings.Split(m[1], ", "))
		if err != nil {
			fault = err
			return found
		}
		return strings.Replace(found, m[2]+"<!-- end", table+"<!-- end", 1)
	})
	return out, fault
}

// narrow is a table of some columns of an output.
func narrow(output string, columns []string) (string, error) {
	for _, t := range wide(output) {
		at := make([]int, len(columns))
		for i, c := range columns {
			at[i] = slices.Index(t[0], c)
		}
		if slices.Contains(at, -1) {
			continue
		}
		var b strings.Builder
		for n, row := range t {
			for _, i := range at {
				b.WriteString("| " + row[i] + " ")
			}
			b.WriteString("|\n")
			if n == 0 {
				b.WriteString(strings.Repeat("| --- ", len(at)) + "|\n")
			}
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("no table of an output has the columns %s", strings.Join(columns, ", "))
}

// wide are the tables of an output by rows of cells, the names of the columns first. Those that
// follow each other and have the same rows, by their first cells, are one.
func wide(output string) (tables [][][]string) {
	for part := range strings.SplitSeq(output, "\n\n") {
		var t [][]string
		for line := range strings.Lines(part) {
			if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| --") {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				t = append(t, cells)
			}
		}
		if len(t) == 0 {
			continue
		}
		if n := len(tables) - 1; n >= 0 && slices.EqualFunc(tables[n], t, func(a, b []string) bool { return a[0] == b[0] }) {
			for i := range t {
				tables[n][i] = append(tables[n][i], t[i]...)
			}
		} else {
			tables = append(tables, t)
		}
	}
	return tables
}
