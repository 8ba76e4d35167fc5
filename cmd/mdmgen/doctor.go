package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/printable"
	"mdmgen/model/ort"
)

func doctorCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "tell which ONNX Runtime is used, and what is wrong",
		Description: "Prints the library that networks would run with, its version and providers, the threads, the cache\n" +
			"folder, and every problem found, without fetching anything. Exits with 4 when no network could run.",
		Flags: append(runtimeFlags(), &cli.BoolFlag{Name: "json", Usage: "print the report as JSON"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			rt, err := runtimeConfig(c, s)
			if err != nil {
				return err
			}
			r := ort.Diagnose(rt)
			if c.Bool("json") {
				enc := json.NewEncoder(s.out)
				enc.SetIndent("", "  ")
				err = enc.Encode(struct {
					Schema string `json:"schema"`
					OK     bool   `json:"ok"`
					ort.Report
				}{"mdmgen.doctor/1", len(r.Problems) == 0, r})
			} else {
				err = printDiagnosis(s, r)
			}
			if err == nil && !r.Usable {
				err = missingf("doctor: no network can run: %s", strings.Join(r.Problems, "; "))
			}
			return err
		},
	}
}

func printDiagnosis(s streams, r ort.Report) error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, printable.String(fmt.Sprintf(format, args...)))
	}
	row("mdmgen", "%s, %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	row("runtime", "%s", or(r.Library, "none found"))
	row("version", "%s", or(r.Version, "-"))
	row("found", "%s", or(r.Source, "-"))
	if r.Fetch != "" {
		row("fetch", "with %s at first use", r.Fetch)
	}
	row("providers", "%s", or(strings.Join(r.Providers, ", "), "-"))
	row("threads", "%d", r.Threads)
	row("cache", "%s (%s)", r.CacheDir, humanize.IBytes(uint64(r.CacheBytes)))
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
