package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chosen is a table of a few columns.
var chosen = regexp.MustCompile("(?ms)^<!-- columns: ([^\n]*) -->\n(.*?)^<!-- end of columns -->\n")

// Derive makes a page's tables of a few columns anew. Between the lines
//
//	<!-- columns: sampler, steps, calls -->
//	<!-- end of columns -->
//
// stand those columns of the wide tables that the next block shows. It is an error where these do
// not have them.
func Derive(text string) (string, error) {
	var b strings.Builder
	for {
		at := chosen.FindStringSubmatchIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String(), nil
		}
		columns, rest := text[at[2]:at[3]], text[at[5]:]
		blocks := Read(rest)
		if len(blocks) == 0 || !blocks[0].Shown {
			return "", fmt.Errorf("columns %s: the next block shows no output", columns)
		}
		table, err := narrow(blocks[0].Output, strings.Split(columns, ", "))
		if err != nil {
			return "", err
		}
		b.WriteString(text[:at[4]] + table)
		next := at[1] - at[5] // behind the mark of the end
		b.WriteString(rest[:next])
		text = rest[next:]
	}
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

// taken is a table of another page that shows some rows of the study.
var taken = regexp.MustCompile("(?ms)^<!-- from the study -->\n(.*?)^<!-- end of the study -->\n")

// Take makes the rows anew that another page has taken from the study's tables of a few columns,
// between the lines
//
//	<!-- from the study -->
//	<!-- end of the study -->
//
// A row is known by the table's header and all of its cells but the last two. It is an error where
// the study has none such.
func Take(text, study string) (string, error) {
	rows := make(map[string]string)
	for _, m := range chosen.FindAllStringSubmatch(study, -1) {
		for line := range strings.Lines(m[2]) {
			rows[known(m[2], line)] = line
		}
	}
	var fault error
	out := taken.ReplaceAllStringFunc(text, func(found string) string {
		table := taken.FindStringSubmatch(found)[1]
		var b strings.Builder
		for line := range strings.Lines(table) {
			row, ok := rows[known(table, line)]
			if !ok {
				fault = fmt.Errorf("the study has no row %s", strings.TrimSpace(line))
			}
			b.WriteString(row)
		}
		return strings.Replace(found, table, b.String(), 1)
	})
	return out, fault
}

// known is what a row of a table is known by.
func known(table, row string) string {
	header, _, _ := strings.Cut(table, "\n")
	cells := strings.Split(row, "|")
	return header + strings.Join(cells[:max(0, len(cells)-3)], "|")
}
