package app

import (
	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/models"
	"mdmgen/cmd/mdmgen/internal/read"
	"mdmgen/cmd/mdmgen/internal/schedule"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/serve/frame"
)

// benchRecord is a report of bench with the type of its provenance, which the command sets.
type benchRecord struct {
	bench.Report
	Provenance kit.Provenance `json:"provenance"`
}

// Records maps the names of layouts to the types that commands print as JSON, including the first
// line (trace) and the other lines (frame) of a trace. docs/schemas is generated from them.
var Records = map[string]any{
	"run": generate.Record{}, "score": score.Record{}, "bound": bound.Record{}, "bench": benchRecord{},
	"groups": schedule.Groups{}, "windows": schedule.Windows{}, "read": read.Record{}, "verify": models.VerifyRecord{},
	"verify-against": models.AgainstRecord{}, "dry-run": generate.Prediction{}, "trace": trace.Header{}, "frame": frame.Frame{},
}
