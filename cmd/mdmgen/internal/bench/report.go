package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/fault"
	"mdmgen/model"
)

// threads returns the number of threads of a cell's network.
func (r *benching) threads(c *bench.Cell) int {
	if d, ok := c.Model.(model.Describer); ok {
		return d.Origin().Threads
	}
	return cmp.Or(c.Setting.Threads, 1)
}

// report returns the report.
func (r *benching) report() bench.Report {
	out := bench.Summarise(r.cells, r.log.Repetitions, r.settings, r.threads)
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	made.Command = r.streams.Command
	out.Provenance = made
	for i := range out.Cells {
		out.Cells[i].Quality = r.qualityOf(&r.cells[i])
		if err := r.failed[r.cells[i].ID]; err != nil {
			out.Cells[i].Failed = fault.Spell(fault.WithoutName(err), r.all.Spell)
		}
	}
	out.Notes = slices.Concat(out.Notes, r.look.errors.Notes, r.look.certificates.Notes)
	out.Interrupted = r.ctx.Err() != nil
	out.Complete = len(r.missing()) == 0
	r.notes(&out)
	return out
}

// missing returns the names of the measurements that were asked for and not made, nil if there are
// none.
func (r *benching) missing() (out []string) {
	cells := slices.Clone(r.cells)
	slices.SortStableFunc(cells, func(a, b bench.Cell) int { return r.repeated(&a) - r.repeated(&b) })
	// named appends what, followed by the cells for which text is not empty.
	named := func(what string, text func(c *bench.Cell) string) {
		var names []string
		for i := range cells {
			if name := text(&cells[i]); name != "" {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			out = append(out, what+" of "+bench.Named(names, ", "))
		}
	}
	named("repetitions", func(c *bench.Cell) string {
		n := r.repeated(c)
		if n == r.settings.Repetitions {
			return ""
		}
		return fmt.Sprintf("%s (%d of %d)", c.ID, n, r.settings.Repetitions)
	})
	shared := func(what string, done, work int) {
		if done < work {
			out = append(out, fmt.Sprintf("%s (%d of %d)", what, done, work))
		}
	}
	shared("texts of the sampling error", len(r.log.Errors), r.look.errors.Work(r.amounts[bench.PartError]))
	shared("runs of certificates", len(r.log.Certified), r.look.certificates.Work(r.amounts[bench.PartCertificate]))
	for _, part := range cellParts {
		named(part, func(c *bench.Cell) string {
			if !r.look.has(part) || r.judged(c, part) {
				return ""
			}
			return c.ID
		})
	}
	return out
}

// notes appends the notes that explain the numbers.
func (r *benching) notes(report *bench.Report) {
	add := func(format string, args ...any) { report.Notes = append(report.Notes, fmt.Sprintf(format, args...)) }
	missing := ""
	if list := r.missing(); len(list) > 0 {
		missing = " Missing: " + strings.Join(list, "; ") + "."
	}
	switch {
	case report.Interrupted:
		add("Interrupted: these are partial results.%s", missing)
	case report.Complete:
	case r.maxTime == 0:
		add("Incomplete: failures are listed below.%s", missing)
	default:
		add("Incomplete: --max-time %v ran out.%s", r.maxTime, missing)
	}
	for _, text := range r.faults {
		add("%s.", text)
	}
	for _, text := range r.fixed {
		add("%s.", text)
	}
	for _, text := range r.leftOut {
		add("Left out: %s.", text)
	}
	add("± is a standard error: of calls over sequences, of times over repetitions.")
	if r.settings.Repetitions == 1 || r.settings.Sequences == 1 {
		add("± ?: not estimable from one run; raise -r or -n.")
	}
	if r.look.judge != nil {
		add("%s", r.look.judge.Protocol().Note())
	}
	q := report.Settings.Quality
	if q == nil {
		return
	}
	few := make(map[string]bool)
	for _, c := range report.Cells {
		for _, q := range c.Quality {
			for _, m := range q.Metrics {
				if why := m.Value.NoInterval(); why != "" && !few[q.Part] {
					few[q.Part] = true
					add("%s: %s.", q.Part, why)
				}
			}
		}
	}
	if used := r.errorTexts(q.ErrorSamples); used != "" {
		add("tv and kl are TV(P_FHS, P_N) and KL(P_FHS‖P_N) over all free positions, from exact log-probabilities at %s texts of First-Hitting: the sampler's cost, not the distance from the data.", used)
	}
	if n := q.AuditTexts; n > 0 {
		add("cache kl and tv are distances of the rows of %d texts, with cached keys and values, from full rows in the same groups; groups kl and tv are distances of groups from one position per call in the same order. If rows decide the positions, they bound nothing.", n)
	}
	if n := q.CausalTexts; n > 0 {
		add("kl from causal is KL(causal‖P_N) and kl to causal KL(P_N‖causal), from %d texts of each law, without another model; by paths −log P_N of a text is bounded by 16 paths in each block. All calls count, that of a block's first position too.", n)
	}
	if r.look.certificates.Work(1) > 0 {
		add("certificates estimate upper bounds on TV(P_FHS, P_N) and KL(P_FHS‖P_N) over all free positions, from %d runs of First-Hitting. A limit holds with probability %v, however the runs are distributed.", q.CertificateRuns, r.settings.Confidence)
	}
}

// errorTexts returns the number of texts on which the sampling errors of a group were measured: the
// least and the greatest number if they differ, "" if there are none.
func (r *benching) errorTexts(asked int) string {
	counts := make(map[int]int)
	for _, e := range r.log.Errors {
		counts[e.Group]++
	}
	if len(counts) == 0 {
		return ""
	}
	used := slices.Sorted(maps.Values(counts))
	switch least, most := used[0], used[len(used)-1]; {
	case least == asked:
		return fmt.Sprint(asked)
	case least == most:
		return fmt.Sprintf("%d of %d", least, asked)
	default:
		return fmt.Sprintf("%d to %d of %d", least, most, asked)
	}
}
