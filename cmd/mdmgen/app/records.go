package app

import (
	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/read"
	"mdmgen/cmd/mdmgen/internal/schedule"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/cmd/mdmgen/internal/verify"
	"mdmgen/serve/frame"
)

// benchRecord is a report of bench with its provenance, which the command fills in.
type benchRecord struct {
	bench.Report
	Provenance kit.Provenance `json:"provenance"`
}

// Records are the types of what commands print as JSON, by the name of the layout, and those of the first
// and of the other lines of a trace: docs/schemas is made of them.
var Records = map[string]any{
	"run": generate.Record{}, "score": score.Record{}, "bound": bound.Record{}, "bench": benchRecord{},
	"groups": schedule.Groups{}, "windows": schedule.Windows{}, "matrix": schedule.Matrix{}, "read": read.Record{}, "verify": verify.Record{},
	"verify-against": verify.AgainstRecord{}, "dry-run": generate.Foreseen{}, "trace": trace.Header{}, "frame": frame.Frame{},
}

// CommandLine is args as a shell takes them.
func CommandLine(args []string) string { return kit.CommandLine(args) }
