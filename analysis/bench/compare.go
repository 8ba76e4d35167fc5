package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/report"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/printable"
)

// Comparison puts cells of two reports beside each other.
type Comparison struct {
	Changes []Change
	// Both is the number of cells that both reports have; OnlyOld and OnlyNew are the IDs of
	// those that one has.
	Both             int
	OnlyOld, OnlyNew []string
	Confidence       float64
}

// Change is a number of a cell in two reports.
type Change struct {
	Cell, Name string
	Old, New   estimate.Estimate
	// Relative says that Diff is New/Old − 1, of positive numbers; else it is New − Old.
	Relative bool
	Diff     estimate.Estimate
	// Shown is false where the interval holds 0, or nothing tells an interval.
	Shown bool
}

// ReadReport reads the JSON form of a report.
func ReadReport(data []byte) (*Report, error) {
	var r Report
	if err := plainjson.Unmarshal(data, &r); err != nil {
		return nil, fault.Errorf("bench", "is not a report in JSON: %w", err)
	}
	if r.Schema != Schema {
		return nil, fault.Errorf("bench", "schema %.40q: must be %s, what --format json writes", r.Schema, Schema)
	}
	if !(r.Settings.Confidence > 0 && r.Settings.Confidence < 1) {
		return nil, fault.Errorf("bench", "the report has no confidence in 0..1")
	}
	for _, c := range r.Cells {
		for i := range c.Repetitions {
			if err := c.Repetitions[i].check(); err != nil {
				return nil, fault.Errorf("bench", "cell %.60q: %s", c.ID, fault.Plain(err))
			}
		}
	}
	return &r, nil
}

// Compare matches cells by their IDs. All numbers are those of the reports' summaries. Seconds
// and tokens a second are divided, with Welch's interval of the logarithm; others subtracted.
func Compare(old, now *Report) Comparison {
	out := Comparison{Confidence: now.Settings.Confidence}
	before := make(map[string]*CellReport)
	for i := range old.Cells {
		before[old.Cells[i].ID] = &old.Cells[i]
	}
	for i := range now.Cells {
		c := &now.Cells[i]
		o := before[c.ID]
		if o == nil {
			out.OnlyNew = append(out.OnlyNew, c.ID)
			continue
		}
		delete(before, c.ID)
		out.Both++
		out.cell(o, c)
	}
	for _, c := range old.Cells {
		if before[c.ID] != nil {
			out.OnlyOld = append(out.OnlyOld, c.ID)
		}
	}
	return out
}

func (x *Comparison) cell(old, now *CellReport) {
	if old.Summary != nil && now.Summary != nil {
		x.times(now.ID, "s/sequence", old.Summary.Total, now.Summary.Total)
		x.times(now.ID, "network s", old.Summary.Network, now.Summary.Network)
		x.times(now.ID, "sampling s", old.Summary.Sampling, now.Summary.Sampling)
		x.times(now.ID, "tokens/s", old.Summary.Effective, now.Summary.Effective)
		if a, b := old.Summary.PeakBytes, now.Summary.PeakBytes; a > 0 && b > 0 {
			x.times(now.ID, "peak bytes", greatest(a), greatest(b))
		}
		x.plain(now.ID, "calls", old.Summary.Calls, now.Summary.Calls)
		x.plain(now.ID, "finishing", old.Summary.FinishCalls, now.Summary.FinishCalls)
		x.plain(now.ID, "masks left", old.Summary.Left, now.Summary.Left)
	}
	for _, q := range now.Quality {
		for _, m := range q.Metrics {
			if e, ok := old.metric(m.Name); ok {
				x.plain(now.ID, m.Name, e, m.Value)
			}
		}
	}
}

// greatest is the most of something, of which nothing tells an error.
func greatest(n int64) estimate.Estimate {
	return estimate.Estimate{Mean: float64(n), SE: math.NaN()}
}

// times compares positive numbers by their ratio.
func (x *Comparison) times(cell, name string, old, now estimate.Estimate) {
	positive := func(e estimate.Estimate) bool { return e.Mean > 0 && !math.IsInf(e.Mean, 1) }
	if !positive(old) || !positive(now) {
		return
	}
	log := func(e estimate.Estimate) estimate.Estimate {
		e.Mean, e.SE = math.Log(e.Mean), e.SE/e.Mean
		return e
	}
	diff := welch(log(old), log(now), x.Confidence)
	change := Change{Cell: cell, Name: name, Old: old, New: now, Relative: true, Shown: shows(diff)}
	change.Diff = diff.Map(math.Expm1, math.Exp)
	x.Changes = append(x.Changes, change)
}

func (x *Comparison) plain(cell, name string, old, now estimate.Estimate) {
	if math.IsNaN(old.Mean) || math.IsNaN(now.Mean) || old.Mean == 0 && now.Mean == 0 && old.SE == 0 && now.SE == 0 {
		return
	}
	d := welch(old, now, x.Confidence)
	x.Changes = append(x.Changes, Change{Cell: cell, Name: name, Old: old, New: now, Diff: d, Shown: shows(d)})
}

// shows says whether a difference is seen.
func shows(d estimate.Estimate) bool {
	return d.Mean != 0 && !math.IsInf(d.SE, 0) && !math.IsNaN(d.SE) && (d.Lo > 0 || d.Hi < 0)
}

// welch is the difference b − a of two independent means with Welch's interval.
func welch(a, b estimate.Estimate, confidence float64) estimate.Estimate {
	out := estimate.Estimate{Mean: b.Mean - a.Mean, SE: math.Hypot(a.SE, b.SE), Confidence: confidence, N: a.N + b.N, Units: a.Units + b.Units}
	switch {
	case a.Mean == b.Mean:
		out.Mean = 0 // where both are infinite, too
	case math.IsInf(out.SE, 1) || math.IsNaN(out.SE):
		out.SE, out.Lo, out.Hi = math.Inf(1), math.Inf(-1), math.Inf(1)
		return out
	}
	half := 0.0
	if out.SE > 0 && !math.IsInf(out.SE, 1) {
		part := func(e estimate.Estimate) float64 {
			if e.SE == 0 || e.Units < 2 {
				return 0
			}
			return math.Pow(e.SE, 4) / float64(e.Units-1)
		}
		dof := math.Pow(out.SE, 4) / (part(a) + part(b))
		if !(dof >= 1) || math.IsInf(dof, 1) {
			dof = 1
		}
		half = out.SE * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: dof}.Quantile((1+confidence)/2)
	}
	out.Lo, out.Hi = out.Mean-half, out.Mean+half
	return out
}

// Print writes a comparison as a Markdown table: ~ stands where nothing is shown.
func (x Comparison) Print(w io.Writer) error {
	var b bytes.Buffer
	var rows [][]string
	for _, c := range x.Changes {
		change := "~"
		if c.Shown {
			change = fmt.Sprintf("%+.4g [%+.3g, %+.3g]", c.Diff.Mean, c.Diff.Lo, c.Diff.Hi)
			if c.Relative {
				change = fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", 100*c.Diff.Mean, 100*c.Diff.Lo, 100*c.Diff.Hi)
			}
		}
		rows = append(rows, []string{c.Cell, c.Name, estimated(c.Old).String(), estimated(c.New).String(), change})
	}
	switch {
	case x.Both == 0:
		b.WriteString("No cell is in both reports: nothing can be compared.\n")
	default:
		report.Table{Head: []string{"cell", "", "old", "new", "change"}, Rows: rows, Numbers: 2}.Markdown(&b)
		fmt.Fprintf(&b, "\n~: no change is shown; else the change with its interval of probability %g.\n", x.Confidence)
	}
	list := func(what string, ids []string) {
		for _, id := range ids {
			fmt.Fprintf(&b, "%s: %s\n", what, printable.String(id))
		}
	}
	list("only in the old report", x.OnlyOld)
	list("only in the new report", x.OnlyNew)
	_, err := b.WriteTo(w)
	return err
}
