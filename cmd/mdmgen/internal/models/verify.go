package models

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/verify"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/internal/exit"
	"mdmgen/internal/printable"
	"mdmgen/model/graph"
)

// verifying holds the flags of verify.
type verifying struct {
	model     setup.Model
	golden    string
	tolerance float64
	format    string
	// against is the other model, "" for --golden. The following fields are the flags of that
	// comparison, and only lists their names.
	against, text string
	againstDtype  graph.Dtype
	againstDevice string
	sampler       setup.Sampler
	tokenizer     setup.Tokenizer
	cut           texts.Cutting
	draws         int
	confidence    float64
	only          []string
	all           kit.Set
}

func (o *verifying) flags() kit.Set {
	o.tolerance = verify.DefaultLimit
	against := o.againstFlags()
	o.only = against.Without("against").Names()
	o.all = append(append(append(o.model.Flags(),
		kit.Name(&o.golden, "name the file of reference tensors", kit.Flag{Name: "golden", Category: kit.CatEstimate, Usage: "read reference tensors from `FILE` (safetensors): input_ids.N, sigma.N and logits.N, log_mu.N, forward.N or log_score.N"}),
		kit.Number(&o.tolerance, "a number from 0", func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) },
			kit.Flag{Name: "tolerance", Category: kit.CatEstimate, Default: fmt.Sprintf("%g; none with --against", verify.DefaultLimit),
				Usage: "accept differences up to `X`; with --against, mean KL up to X nats per token"}),
	), against...), kit.Format(&o.format, "text", "json")...)
	return o.all.Common("golden", "against", "text", "tolerance", "seed", "format", "model")
}

// Verify returns the command verify.
func Verify() *kit.Command {
	o := &verifying{}
	return &kit.Command{
		Name:      "verify",
		Usage:     "compare a model's outputs with reference tensors or another model",
		Arguments: "[MODEL]",
		Description: "Recomputes every tensor of the reference file --golden with the model, and prints the largest difference and the\n" +
			"number of values of each. The exit status is 3 if a difference exceeds the tolerance, 1 if the file is\n" +
			"malformed. Two correct float32 executions of a small network differ by about 1e-5; a wrong norm or activation\n" +
			"shows as 1e-3 or more. If neighbouring numbers of a tensor's type differ by more than the tolerance, values may\n" +
			"differ by one such spacing more, and a line reports it.\n\n" +
			"--against REF compares two models of one vocabulary, or a model with itself in another precision. It prints\n" +
			"KL(μ_reference‖μ) at masked positions of a text, by masked fraction; how often both have the same most probable\n" +
			"token; and the difference of the NELBO with the same masks. --fact applies to both models, --sidecar and\n" +
			"--weights to MODEL.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

// VerifyRecord is the JSON output of verify.
type VerifyRecord struct {
	verify.Report
	Provenance kit.Provenance `json:"provenance"`
}

// run compares a model with the tensors of --golden.
func (o *verifying) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	switch {
	case o.against == "" && o.golden == "" && strings.EqualFold(filepath.Ext(o.model.Ref), ".json"):
		return exit.Usagef("verify: %s: the project's own reference files are read by `go test ./tools/oracle`; a model is compared with --golden FILE", o.model.Ref)
	case o.golden == "" && o.against == "":
		return exit.Usagef("verify: name the file of reference tensors with --golden, or another model with --against")
	}
	if err := o.all.Exclude([2]string{"golden", "against"}); err != nil {
		return err
	}
	if o.against != "" {
		return difference(ctx, s, o)
	}
	if err := o.all.Unused("without --against", o.only...); err != nil {
		return err
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
	err = kit.Print(s.Out, o.format, VerifyRecord{report, kit.NewProvenance(m, nil)}, textOf(report))
	if err == nil && !report.OK {
		err = exit.Invalidf("verify %s: %s", o.model.Ref, firstBreach(report))
	}
	return err
}

// textOf returns a line per item, and OK or FAILED.
func textOf(r verify.Report) string {
	t := kit.NewTable(false)
	fmt.Fprintln(t, "quantity\tvalues\tlargest difference\tlimit\t")
	for _, it := range r.Items {
		verdict := "ok"
		if !it.OK {
			verdict = "FAILED at " + printable.String(it.Worst.Path)
		}
		fmt.Fprintf(t, "%s\t%d\t%.3g %s\t%.3g\t%s\n", printable.String(it.Name), it.Count, float64(it.MaxDiff), it.Measure, it.Limit, verdict)
	}
	text := t.String()
	for _, it := range r.Items {
		if w := it.Widened; w != nil {
			text += fmt.Sprintf("%s: the limit is wider at %s by the spacing of %s there, at most %.3g\n",
				printable.String(it.Name), english.Plural(w.Count, "value", ""), w.Dtype, w.Spacing)
		}
	}
	if !r.OK {
		return text + "FAILED\n"
	}
	return text + "OK\n"
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
