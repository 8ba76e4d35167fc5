package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
	"mdmgen/internal/printable"
)

// A column is a number of each cell.
type column struct {
	// quality marks a column about the quality of samples rather than their cost.
	quality bool
	// name is the column's name in CSV, with the unit; head its name in the table, "" for a column
	// that only CSV has.
	name, head string
	// value returns false if the cell has no such number.
	value func(c *CellReport) (quantity, bool)
}

// quantity is a number with its standard error, NaN if it has none.
type quantity struct {
	mean, se float64
	// text, if set, replaces the number in Markdown.
	text string
}

func plain(x float64) quantity { return quantity{mean: x, se: math.NaN()} }

// ofSummary returns a column that every cell with repetitions has.
func ofSummary(name, head string, get func(s *Summary) quantity) column {
	return column{false, name, head, func(c *CellReport) (quantity, bool) {
		if c.Summary == nil {
			return quantity{}, false
		}
		q := get(c.Summary)
		return q, !math.IsNaN(q.mean)
	}}
}

// ofCell returns a column of a number that a cell has before it is run, NaN for none.
func ofCell(name, head string, get func(c *CellReport) float64) column {
	return column{false, name, head, func(c *CellReport) (quantity, bool) {
		x := get(c)
		return plain(x), !math.IsNaN(x)
	}}
}

// rows returns the canvases per sequence in the calls of a cell with look-ahead, whose calls have
// several; NaN for others.
func rows(c *CellReport) float64 {
	var rows, sequences int
	for _, r := range c.Repetitions {
		rows, sequences = rows+r.Rows, sequences+r.Sequences
	}
	if c.Settings.Get("lookahead") == "" {
		return math.NaN()
	}
	return float64(rows) / float64(sequences)
}

// estimated returns an estimate, or a limit, which has no error.
func estimated(e estimate.Estimate) quantity {
	if limit, ok := e.Limit(); ok {
		q := plain(limit)
		q.text = strings.Join(e.Warnings, "; ")
		return q
	}
	return quantity{mean: e.Mean, se: e.SE}
}

// positions names the column of positions computed per token. A table has it if some cell keeps
// keys and values.
const positions = "positions_per_token"

// costColumns are the columns of the cost of cells, in order.
var costColumns = []column{
	ofCell("repetitions", "repetitions", func(c *CellReport) float64 { return float64(len(c.Repetitions)) }),
	ofSummary("sequences", "", func(s *Summary) quantity { return plain(float64(s.Sequences)) }),
	ofSummary("calls_per_sequence", "calls", func(s *Summary) quantity { return estimated(s.Calls) }),
	ofCell("expected_calls_per_sequence", "", func(c *CellReport) float64 { return float64(c.Expected.Calls) }),
	ofSummary("finish_calls_per_sequence", "finishing", func(s *Summary) quantity { return estimated(s.FinishCalls) }),
	ofCell("expected_finish_calls_per_sequence", "", func(c *CellReport) float64 { return float64(c.Expected.Finish) }),
	ofCell("rows_per_sequence", "rows", rows),
	ofSummary("masks_left_per_sequence", "masks left", func(s *Summary) quantity { return estimated(s.Left) }),
	ofSummary("total_s_per_sequence", "s/sequence", func(s *Summary) quantity { return estimated(s.Total) }),
	ofSummary("network_s_per_sequence", "", func(s *Summary) quantity { return estimated(s.Network) }),
	ofSummary("sampling_s_per_sequence", "", func(s *Summary) quantity { return estimated(s.Sampling) }),
	ofSummary("rest_s_per_sequence", "", func(s *Summary) quantity { return estimated(s.Rest) }),
	ofSummary("tokens_per_s", "tokens/s", func(s *Summary) quantity { return estimated(s.Effective) }),
	ofSummary("in_step_tokens_per_s", "", func(s *Summary) quantity { return estimated(s.InStep) }),
	ofCell(positions, "", func(c *CellReport) float64 {
		var computed, tokens int
		for _, r := range c.Repetitions {
			computed, tokens = computed+r.Positions, tokens+r.Tokens
		}
		return float64(computed) / float64(tokens)
	}),
	ofSummary("rows_per_call", "", func(s *Summary) quantity { return plain(s.RowsPerCall) }),
	ofSummary("peak_memory_bytes", "", func(s *Summary) quantity { return plain(float64(s.PeakBytes)) }),
}

// expected is the column of calls next to qualities, since a number of steps is not a cost.
var expected = column{true, "", "calls (expected)", func(c *CellReport) (quantity, bool) {
	return plain(c.Expected.All()), !math.IsNaN(c.Expected.All())
}}

// columns returns the columns of a report: costColumns, then a column for each metric of any cell.
func columns(r *Report) []column {
	out := slices.Clone(costColumns)
	if slices.ContainsFunc(r.Cells, func(c CellReport) bool { return c.Settings.Get("cache") != "" }) {
		i := slices.IndexFunc(out, func(c column) bool { return c.name == positions })
		out[i].head = "positions/token"
	}
	seen := make(map[string]bool)
	for i := range r.Cells {
		for _, q := range r.Cells[i].Quality {
			for _, m := range q.Metrics {
				if !seen[m.Name] {
					seen[m.Name] = true
					out = append(out, metricColumn(m))
				}
			}
		}
	}
	return out
}

func metricColumn(m Metric) column {
	mark := map[string]string{"upper": "≤ ", "lower": "≥ "}[m.Bound]
	head := strings.ReplaceAll(m.Name, "_", " ") + " (" + m.Unit + ")"
	if head = mark + head; m.Detail {
		head = ""
	}
	return column{true, m.Name + "_" + strings.ReplaceAll(m.Unit, "/", "_per_"), head, func(c *CellReport) (quantity, bool) {
		e, ok := c.metric(m.Name)
		q := estimated(e)
		if math.Abs(q.mean) < rounding && q.se < rounding {
			if q.text = "0"; (m.Name == "tv" || m.Name == "kl") && c.Settings.Get(KeySampler) == "fhs" {
				q.text = "0 (reference)"
			}
		}
		if math.IsInf(q.se, 1) && (m.Name == "tv" || m.Name == "kl") {
			q.text = "too few" // A distance without a standard error is not shown, but for its limit.
			if e.Mean <= e.Lo && !math.IsInf(e.Hi, 1) {
				q.text = "≤ " + estimate.Rounded(e.Hi, e.Hi)
			}
		}
		return q, ok
	}}
}

// String returns "mean ± se", the mean with the digits that the error warrants.
func (q quantity) String() string {
	if math.Abs(q.mean) < rounding {
		q.mean = 0
	}
	switch {
	case q.text != "":
		return q.text
	case math.IsNaN(q.mean):
		return "–"
	case math.IsNaN(q.se) || q.se == 0:
		return fmt.Sprintf("%.4g", q.mean)
	case math.IsInf(q.se, 1):
		return fmt.Sprintf("%.4g ± ?", q.mean)
	}
	if q.se < 1e-4 && math.Abs(q.mean) < 1e-4 {
		return fmt.Sprintf("%.4g ± %.1g", q.mean, q.se)
	}
	return estimate.Digits(q.mean, q.se)
}

// Tables returns the tables of a report, the cost of cells and the quality of their samples: the
// settings that vary, then the numbers that some cell has. constants are the settings that do not
// vary, as KEY=VALUE, after the names of their samplers if not all use them.
func Tables(r *Report) (tables []report.Table, constants []string) {
	varying, constants := vary(r)
	all := columns(r)
	if slices.ContainsFunc(all, func(c column) bool { return c.quality }) {
		all = slices.Insert(all, len(costColumns), expected)
	}
	for _, t := range []report.Table{{Title: "Cost"}, {Title: "Quality"}} {
		t.Head, t.Numbers = slices.Clone(varying), len(varying)
		t.Rows = make([][]string, len(r.Cells))
		for i := range r.Cells {
			for _, key := range varying {
				t.Rows[i] = append(t.Rows[i], short(r.Cells[i].Settings.Get(key)))
			}
		}
		for _, col := range all {
			if col.quality != (t.Title == "Quality") || col.head == "" || !shown(r, col) || r.Complete && col.head == "repetitions" {
				continue
			}
			t.Head = append(t.Head, col.head)
			for i := range r.Cells {
				text := "–"
				if q, ok := col.value(&r.Cells[i]); ok {
					text = q.String()
				}
				t.Rows[i] = append(t.Rows[i], text)
			}
		}
		if len(t.Head) > t.Numbers || t.Title == "Cost" {
			tables = append(tables, t)
		}
	}
	return tables, constants
}

// short formats a setting for a table: "–" if the cell does not use it, numbers with 6 digits.
func short(text string) string {
	if x, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 7 {
		return fmt.Sprintf("%.6g", x)
	}
	return cmp.Or(text, "–")
}

// shown reports whether some cell has a nonzero number, or any number in a column of quality.
func shown(r *Report, col column) bool {
	for i := range r.Cells {
		if q, ok := col.value(&r.Cells[i]); ok && (math.Abs(q.mean) > rounding || col.quality) {
			return true
		}
	}
	return false
}

// Markdown writes the report's tables, then the settings that all cells share, lines such as the
// model's origin, and the report's notes.
func Markdown(w io.Writer, r *Report, lines ...string) error {
	tables, constants := Tables(r)
	var b bytes.Buffer
	for _, t := range tables {
		t.Markdown(&b)
		b.WriteByte('\n')
	}
	for _, line := range Below(r, constants, lines) {
		b.WriteString(printable.Markdown(line) + "\n\n")
	}
	b.Truncate(b.Len() - 1)
	_, err := b.WriteTo(w)
	return err
}

// TeX writes the content of [Markdown] for LaTeX: the tables need the packages booktabs and
// graphicx, the rest is in comments.
func TeX(w io.Writer, r *Report, lines ...string) error {
	tables, constants := Tables(r)
	var b bytes.Buffer
	b.WriteString("% \\usepackage{booktabs,graphicx}\n")
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\\bigskip\n\n") // a paragraph: side by side they exceed the width of a page
		}
		t.TeX(&b)
	}
	for _, line := range Below(r, constants, lines) {
		b.WriteString("% " + printable.String(line) + "\n")
	}
	_, err := b.WriteTo(w)
	return err
}

// Below returns the paragraphs below the tables, including the given lines.
func Below(r *Report, constants, lines []string) []string {
	if len(constants) > 0 {
		lines = append([]string{"Shared settings: " + strings.Join(constants, "; ") + "."}, lines...)
	}
	return append(slices.Clip(lines), r.Notes...)
}
