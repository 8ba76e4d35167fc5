package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/verify"
	"mdmgen/model"
)

func verifyCommand(s streams) *cli.Command {
	flags := append(modelFlags(),
		&cli.StringFlag{Name: "golden", Usage: "`FILE` of reference tensors (safetensors): input_ids.N, sigma.N and logits.N, log_mu.N, forward.N or log_score.N"},
		&cli.Float64Flag{Name: "limit", Value: 1e-4, Usage: "greatest difference that passes, `X`"},
		&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
	)
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare a model's rows with reference values",
		ArgsUsage: "MODEL",
		Description: "Recomputes every tensor of the reference file with the model and prints the largest difference and\n" +
			"the number of values of each. Exits with 3 when one is above the limit. Two correct float32\n" +
			"executions of a small network differ by about 1e-5; a wrong norm or activation by 1e-3 or more.",
		Flags:  flags,
		Action: func(c *cli.Context) error { return verifyModel(c, s) },
	}
}

func verifyModel(c *cli.Context, s streams) (err error) {
	switch {
	case c.NArg() > 1:
		return usagef("verify: unexpected argument %q", c.Args().Get(1))
	case c.NArg() == 1 && c.IsSet("model"):
		return usagef("verify: the model is given twice, as %s and by --model", c.Args().First())
	case c.String("golden") == "":
		return usagef("verify: name the reference file with --golden")
	}
	limit := c.Float64("limit")
	if !(limit >= 0) || math.IsInf(limit, 1) {
		return usagef("--limit %v: must be a number from 0", limit)
	}
	opts, err := modelOptions(c, s)
	if err != nil {
		return err
	}
	ref := c.String("model")
	if c.NArg() == 1 {
		ref = c.Args().First()
	}
	m, err := model.Open(c.Context, ref, opts)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := m.Close(); err == nil {
			err = cerr
		}
	}()
	report, err := verify.File(c.Context, m, c.String("golden"), limit)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(struct {
			verify.Report
			Provenance provenance `json:"provenance"`
		}{report, newProvenance(m, nil)})
	} else {
		err = printReport(s.out, report)
	}
	if err != nil {
		return err
	}
	if !report.OK {
		return invalidf("verify %s: %s", ref, firstBreach(report))
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
			verdict = "FAILED at " + it.Worst.Path
		}
		fmt.Fprintf(t, "%s\t%d\t%.3g %s\t%.3g\t%s\n", it.Name, it.Count, float64(it.MaxDiff), it.Measure, it.Limit, verdict)
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
			return fmt.Sprintf("%s: got %v, want %v: the difference is above the limit %v", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit)
		}
	}
	return ""
}
