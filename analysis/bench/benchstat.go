package bench

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mdmgen/internal/printable"
)

// Benchstat writes one line per repetition in Go's benchmark format, which benchstat and
// golang.org/x/perf/benchfmt read: BenchmarkGenerate/sampler=tweedie/steps=64-2, where 2 is the
// number of threads, with the times and calls of one sequence. config are lines "key: value" that
// precede them. Names are made from cells' IDs, so the names of two runs match.
func Benchstat(w io.Writer, r *Report, config ...[2]string) error {
	var b bytes.Buffer
	for _, c := range config {
		fmt.Fprintf(&b, "%s: %s\n", c[0], printable.String(strings.Join(strings.Fields(c[1]), " ")))
	}
	b.WriteByte('\n')
	for i := range r.Cells {
		c := &r.Cells[i]
		name := printable.String(benchmarkName(c))
		for _, rep := range c.Repetitions {
			n := float64(rep.Sequences)
			fmt.Fprintf(&b, "%s %d %s ns/op", name, rep.Sequences, fixed(rep.Seconds.Total/n*1e9))
			metric := func(x float64, unit string) { fmt.Fprintf(&b, " %s %s", fixed(x), unit) }
			metric(rep.Seconds.Network/n*1e9, "network-ns/op")
			metric(rep.Seconds.Sampling/n*1e9, "sampling-ns/op")
			if rep.Seconds.Total > 0 {
				metric(float64(rep.Tokens)/rep.Seconds.Total, "tokens/s")
				metric(float64(rep.Positions)/rep.Seconds.Total, "in-step-tokens/s")
			}
			metric(float64(rep.Calls)/n, "calls/seq")
			metric(float64(rep.FinishCalls)/n, "finishing-calls/seq")
			if rep.PeakBytes > 0 {
				metric(float64(rep.PeakBytes), "peak-bytes")
			}
			b.WriteByte('\n')
		}
	}
	_, err := b.WriteTo(w)
	return err
}

// benchmarkName returns a cell's ID as the name of a benchmark.
func benchmarkName(c *CellReport) string {
	parts := strings.Fields(c.ID)
	name := "BenchmarkGenerate/sampler=" + parts[0]
	for _, p := range parts[1:] {
		if !strings.HasPrefix(p, KeyThreads+"=") {
			// A slash would start another part of the name.
			name += "/" + strings.ReplaceAll(p, "/", "_")
		}
	}
	if t := c.Settings.Get(KeyThreads); t != "" {
		name += "-" + t
	}
	return name
}

// fixed formats a number without an exponent, which few readers of benchmarks accept.
func fixed(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
