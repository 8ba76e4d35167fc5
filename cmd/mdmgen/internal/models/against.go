package models

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/verify"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/cmd/mdmgen/internal/texts"
	"mdmgen/examples"
	"mdmgen/internal/exit"
	"mdmgen/internal/printable"
	"mdmgen/model"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// Defaults, and the maximum of numbers.
const (
	defaultDraws   = 16
	defaultWindows = 64
	most           = 1 << 20

	// Windows of the reference's own samples: the maximum length, the number of network
	// calls, and samples in a call.
	ownLength = 128
	ownCalls  = 32
	ownBatch  = 8
)

// verifySettings holds all that the numbers depend on besides the models.
type verifySettings struct {
	// Text is "sha256:…" of the windows' ids, Own whether the reference drew them.
	Text       string  `json:"text"`
	Own        bool    `json:"own_samples,omitempty"`
	Length     int     `json:"length"`
	Draws      int     `json:"draws"`
	Seed       uint64  `json:"seed"`
	Batch      int     `json:"batch,omitempty"`
	Confidence float64 `json:"confidence"`
}

// AgainstRecord is the JSON output of a comparison with another model.
type AgainstRecord struct {
	*verify.Difference
	Settings   verifySettings `json:"settings"`
	Provenance kit.Provenance `json:"provenance"`
	// Reference is the origin of the other model.
	Reference *model.Origin `json:"reference"`
}

// againstFlags returns the flags of a comparison with another model.
func (o *verifying) againstFlags() kit.Set {
	o.draws, o.confidence = defaultDraws, estimate.DefaultConfidence
	return slices.Concat(kit.Set{
		kit.Name(&o.against, "name the other model", kit.Flag{Name: "against", Category: kit.CatEstimate, Usage: "compare with the model `REF`, the reference"}),
		kit.Name(&o.text, "name the file of the text", kit.Flag{Name: "text", Category: kit.CatInput, Default: "the reference's own samples", Usage: "mask the text in `FILE`, plain or lines of {\"ids\":…}"}),
		setup.DtypeFlag(&o.againstDtype, "against-dtype", "--dtype of the other model, as `TYPE`"),
		kit.Text(&o.againstDevice, kit.Flag{Name: "against-device", Category: kit.CatGeneral, Default: "the same as --device", Usage: "run the other model on `DEVICE`"}),
	}, o.cut.Flags("the model's, at most 128 for samples", fmt.Sprint(defaultWindows)).Only("as", "length", "context", "limit"), kit.Set{
		kit.Int(&o.draws, 1, most, kit.Flag{Name: "draws", Category: kit.CatEstimate, Usage: "mask `N` canvases of each window, at fractions spread over 0 to 1"}),
		kit.Confidence(&o.confidence, kit.CatEstimate, "probability `P` of the intervals"),
	}, o.sampler.Flags().Only("seed", "batch"), kit.Set{o.tokenizer.Flag()})
}

// difference compares the model with another one.
func difference(ctx context.Context, s kit.Streams, o *verifying) (err error) {
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	other := o.model.Other(o.against, o.againstDtype, o.all.Find("against-dtype"))
	if o.againstDevice != "" {
		if err := ort.CheckDevice(o.againstDevice); err != nil {
			return exit.Usagef("--against-device %s: must be %s", o.againstDevice, ort.DeviceForms)
		}
		other.On(o.againstDevice)
	}
	reference, err := other.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(reference, &err)
	words, err := o.words(ctx, s, other)
	if err == nil {
		if err = verify.Comparable(m.Facts(), reference.Facts()); err != nil {
			err = exit.Usagef("verify: %s and %s: %w", o.model.Ref, other.Ref, err)
		}
	}
	if err != nil {
		return err
	}
	strict := reference // the model whose windows fit both
	if m.Facts().NeedsFirst() {
		strict = m
	}
	cfg := verify.AgainstConfig{Draws: o.draws, Batch: o.sampler.Batch, Seed: setup.SeedOr(o.sampler.Seed), Confidence: o.confidence}
	var list []texts.Window
	own := o.text == "" && !strict.Facts().NeedsFirst() // There is no first row to draw from.
	if own {
		list, err = o.own(ctx, s, reference, cfg.Seed)
	} else {
		list, cfg.Documents, err = o.windows(ctx, s, strict, words)
	}
	if err != nil {
		return err
	}
	if o.all.Given("tolerance") {
		cfg.Limit = &o.tolerance
	}
	o.sampler.ShowSeed(s, cfg.Seed)
	bar := kit.NewBar(s, len(list), "comparing", "windows")
	cfg.Done = func() { bar.Add(1) }
	targets := make([]likelihood.Target, len(list))
	for i, w := range list {
		targets[i] = w.Target
	}
	d, err := verify.Against(ctx, m, reference, targets, cfg)
	bar.Clear()
	if err != nil {
		return err
	}
	record := AgainstRecord{d, verifySettings{texts.Digest(list), own, o.cut.Length, o.draws, cfg.Seed, o.sampler.Batch, o.confidence}, kit.NewProvenance(m, words), kit.NewProvenance(reference, nil).Model}
	err = kit.Print(s.Out, o.format, record, record.text(named(o.model.Ref, m), named(other.Ref, reference)))
	if err == nil && !d.OK {
		err = exit.Invalidf("verify %s: the mean KL from %s is %.3g nats per token, above --tolerance %g", o.model.Ref, other.Ref, d.All.KL.Mean, o.tolerance)
	}
	return err
}

// words opens the reference's tokenizer, nil if there is none. If the model has its own, it must be
// the same.
func (o *verifying) words(ctx context.Context, s kit.Streams, other *setup.Model) (*tokenize.Tokenizer, error) {
	words, err := o.tokenizer.OpenAny(ctx, s, other)
	if err != nil || words == nil || o.tokenizer.Given() {
		return words, err
	}
	own, err := o.tokenizer.OpenAny(ctx, s, &o.model)
	if err == nil && own != nil && own.Digest() != words.Digest() {
		err = exit.Usagef("verify: %s and %s have different tokenizers: choose one with --tokenizer", o.model.Ref, other.Ref)
	}
	return words, err
}

// own draws windows from the reference, which show what a text of another kind may hide: the cost of a precision
// where the network is used.
func (o *verifying) own(ctx context.Context, s kit.Streams, m model.Model, seed uint64) ([]texts.Window, error) {
	f := m.Facts()
	if err := o.all.Unused("without --text", "as", "context"); err != nil {
		return nil, err
	}
	if o.cut.Length == 0 {
		if o.cut.Length = f.Length; !f.FixedLength {
			o.cut.Length = min(f.Length, ownLength)
		}
	}
	if err := texts.CheckLength(o.cut.Length, f); err != nil {
		return nil, err
	}
	masks := max(o.cut.Length-len(f.Frame), 1)
	list := make([]texts.Window, cmp.Or(o.cut.Limit, defaultWindows))
	method, err := catalog.New(catalog.Options{Sampler: "spread", Steps: min(ownCalls, masks)}, m.Spec())
	if err != nil {
		return nil, fmt.Errorf("verify: drawing samples: %w", err)
	}
	target := likelihood.Framed(f, slices.Repeat([]int{f.MaskID}, masks))
	bar := kit.NewBar(s, len(list), "sampling", "windows")
	defer bar.Clear()
	cfg := samplers.Config{Method: method, Seed: seed, Batch: cmp.Or(o.sampler.Batch, ownBatch)}
	_, err = samplers.Sample(ctx, m, samplers.Copies(target.IDs, 0, len(list)), cfg, func(r samplers.Result) error {
		bar.Add(1)
		list[r.Index] = texts.Window{Target: likelihood.Target{IDs: r.IDs, Free: target.Free}, Document: int(r.Index)}
		return nil
	})
	return list, err
}

// windows cuts the text into windows, and returns the document of each if these are the units of errors.
func (o *verifying) windows(ctx context.Context, s kit.Streams, m model.Model, words *tokenize.Tokenizer) (list []texts.Window, documents []int, err error) {
	e, err := likelihood.New(m, likelihood.Options{Blocks: true})
	if err != nil {
		return nil, nil, err
	}
	in := &texts.Reader{Cutting: o.cut, Ctx: ctx, Streams: s, Path: o.text, Command: "verify", Flags: o.all, Facts: m.Facts(), Tokenizer: words, Check: e.Check}
	in.Limit = cmp.Or(o.cut.Limit, defaultWindows)
	switch {
	case o.text != "":
	case words == nil:
		return nil, nil, exit.Missingf("verify: %s has no tokenizer for the built-in text: give one with --tokenizer, or lines {\"ids\":…} with --text", o.against)
	default:
		in.Streams.In = strings.NewReader(examples.Tale)
	}
	list, err = in.Read()
	if o.cut.Length = in.Cut.Length; in.Clustered() {
		for _, w := range list {
			documents = append(documents, w.Document)
		}
	}
	return list, documents, err
}

// text returns a line for each masked fraction, then the NELBO.
func (d *AgainstRecord) text(name, reference string) string {
	head := fmt.Sprintf("%s against %s: %s, %s, %s each\n", name, reference,
		english.Plural(d.Windows, "window", ""), english.Plural(d.Tokens, "token", ""), english.Plural(d.Draws, "canvas", "canvases"))
	t := kit.NewTable(false)
	fmt.Fprintln(t, "masked\tpositions\tmean KL of μ, nats per token\tgreatest KL\tsame top token")
	row := func(masked string, b verify.Band) {
		fmt.Fprintf(t, "%s\t%d\t%s\t%.3g\t%.2f %%\n", masked, b.Positions, interval(b.KL), float64(b.Greatest), 100*b.Agreement.Mean)
	}
	for _, b := range d.Bands {
		row(fmt.Sprintf("%.0f–%.0f %%", 100*b.From, 100*b.To), b)
	}
	row("all", d.All)
	n := d.NELBO
	text := head + t.String() + fmt.Sprintf("NELBO: %s nats per token, the reference's %s; change %s\n", n.Model, n.Reference, interval(n.Change))
	verdict := "OK"
	switch {
	case d.Limit == nil:
		return text
	case !d.OK:
		verdict = "FAILED"
	}
	return text + fmt.Sprintf("%s: mean KL %.3g, limit %.3g\n", verdict, d.All.KL.Mean, *d.Limit)
}

// named returns the name of a model for display: its name and the type of its weights.
func named(ref string, m model.Model) string {
	if d, ok := m.(model.Describer); ok && d.Origin().Dtype != "" {
		return fmt.Sprintf("%s (%s)", printable.String(ref), d.Origin().Dtype)
	}
	return printable.String(ref)
}

// interval formats an estimate with its interval, or its standard error if it has none.
func interval(e estimate.Estimate) string {
	if math.IsInf(e.Hi, 1) {
		return e.String()
	}
	mean, _, _ := strings.Cut(e.String(), " ±")
	return mean + " [" + strings.Replace(e.Interval(), "..", ", ", 1) + "]"
}
