package app

import (
	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/read"
	"mdmgen/cmd/mdmgen/internal/schedule"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/cmd/mdmgen/internal/verify"
)

// benchRecord is a report of bench with its provenance, which the command fills in.
type benchRecord struct {
	bench.Report
	Provenance kit.Provenance `json:"provenance"`
}

// Records are the types of what commands print as JSON, by the name of the layout: docs/schemas
// is made of them.
var Records = map[string]any{
	"read": read.Record{},

	"run": generate.Record{}, "score": score.Record{}, "bound": bound.Record{}, "bench": benchRecord{},
	"schedule": schedule.Record{}, "target": schedule.Target{}, "groups": schedule.Groups{}, "windows": schedule.Windows{}, "verify": verify.Record{},
	"verify-against": verify.AgainstRecord{}, "dry-run": generate.Foreseen{},
}

// CommandLine is args as a shell takes them.
func CommandLine(args []string) string { return kit.CommandLine(args) }
