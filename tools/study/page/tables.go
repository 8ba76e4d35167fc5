package page

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// chosen is a table of a few columns.
var chosen = regexp.MustCompile("(?ms)^<!-- columns: ([^\n]*) -->\n(.*?)^<!-- end of columns -->\n")

// Files are the CSV files of a page, by their names in its text.
type Files map[string]string

// linked are the lines below a block that name the files of its tables, and named a name there.
var (
	linked = regexp.MustCompile(`(?m)\A\nAll columns: [^\n]*\n`)
	named  = regexp.MustCompile(`\]\(([^)]*\.csv)\)`)
)

// Linked are the CSV files that a page names below its blocks, in their order.
func Linked(text string) (out []string) {
	for _, at := range block.FindAllStringIndex(text, -1) {
		out = append(out, below(text[at[1]:])...)
	}
	return out
}

// below are the files that the text behind a block names.
func below(text string) (out []string) {
	for _, m := range named.FindAllStringSubmatch(linked.FindString(text), -1) {
		out = append(out, m[1])
	}
	return out
}

// Derive makes anew what follows from the outputs of a page. A block whose tables have files, as
//
//	All columns: [samplers](benchmarks/calls.csv), [pairs](benchmarks/calls-pairs.csv).
//
// says below it, in the order of the tables, loses them to these. And between the lines
//
//	<!-- columns: sampler, steps, calls -->
//	<!-- end of columns -->
//
// stand those columns of the tables of the next block. It is an error where these do not have
// them.
func Derive(text string, files Files) (string, error) {
	var fault error
	var out strings.Builder
	for {
		at := block.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return out.String(), fault
		}
		b := read(block.FindStringSubmatch(text[at[0]:at[1]]))
		tables, notes := wide(b.Output)
		names := below(text[at[1]:])
		if b.Shown && len(names) > 0 && len(tables) > 0 {
			if len(names) != len(tables) {
				return "", fmt.Errorf("%.60s: %d tables, and %d files: %s", b.Command, len(tables), len(names), strings.Join(names, ", "))
			}
			for i, name := range names {
				files[name] = commas(tables[i])
			}
			b.Output = notes
		}
		if tables == nil {
			for _, name := range names {
				rows, err := csv.NewReader(strings.NewReader(files[name])).ReadAll()
				if err != nil || len(rows) == 0 {
					return "", fmt.Errorf("%s: %d rows, %v", name, len(rows), err)
				}
				tables = append(tables, rows)
			}
		}
		out.WriteString(chosen.ReplaceAllStringFunc(text[:at[0]], func(found string) string {
			m := chosen.FindStringSubmatch(found)
			table, err := narrow(tables, strings.Split(m[1], ", "))
			if err != nil && fault == nil {
				fault = err
			}
			return "<!-- columns: " + m[1] + " -->\n" + table + "<!-- end of columns -->\n"
		}))
		out.WriteString(b.String())
		text = text[at[1]:]
	}
}

// narrow is a table of some columns of one that has them.
func narrow(tables [][][]string, columns []string) (string, error) {
	for _, t := range tables {
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
	return "", fmt.Errorf("no table of the next block has the columns %s", strings.Join(columns, ", "))
}

// commas is a table as CSV. A column that is there twice stands once; one that shares its name
// with another, as the expected calls and the expected events do, has the name of what it belongs
// to before it.
func commas(t [][]string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	out := make([][]string, len(t))
	group := ""
	for i, name := range t[0] {
		first := slices.Index(t[0], name)
		if first < i && !slices.ContainsFunc(t[1:], func(row []string) bool { return row[first] != row[i] }) {
			continue
		}
		if first == i {
			group = name
		} else {
			name = group + " " + name
		}
		out[0] = append(out[0], name)
		for n, row := range t[1:] {
			out[n+1] = append(out[n+1], row[i])
		}
	}
	_ = w.WriteAll(out) // Into memory.
	return b.String()
}

// wide are the tables of an output by rows of cells, the names of the columns first, and what
// stands beside them. Tables that follow each other and have the same rows, by their first cells,
// are one.
func wide(output string) (tables [][][]string, notes string) {
	for part := range strings.SplitAfterSeq(output, "\n\n") {
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
			notes += part
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
	return tables, notes
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
