package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/verify"
	"mdmgen/internal/printable"
)

func verifyCommand(s streams) *cli.Command {
	flags := append(modelFlags(),
		&cli.StringFlag{Name: "golden", Usage: "`FILE` of reference tensors (safetensors): input_ids.N, sigma.N and logits.N, log_mu.N, forward.N or log_score.N"},
		&cli.Float64Flag{Name: "limit", Value: verify.DefaultLimit, Usage: "greatest difference that passes, `X`"},
		&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
	)
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare a model's rows with tensors of another implementation",
		ArgsUsage: "[MODEL]",
		Description: "Recomputes every tensor of the reference file --golden with the model, and prints the largest difference and\n" +
			"the number of values of each. Exits with 3 when one is above the limit. Two correct float32 executions of a small\n" +
			"network differ by about 1e-5; a wrong norm or activation by 1e-3 or more. A file whose structure or inputs are\n" +
			"not what they must be is a failure of input, exit status 1.",
		Flags:  flags,
		Action: func(c *cli.Context) error { return verifyFile(c, s) },
	}
}

// verifyFile compares a model, named before or by --model, with the tensors that --golden
// names.
func verifyFile(c *cli.Context, s streams) (err error) {
	if c.NArg() > 1 {
		return usagef("verify: unexpected argument %q", c.Args().Get(1))
	}
	limit := c.Float64("limit")
	if !(limit >= 0) || math.IsInf(limit, 1) {
		return usagef("--limit %v: must be a number from 0", limit)
	}
	path, ref := c.String("golden"), c.String("model")
	switch {
	case path == "" && c.NArg() == 1 && strings.EqualFold(filepath.Ext(c.Args().First()), ".json"):
		return usagef("verify: %s: the project's own reference files are read by `go test ./internal/oracle`; a model is compared with --golden FILE", c.Args().First())
	case path == "":
		return usagef("verify: name the file of reference tensors with --golden")
	case c.NArg() == 1 && given(c, "model"):
		return usagef("verify: the model is given twice, as %s and by --model", c.Args().First())
	case c.NArg() == 1:
		ref = c.Args().First()
	}
	opts, err := modelOptions(c, s, ref)
	if err != nil {
		return err
	}
	m, err := s.open(c.Context, ref, opts)
	if err != nil {
		return err
	}
	defer closing(m, &err)
	report, err := verify.Golden(c.Context, m, path, limit)
	if err != nil {
		return err
	}
	return finishReport(c, s, ref, report, newProvenance(m, nil))
}

// finishReport prints the report; a breach is an error that describes it.
func finishReport(c *cli.Context, s streams, what string, report verify.Report, p provenance) error {
	var err error
	if c.Bool("json") {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(struct {
			verify.Report
			Provenance provenance `json:"provenance"`
		}{report, p})
	} else {
		err = printReport(s.out, report)
	}
	if err != nil {
		return err
	}
	if !report.OK {
		return invalidf("verify %s: %s", what, firstBreach(report))
	}
	return nil
}

// printReport prints an item a line, and OK or FAILED.
func printReport(w io.Writer, r verify.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "quantity\tvalues\tlargest difference\tlimit\t")
	for _, it := range r.Items {
		verdict := "ok"
		if !it.OK {
			verdict = "FAILED at " + printable.String(it.Worst.Path)
		}
		fmt.Fprintf(t, "%s\t%d\t%.3g %s\t%.3g\t%s\n", printable.String(it.Name), it.Count, float64(it.MaxDiff), it.Measure, it.Limit, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	verdict := "OK"
	if !r.OK {
		verdict = "FAILED"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}

// firstBreach describes the first item that failed.
func firstBreach(r verify.Report) string {
	for _, it := range r.Items {
		if !it.OK {
			return fmt.Sprintf("%s: got %v, want %v: the difference is above the limit %.3g", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit)
		}
	}
	return ""
}
