package bench

import (
	"cmp"
	"fmt"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/fault"
	"mdmgen/model"
)

// threads is the number of threads of a cell's network.
func (r *benching) threads(c *bench.Cell) int {
	if d, ok := c.Model.(model.Describer); ok {
		return d.Origin().Threads
	}
	return cmp.Or(c.Setting.Threads, 1)
}

// report sums up.
func (r *benching) report() bench.Report {
	out := bench.Summarise(r.cells, r.log.Repetitions, r.settings, r.threads)
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	made.Command = r.streams.Command
	out.Provenance = made
	for i := range out.Cells {
		out.Cells[i].Quality = r.qualityOf(&r.cells[i])
		if err := r.failed[r.cells[i].ID]; err != nil {
			out.Cells[i].Failed = fault.Plain(err)
		}
	}
	if e := r.look.errors; e != nil {
		out.Notes = append(out.Notes, e.Notes...)
	}
	if c := r.look.certificates; c != nil {
		out.Notes = append(out.Notes, c.Notes...)
	}
	return out
}

// notes explains the numbers.
func (r *benching) notes(report *bench.Report) {
	add := func(format string, args ...any) { report.Notes = append(report.Notes, fmt.Sprintf(format, args...)) }
	switch {
	case report.Interrupted:
		add("Interrupted: these are the results of what was done.")
	case !report.Complete && r.maxTime == 0:
		add("Incomplete: what failed is named below, and has fewer repetitions and samples than asked for, or none.")
	case !report.Complete:
		add("Incomplete: --max-time %v was over before all repetitions and samples were made; cells have fewer, or none.", r.maxTime)
	}
	for _, text := range r.faults {
		add("%s.", text)
	}
	if note := bench.SameNote(r.cells); note != "" {
		add("%s", note)
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
	if q.ErrorSamples > 0 {
		add("calls (expected) are those of %d free positions.", q.ErrorLength)
		add("tv and kl are TV(P_FHS, P_N) and KL(P_FHS‖P_N) over %d free positions, from exact log-probabilities at %d texts of first-hitting: what the sampler costs, and not the distance from the data.", q.ErrorLength, q.ErrorSamples)
	}
	if r.look.certificates.Work(bench.CertificateConfig{Runs: q.CertificateRuns}) > 0 {
		add("certificates estimate numbers that TV(P_FHS, P_N) and KL(P_FHS‖P_N) over all free positions do not exceed, from %d runs of first-hitting. A limit holds with probability %v, however the runs are distributed.", q.CertificateRuns, r.settings.Confidence)
	}
}
