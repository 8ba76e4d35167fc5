// Package verify is the command that compares a model with reference tensors.
package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/verify"
	"mdmgen/internal/cli/exit"
	"mdmgen/internal/cli/flags"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/cli/setup"
	"mdmgen/internal/printable"
)

// options are the flags.
type options struct {
	model     setup.Model
	golden    string
	tolerance float64
	format    string
	all       flags.Set
}

func (o *options) flags() flags.Set {
	o.tolerance = verify.DefaultLimit
	o.all = append(append(o.model.Flags(),
		flags.Name(&o.golden, "name the file of reference tensors", flags.Flag{Name: "golden", Category: flags.CatEstimate, Usage: "`FILE` of reference tensors (safetensors): input_ids.N, sigma.N and logits.N, log_mu.N, forward.N or log_score.N"}),
		flags.Number(&o.tolerance, "a number from 0", func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) },
			flags.Flag{Name: "tolerance", Category: flags.CatEstimate, Usage: "greatest difference that passes, `X`"}),
	), flags.Format(&o.format, "text", "json")...)
	return o.all.Common("golden", "tolerance", "format", "model")
}

// Command is the command verify.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "verify",
		Usage:     "compare a model's rows with tensors of another implementation",
		ArgsUsage: "[MODEL]",
		Description: "Recomputes every tensor of the reference file --golden with the model, and prints the largest difference and\n" +
			"the number of values of each. Exits with 3 when one is above the tolerance. Two correct float32 executions of a small\n" +
			"network differ by about 1e-5; a wrong norm or activation by 1e-3 or more. A file whose structure or inputs are\n" +
			"not what they must be is a failure of input, exit status 1.",
		Flags:  o.flags().CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return compare(ctx, s, o, args) }),
	}
}

// Record is what verify prints as JSON.
type Record struct {
	verify.Report
	Provenance kit.Provenance `json:"provenance"`
}

// compare compares a model, named before or by --model, with the tensors that --golden names.
func compare(ctx context.Context, s kit.Streams, o *options, args []string) (err error) {
	if err := kit.AtMostOne("verify", args, "name one model"); err != nil {
		return err
	}
	switch {
	case o.golden == "" && len(args) == 1 && strings.EqualFold(filepath.Ext(args[0]), ".json"):
		return exit.Usagef("verify: %s: the project's own reference files are read by `go test ./internal/oracle`; a model is compared with --golden FILE", args[0])
	case o.golden == "":
		return exit.Usagef("verify: name the file of reference tensors with --golden")
	case len(args) == 1 && o.all.Given("model"):
		return exit.Usagef("verify: the model is given twice, as %s and by --model", args[0])
	case len(args) == 1:
		o.model.Ref = args[0]
	}
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	report, err := verify.Golden(ctx, m, o.golden, o.tolerance)
	if err != nil {
		return err
	}
	if o.format == "json" {
		err = kit.JSON(s.Out, Record{report, kit.NewProvenance(m, nil)})
	} else {
		err = printReport(s.Out, report)
	}
	if err == nil && !report.OK {
		err = exit.Invalidf("verify %s: %s", o.model.Ref, firstBreach(report))
	}
	return err
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
