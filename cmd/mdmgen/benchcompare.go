package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
)

// maxReport bounds a report that is compared, in bytes.
const maxReport = 1 << 28

// benchCompare compares two reports without running anything.
func benchCompare(c *cli.Context, s streams) error {
	if !c.IsSet("compare") || c.NArg() > 1 {
		return usagef("bench: unexpected argument %q; with --compare it takes one report", c.Args().Get(c.NArg()-1))
	}
	for _, f := range benchFlags() {
		if name := f.Names()[0]; name != "compare" && name != "confidence" && given(c, name) {
			return usagef("--%s: has no meaning where two reports are compared", name)
		}
	}
	old, err := readReport(c.Context, "--compare", c.String("compare"))
	if err != nil {
		return err
	}
	now, err := readReport(c.Context, "bench", c.Args().First())
	if err != nil {
		return err
	}
	if c.IsSet("confidence") {
		now.Settings.Confidence = c.Float64("confidence")
	}
	return bench.Compare(old, now).Print(s.out)
}

// readReport reads a report in JSON; what names where its path stands.
func readReport(ctx context.Context, what, path string) (*bench.Report, error) {
	data, err := readFlagged(ctx, what, path, maxReport)
	if err != nil {
		return nil, err
	}
	r, err := bench.ReadReport(data)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %s", what, path, bare(err))
	}
	return r, nil
}
