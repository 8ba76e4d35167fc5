package bench

import (
	"context"
	"fmt"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// maxReport bounds a report that is compared, in bytes.
const maxReport = 1 << 28

// compareReports compares two reports without running anything.
func compareReports(ctx context.Context, s kit.Streams, o *options, args []string) error {
	if o.compare == "" {
		return exit.Usagef("bench: unexpected argument %q; name a model with --model; a report takes --compare", args[0])
	}
	if len(args) > 1 {
		return exit.Usagef("bench: unexpected argument %q; with --compare it takes one report", args[len(args)-1])
	}
	for _, name := range o.all.Without("compare", "confidence").Names() {
		if o.all.Given(name) {
			return exit.Usagef("%s: has no meaning where two reports are compared", flags.Dashed(name))
		}
	}
	old, err := readReport(ctx, "--compare", o.compare)
	if err != nil {
		return err
	}
	now, err := readReport(ctx, "bench", args[0])
	if err != nil {
		return err
	}
	if o.all.IsSet("confidence") {
		now.Settings.Confidence = o.confidence
	}
	c := bench.Compare(old, now)
	if c.Both == 0 {
		return exit.Usagef("bench: no cell is in both reports: %s has %q, say, and %s has %q", o.compare, first(old), args[0], first(now))
	}
	return c.Print(s.Out)
}

// readReport reads a report in JSON; what names where its path stands.
func readReport(ctx context.Context, what, path string) (*bench.Report, error) {
	data, err := kit.ReadFlagged(ctx, what, path, maxReport)
	if err != nil {
		return nil, err
	}
	r, err := bench.ReadReport(data)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %s", what, path, fault.Plain(err))
	}
	return r, nil
}

// first is the first cell of a report.
func first(r *bench.Report) string {
	if len(r.Cells) == 0 {
		return ""
	}
	return r.Cells[0].ID
}
