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

// A column is a number of a cell.
type column struct {
	// quality says that it is of how good samples are, not of what they cost.
	quality bool
	// name has the unit in it, for CSV; head is that of the Markdown table, "" for one
	// that is not shown there.
	name, head string
	// value is false where the cell has no such number.
	value func(c *CellReport) (quantity, bool)
}

// quantity is a number with its standard error, NaN for one that has none.
type quantity struct {
	mean, se float64
	// form is how Markdown writes it, "" for 4 digits.
	form string
	// text stands for it in Markdown, where it is set.
	text string
}

func plain(x float64) quantity { return quantity{mean: x, se: math.NaN()} }

// ofSummary is a column that every repeated cell has.
func ofSummary(name, head string, get func(s *Summary) quantity) column {
	return column{false, name, head, func(c *CellReport) (quantity, bool) {
		if c.Summary == nil {
			return quantity{}, false
		}
		q := get(c.Summary)
		return q, !math.IsNaN(q.mean)
	}}
}

// ofLookahead is a column that cells with look-ahead have: what becomes of their sums.
func ofLookahead(name, head string, get func(sum Repetition) (of, over int)) column {
	return column{false, name, head, func(c *CellReport) (quantity, bool) {
		var sum Repetition
		for _, r := range c.Repetitions {
			sum.Sequences += r.Sequences
			sum.Calls += r.Calls + r.FinishCalls
			sum.Rows += r.Rows
			sum.Tokens += r.Tokens
		}
		of, over := get(sum)
		return plain(float64(of) / float64(over)), over > 0 && c.Settings.Get("lookahead") != ""
	}}
}

func estimated(e estimate.Estimate) quantity { return quantity{mean: e.Mean, se: e.SE} }

// columns are those of a report, in order. What no cell has, or what it costs and is 0 in all, is left
// out of a table.
func columns(r *Report) []column {
	out := []column{
		ofSummary("repetitions", "", func(s *Summary) quantity { return plain(float64(s.Repetitions)) }),
		ofSummary("sequences", "", func(s *Summary) quantity { return plain(float64(s.Sequences)) }),
		ofSummary("calls_per_sequence", "calls", func(s *Summary) quantity { return estimated(s.Calls) }),
		{false, "expected_calls_per_sequence", "expected", func(c *CellReport) (quantity, bool) {
			return plain(float64(c.Expected.Calls)), !math.IsNaN(float64(c.Expected.Calls))
		}},
		ofSummary("calls_off_se", "off (SE)", func(s *Summary) quantity { return quantity{mean: float64(s.CallsOff), se: math.NaN(), form: "%.1f"} }),
		ofSummary("finish_calls_per_sequence", "finishing", func(s *Summary) quantity { return estimated(s.FinishCalls) }),
		{false, "expected_finish_calls_per_sequence", "expected", func(c *CellReport) (quantity, bool) {
			return plain(float64(c.Expected.Finish)), !math.IsNaN(float64(c.Expected.Finish))
		}},
		ofSummary("finish_calls_off_se", "off (SE)", func(s *Summary) quantity { return quantity{mean: float64(s.FinishOff), se: math.NaN(), form: "%.1f"} }),
		ofLookahead("rounds_per_sequence", "rounds", func(sum Repetition) (int, int) { return sum.Calls, sum.Sequences }),
		ofLookahead("rows_per_sequence", "rows", func(sum Repetition) (int, int) { return sum.Rows, sum.Sequences }),
		ofLookahead("tokens_per_round", "tokens/round", func(sum Repetition) (int, int) { return sum.Tokens, sum.Calls }),
		ofSummary("events_per_sequence", "events", func(s *Summary) quantity {
			if s.Events == nil {
				return plain(math.NaN())
			}
			return estimated(*s.Events)
		}),
		{false, "expected_events_per_sequence", "expected", func(c *CellReport) (quantity, bool) {
			if c.Expected.Events == nil {
				return quantity{}, false
			}
			return plain(*c.Expected.Events), true
		}},
		ofSummary("masks_left_per_sequence", "masks left", func(s *Summary) quantity { return estimated(s.Left) }),
		ofSummary("total_s_per_sequence", "s/sequence", func(s *Summary) quantity { return estimated(s.Total) }),
		ofSummary("network_s_per_sequence", "network s", func(s *Summary) quantity { return estimated(s.Network) }),
		ofSummary("sampling_s_per_sequence", "sampling s", func(s *Summary) quantity { return estimated(s.Sampling) }),
		ofSummary(restName, "rest s", func(s *Summary) quantity { return estimated(s.Rest) }),
		ofSummary("total_over_network", "total/network", func(s *Summary) quantity { return estimated(s.Overhead) }),
		ofSummary("tokens_per_s", "tokens/s", func(s *Summary) quantity { return estimated(s.Effective) }),
		ofSummary("tokens_per_network_s", "", func(s *Summary) quantity { return estimated(s.InNetwork) }),
		ofSummary("in_step_tokens_per_s", "in-step tokens/s", func(s *Summary) quantity { return estimated(s.InStep) }),
		ofSummary("rows_per_call", "rows/call", func(s *Summary) quantity { return plain(s.RowsPerCall) }),
		ofSummary("peak_memory_bytes", "", func(s *Summary) quantity { return plain(float64(s.PeakBytes)) }),
		ofSummary("peak_memory_mib", "peak MiB", func(s *Summary) quantity {
			return quantity{mean: float64(s.PeakBytes) / (1 << 20), se: math.NaN(), form: "%.0f"}
		}),
	}
	if r.Settings.Baseline != "" {
		out = append(out, ofSummary("seconds_over_baseline", "× baseline", func(s *Summary) quantity {
			if s.Ratio == nil {
				return plain(math.NaN())
			}
			return estimated(*s.Ratio)
		}))
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
			q.text = "0"
		}
		return q, ok
	}}
}

// String is "mean ± se", the mean with as many digits as the error leaves it.
func (q quantity) String() string {
	form := cmp.Or(q.form, "%.4g")
	switch {
	case q.text != "":
		return q.text
	case math.IsNaN(q.mean):
		return "–"
	case math.IsNaN(q.se) || q.se == 0:
		return fmt.Sprintf(form, q.mean)
	case math.IsInf(q.se, 1):
		return fmt.Sprintf(form, q.mean) + " ± ?"
	}
	digits := max(1-int(math.Floor(math.Log10(q.se))), 0)
	if digits > 12 || q.se < 1e-4 && math.Abs(q.mean) < 1e-4 {
		return fmt.Sprintf("%.4g ± %.1g", q.mean, q.se)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, q.mean, digits, q.se)
}

// Tables makes the tables of a report, what cells cost and how good their samples are: the
// settings that vary, then the numbers that some cell has, all of them where wide is set.
// constants are the settings that all cells share, KEY=VALUE.
func Tables(r *Report, wide bool) (tables []report.Table, constants []string) {
	varying, constants := vary(r)
	for _, part := range []report.Table{{Title: "Cost"}, {Title: "Quality"}} {
		t := part
		t.Head, t.Numbers = slices.Clone(varying), len(varying)
		t.Rows = make([][]string, len(r.Cells))
		for i := range r.Cells {
			for _, key := range varying {
				t.Rows[i] = append(t.Rows[i], short(r.Cells[i].Settings.Get(key)))
			}
		}
		for _, col := range shownIn(r, wide) {
			if col.quality != (t.Title == "Quality") || col.head == "" || !shown(r, col) || col.name == restName && !restCounts(r) {
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
	if len(r.Gains) > 0 {
		tables = append(tables, gainTable(r.Gains))
	}
	if len(r.Rates) > 0 {
		head, rows := RateTable(r.Rates)
		tables = append(tables, report.Table{Title: "Exponents of N", Head: head, Rows: rows, Numbers: 4})
	}
	return tables, constants
}

// short is a setting as a table shows it: "–" where the cell does not use it, a number with 6
// digits.
func short(text string) string {
	if x, err := strconv.ParseFloat(text, 64); err == nil && len(text) > 7 {
		return fmt.Sprintf("%.6g", x)
	}
	return cmp.Or(text, "–")
}

const restName = "rest_s_per_sequence"

// restCounts says whether the rest takes a hundredth of some cell's time.
func restCounts(r *Report) bool {
	return slices.ContainsFunc(r.Cells, func(c CellReport) bool {
		return c.Summary != nil && c.Summary.Rest.Mean > 0.01*c.Summary.Total.Mean
	})
}

// shown says whether some cell has another number than 0.
func shown(r *Report, col column) bool {
	for i := range r.Cells {
		if q, ok := col.value(&r.Cells[i]); ok && (math.Abs(q.mean) > rounding || col.quality) {
			return true
		}
	}
	return false
}

// Markdown writes the report's tables, and below them lines with what all cells share. lines
// are more of them, such as where the model is from.
func Markdown(w io.Writer, r *Report, wide bool, lines ...string) error {
	tables, constants := Tables(r, wide)
	var b bytes.Buffer
	for _, t := range tables {
		t.Markdown(&b)
		b.WriteByte('\n')
	}
	paragraphs := lines
	if len(constants) > 0 {
		paragraphs = append([]string{"Shared settings: " + strings.Join(constants, ", ") + "."}, lines...)
	}
	for _, line := range append(paragraphs, r.Notes...) {
		b.WriteString(printable.String(line) + "\n\n")
	}
	b.Truncate(b.Len() - 1)
	_, err := b.WriteTo(w)
	return err
}
