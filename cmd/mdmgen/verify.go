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
	"mdmgen/model"
)

func verifyCommand(s streams) *cli.Command {
	flags := append(modelFlags(),
		&cli.StringFlag{Name: "golden", Usage: "`FILE` of reference tensors (safetensors): input_ids.N, sigma.N and logits.N, log_mu.N, forward.N or log_score.N"},
		&cli.Float64Flag{Name: "limit", Usage: "greatest difference that passes, `X` (default: 1e-4 for tensors and losses, 2e-5 for likelihoods of windows, 1e-10 for exact laws)"},
		&cli.StringFlag{Name: "worlds", Usage: "`FOLDER` of the worlds that FILE.json names (default: beside it)"},
		&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"},
	)
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare a model's rows, or exact laws, with reference values",
		ArgsUsage: "MODEL | FILE.json",
		Description: "Recomputes every tensor of the reference file --golden with the model, or every number of FILE.json, and\n" +
			"prints the largest difference and the number of values of each. A .json file tells by its content what it\n" +
			"is: exact laws, which need no model, or what --model gives, exact likelihoods of windows of a text or the\n" +
			"losses of public implementations. Exits with 3 when one is above the limit. Two correct float32 executions of a small\n" +
			"network differ by about 1e-5; a wrong norm or activation by 1e-3 or more. Exact values are compared with\n" +
			"limit·max(1, |value|), ten times that for euler_rate_integral, euler_rhs and fhs_extrapolated_time; whole\n" +
			"numbers agree exactly. A file of further samplers' laws names its world, whose file is ../laws/NAME.json from\n" +
			"it, or NAME.json beside it, or in the folder --worlds.\n" +
			"The limit beside an item is wider where the stored value is itself rounded more.\n" +
			"A file whose structure or inputs are not what they must be is a failure of input, exit status 1.",
		Flags:  flags,
		Action: func(c *cli.Context) error { return verifyFile(c, s) },
	}
}

// verifyFile compares what the reference file holds: a file named by itself, or
// tensors named by --golden with a model before it.
func verifyFile(c *cli.Context, s streams) error {
	if c.NArg() > 1 {
		return usagef("verify: unexpected argument %q", c.Args().Get(1))
	}
	limit := -1.0
	if c.IsSet("limit") {
		if limit = c.Float64("limit"); !(limit >= 0) || math.IsInf(limit, 1) {
			return usagef("--limit %v: must be a number from 0", limit)
		}
	}
	path, ref := c.String("golden"), c.String("model")
	switch {
	case path == "" && c.NArg() == 1 && strings.EqualFold(filepath.Ext(c.Args().First()), ".json"):
		path = c.Args().First()
	case path == "":
		return usagef("verify: name the reference file with --golden, or a .json file alone")
	case c.NArg() == 1 && c.IsSet("model"):
		return usagef("verify: the model is given twice, as %s and by --model", c.Args().First())
	case c.NArg() == 1:
		ref = c.Args().First()
	}
	kind, err := verify.KindOf(path)
	if err != nil {
		return err
	}
	if c.IsSet("worlds") && !kind.Worlds {
		return usagef("verify: --worlds: %s names no worlds", path)
	}
	if kind.Model {
		return verifyModel(c, s, ref, path, kind.Outlet, limit)
	}
	for _, f := range modelFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			return usagef("verify: --%s: a file of exact laws (%s) needs no model", name, kind.Name)
		}
	}
	report, err := verify.FileWithWorlds(c.Context, nil, path, limit, c.String("worlds"))
	if err != nil {
		return err
	}
	return finishReport(c, s, path, report, newProvenance(nil, nil))
}

// verifyModel opens the model whose values the reference file holds.
func verifyModel(c *cli.Context, s streams, ref, path string, outlet model.Outlet, limit float64) (err error) {
	opts, err := modelOptions(c, s, ref)
	if err != nil {
		return err
	}
	opts.Outlet = outlet
	m, err := model.Open(c.Context, ref, opts)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := m.Close(); err == nil {
			err = cerr
		}
	}()
	report, err := verify.File(c.Context, m, path, limit)
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
			return fmt.Sprintf("%s: got %v, want %v: the difference is above the limit %.3g%s", it.Worst.Path, it.Worst.Got, it.Worst.Want, it.Limit, map[verify.Measure]string{verify.Relative: "·max(1, |value|)"}[it.Measure])
		}
	}
	return ""
}
