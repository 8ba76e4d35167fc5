// Package tools implements the small commands: those that describe the program, its samplers and its
// machine, those that install and complete, and those that turn text into ids and parts into a result.
package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// Doctor returns the command doctor.
func Doctor() *kit.Command {
	var runtime setup.Runtime
	var named setup.Model
	var format string
	set := append(append(runtime.Flags(),
		kit.Text(&named.Ref, kit.Flag{Name: "model", Category: kit.CatGeneral, Usage: "also read all files of the model `REF`, print its digest, call it once, and print where its nodes run"}),
		setup.DtypeFlag(&named.Dtype, "dtype", "`TYPE` of matrices of --model")),
		kit.Format(&format, "text", "json")...)
	return &kit.Command{
		Name:      "doctor",
		Usage:     "show which ONNX Runtime is in use, and report problems",
		Arguments: "[MODEL]",
		Description: "Prints the ONNX Runtime library that networks would use, its version and providers, the number of threads, the\n" +
			"cache folder, and every problem found. It reads the library, the converted weights and --model in full and\n" +
			"compares their digests; it fetches nothing. With --model it calls the model once, to print how many nodes of its\n" +
			"network each of the runtime's providers runs and, with --device cuda, which operators CUDA leaves to the CPU.\n" +
			"The exit status is 4 if no network could run or the model does not exist, and 1 if files of the model are\n" +
			"damaged.",
		Flags: set,
		Run: func(ctx context.Context, s kit.Streams, _ []string) error {
			rt, err := runtime.Config(s, set)
			if err != nil {
				return err
			}
			rt.VerifyDigest = true
			d := diagnosis{spell: rt.Spell, Schema: "mdmgen.doctor/1", Report: ort.Diagnose(rt), Model: named.Ref}
			modelErr := d.models(ctx)
			if modelErr == nil && d.Model != "" && d.Library != "" && d.Usable {
				modelErr = d.place(ctx, rt, named.Dtype)
			}
			if errors.Is(modelErr, context.Canceled) {
				return modelErr
			}
			d.OK = len(d.Problems) == 0
			err = kit.Print(s.Out, format, d, d.text())
			if err == nil && !d.Usable {
				err = exit.Missingf("doctor: no network can run: %s", strings.Join(d.Problems, "; "))
			}
			return cmp.Or(err, modelErr)
		},
	}
}

// diagnosis is the result of doctor.
type diagnosis struct {
	spell  func(fault.Term) string
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	ort.Report
	// Converted is the number of models with converted weights in the cache; doctor reads all of
	// them.
	Converted int `json:"converted"`
	// Model is the model of --model, ModelDigest its digest.
	Model       string `json:"model,omitempty"`
	ModelDigest string `json:"model_digest,omitempty"`
	// Nodes is the number of nodes of its network by the provider that ran them in a call; OnCPU,
	// with a device other than the CPU, those that ran there nevertheless, by their operators.
	Nodes map[string]int `json:"nodes,omitempty"`
	OnCPU map[string]int `json:"nodes_on_cpu,omitzero"`
}

// place calls the model once and finds where its nodes run.
func (d *diagnosis) place(ctx context.Context, rt ort.Config, dtype graph.Dtype) error {
	if setup.IsWorld(d.Model) {
		return nil
	}
	folder, err := os.MkdirTemp("", "mdmgen-profile-")
	if err == nil {
		defer os.RemoveAll(folder)
		rt.Profile = folder
		err = d.call(ctx, rt, dtype)
	}
	var ran []ort.Ran
	if err == nil {
		ran, err = ort.ReadProfiles(folder)
	}
	if err != nil {
		d.Problems = append(d.Problems, exit.Message(fault.Spelled(err, d.spell)))
		return err
	}
	d.Nodes = make(map[string]int)
	if rt.Device != "cpu" {
		d.OnCPU = make(map[string]int)
	}
	for _, r := range ran {
		d.Nodes[r.Provider] += r.Nodes
		if d.OnCPU != nil && r.Provider == ort.CPUProvider {
			d.OnCPU[r.Operator] = r.Nodes
		}
	}
	return nil
}

// call opens the model and draws a token of a masked canvas.
func (d *diagnosis) call(ctx context.Context, rt ort.Config, dtype graph.Dtype) (err error) {
	rt.Offline = true
	_, path, err := setup.Cached(d.Model)
	if err != nil {
		return err
	}
	m, err := model.Open(ctx, d.Model, model.Options{Runtime: rt, Dtype: dtype, Builtins: setup.Builtins(), Known: setup.KnownFacts(d.Model), Path: path})
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	f := m.Facts()
	length := f.Length
	if !f.FixedLength {
		length = min(length, 64) // The nodes are the same for any length.
	}
	c := samplers.Call{IDs: slices.Repeat([]int64{int64(f.MaskID)}, length), Positions: []int64{int64(length - 1)}, Counts: []int{1}}
	if f.TimeConditioned {
		c.Sigma = []float64{1}
	}
	if drawer, ok := m.(samplers.Drawer); ok {
		return drawer.Best(ctx, c, samplers.Drawing{Uniforms: []float64{0.5}, Temperatures: []float64{1}}, make([]draw.Best, 1))
	}
	_, err = m.Logits(ctx, c)
	return err
}

// counts lists numbers by their names, the largest first.
func counts(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, of[name])
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// models checks the files of models. It returns the error of the model that --model names, which is
// also one of the problems.
func (d *diagnosis) models(ctx context.Context) error {
	n, problems, err := model.CheckConverted(ctx)
	if d.Converted = n; err != nil {
		problems = append(problems, err)
	}
	if d.Model != "" {
		var path string
		if _, path, err = setup.Cached(d.Model); err == nil {
			d.ModelDigest, err = model.Check(ctx, cmp.Or(path, d.Model), setup.Builtins())
		}
		if err != nil {
			problems = append(problems, err)
		}
	} else {
		err = ctx.Err()
	}
	for _, p := range problems {
		d.Problems = append(d.Problems, exit.Message(fault.Spelled(p, d.spell)))
	}
	return err
}

func (d *diagnosis) text() string {
	r, t := d.Report, kit.NewTable(false)
	row := t.Row
	row("mdmgen", "%s, %s %s/%s", kit.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	row("runtime", "%s", cmp.Or(r.Library, "none found"))
	row("version", "%s", cmp.Or(r.Version, "-"))
	row("found", "%s", cmp.Or(r.Source, "-"))
	if r.SHA256 != "" {
		row("digest", "%s, as published", r.SHA256)
	}
	if r.Fetch != "" {
		row("fetch", "with %s at first use", r.Fetch)
	}
	row("providers", "%s", cmp.Or(strings.Join(r.Providers, ", "), "-"))
	if r.CUDA != nil {
		for _, g := range r.CUDA.GPUs {
			row(fmt.Sprintf("GPU %d", g.Index), "%s", g)
		}
		for _, lack := range r.CUDA.Lacks {
			if !slices.Contains(r.Problems, lack) { // Problems has it.
				row("lacks", "%s", lack)
			}
		}
	}
	row("threads", "%d", r.Threads)
	row("cache", "%s (%s)", r.CacheDir, humanize.IBytes(uint64(r.CacheBytes)))
	row("converted", "%s in the cache", english.Plural(d.Converted, "model", ""))
	if d.Model != "" {
		row("model", "%s, %s", d.Model, cmp.Or(d.ModelDigest, "has problems"))
	}
	if d.Nodes != nil {
		row("nodes", "%s", counts(d.Nodes))
		if d.OnCPU != nil {
			row("on the CPU", "%s", counts(d.OnCPU))
		}
	}
	row("offline", "%t", r.Offline)
	for _, c := range r.Candidates {
		if c.Reason != "" {
			row("skipped", "%s: %s", c.Path, c.Reason)
		}
	}
	for _, p := range r.Problems {
		row("problem", "%s", p)
	}
	if len(r.Problems) == 0 {
		row("problem", "none")
	}
	return t.String()
}
