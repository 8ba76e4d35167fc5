package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/ort"
)

func doctorCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "show which ONNX Runtime is used, and what is wrong",
		Description: "Prints the library that networks would run with, its version and providers, the threads, the cache\n" +
			"folder, and every problem found, without fetching anything. Everything is read in full: a library of the\n" +
			"cache is compared with the published one, converted weights with what was written, and --model, which tells\n" +
			"its digest, with its manifest. Exits with 4 when no network could run or there is no such model, with 1 when\n" +
			"the model's files are not in order.",
		Flags: append(runtimeFlags(),
			&cli.StringFlag{Name: "model", Category: catModel, Usage: "read all files of the model `REF`, too, and tell its digest"},
			&cli.BoolFlag{Name: "json", Usage: "print the report as JSON"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			rt, err := runtimeConfig(c, s)
			if err != nil {
				return err
			}
			rt.VerifyDigest = true
			d := diagnosis{Schema: "mdmgen.doctor/1", Report: ort.Diagnose(rt)}
			modelErr := d.models(c)
			if errors.Is(modelErr, context.Canceled) {
				return modelErr
			}
			d.OK = len(d.Problems) == 0
			if c.Bool("json") {
				enc := json.NewEncoder(s.out)
				enc.SetIndent("", "  ")
				err = enc.Encode(d)
			} else {
				err = printDiagnosis(s, d)
			}
			r := d.Report
			if err == nil && !r.Usable {
				err = missingf("doctor: no network can run: %s", strings.Join(r.Problems, "; "))
			}
			if err == nil {
				err = modelErr
			}
			return err
		},
	}
}

// diagnosis is what doctor found.
type diagnosis struct {
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	ort.Report
	// Converted counts the models whose weights are converted in the cache; all of them are
	// read.
	Converted int `json:"converted"`
	// Model and ModelDigest are those of --model.
	Model       string `json:"model,omitempty"`
	ModelDigest string `json:"model_digest,omitempty"`
}

// models checks the files of models. The error is that of the model which was named; it is
// among the problems too.
func (d *diagnosis) models(c *cli.Context) error {
	n, problems, err := model.CheckConverted(c.Context)
	if d.Converted = n; err != nil {
		problems = append(problems, err)
	}
	if d.Model = c.String("model"); d.Model != "" {
		if d.ModelDigest, err = model.Check(c.Context, d.Model, builtins()); err != nil {
			problems = append(problems, err)
		}
	} else {
		err = c.Context.Err()
	}
	for _, p := range problems {
		d.Problems = append(d.Problems, message(p))
	}
	return err
}

func printDiagnosis(s streams, d diagnosis) error {
	r := d.Report
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, printable.String(fmt.Sprintf(format, args...)))
	}
	row("mdmgen", "%s, %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	row("runtime", "%s", or(r.Library, "none found"))
	row("version", "%s", or(r.Version, "-"))
	row("found", "%s", or(r.Source, "-"))
	if r.SHA256 != "" {
		row("digest", "%s, as published", r.SHA256)
	}
	if r.Fetch != "" {
		row("fetch", "with %s at first use", r.Fetch)
	}
	row("providers", "%s", or(strings.Join(r.Providers, ", "), "-"))
	row("threads", "%d", r.Threads)
	row("cache", "%s (%s)", r.CacheDir, humanize.IBytes(uint64(r.CacheBytes)))
	row("converted", "%s in the cache", english.Plural(d.Converted, "model", ""))
	if d.Model != "" {
		row("model", "%s, %s", d.Model, or(d.ModelDigest, "not in order"))
	}
	row("offline", "%t", r.Offline)
	for _, c := range r.Candidates {
		if c.Reason != "" {
			row("passed over", "%s: %s", c.Path, c.Reason)
		}
	}
	for _, p := range r.Problems {
		row("problem", "%s", p)
	}
	if len(r.Problems) == 0 {
		row("problem", "none")
	}
	return t.Flush()
}

// or returns s, or otherwise where s is empty.
func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
