package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"mdmgen/analysis/bench"
)

// print writes the report on standard output.
func (r *benching) print(report *bench.Report) error {
	return writeBench(r.streams.out, r.c.String("format"), report)
}

// writeBench writes a report in a format.
func writeBench(w io.Writer, format string, r *bench.Report) error {
	p, _ := r.Provenance.(provenance)
	switch format {
	case "json", "jsonl":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		if format == "json" {
			enc.SetIndent("", "  ")
		}
		return enc.Encode(r)
	case "csv":
		return bench.CSV(w, r)
	case "benchstat":
		return bench.Benchstat(w, r, benchConfig(r, p)...)
	}
	return bench.Markdown(w, r, benchMade(r, p))
}

// benchConfig is what stands before the lines of benchstat.
func benchConfig(r *bench.Report, p provenance) [][2]string {
	out := [][2]string{{"pkg", "mdmgen"}, {"version", p.Version}, {"goos", strings.Split(p.Platform, "/")[0]}}
	if o := p.Model; o != nil {
		out = append(out, [2]string{"model", o.Reference}, [2]string{"digest", o.Digest}, [2]string{"runtime", o.Runtime}, [2]string{"device", o.Provider})
	}
	return append(out, [2]string{"seed", fmt.Sprint(r.Settings.Seed)})
}

// benchMade says in a line what made the report.
func benchMade(r *bench.Report, p provenance) string {
	line := fmt.Sprintf("%d sequences × %d repetitions, seed %d; mdmgen %s", r.Settings.Sequences, r.Settings.Repetitions, r.Settings.Seed, p.Version)
	if o := p.Model; o != nil {
		digest := o.Digest
		if len(digest) > 19 {
			digest = digest[:19]
		}
		line += fmt.Sprintf("; model %s (%s), %s on %s", o.Reference, digest, o.Runtime, o.Provider)
	}
	return line + "; " + p.Platform + ", " + p.Started + "."
}
