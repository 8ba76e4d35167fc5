// Package setup holds the flags that commands with a network share (model, runtime, tokenizer,
// sampler, profile), and opens what they name.
package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/builtin"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// BuiltinName is the name of the built-in model.
const BuiltinName = "fairytale"

// Builtins returns the built-in models.
func Builtins() []model.Builtin {
	return []model.Builtin{{Name: BuiltinName, FS: builtin.Fairytale(), Digest: builtin.Digest}}
}

// Model holds the flags of a command that opens a network.
type Model struct {
	Runtime
	// Ref names the model; Facts and Sidecar override the facts in its files.
	Ref     string
	Facts   []string
	Sidecar string
	// Weights selects a set of weights in a trainer's file that holds two; "" is ema.
	Weights checkpoint.Weights
	// Dtype is the type in which a checkpoint's matrices are multiplied, "" for float32.
	Dtype     graph.Dtype
	dtypeFlag *kit.Flag
	// network reports whether the command opens the model, not just its tokenizer. path is the
	// local path of a model named on the hub.
	network bool
	path    string
}

// Flags returns the flags of every command that runs a network.
func (m *Model) Flags() kit.Set {
	m.dtypeFlag = DtypeFlag(&m.Dtype, "dtype", "`TYPE` of matrices")
	return append(append(m.FileFlags(), m.Runtime.Flags()...), m.dtypeFlag).
		Rare("runtime", "tf32", "fact", "sidecar", "weights", "verify-digest")
}

// FileFlags returns the flags that name a model or override what its files hold.
func (m *Model) FileFlags() kit.Set {
	m.network = true
	return kit.Set{
		m.Flag("a folder, an .onnx file, a world's .json, or OWNER/NAME[@REVISION][:FILE]"),
		FactsFlag(&m.Facts),
		kit.Text(&m.Sidecar, kit.Flag{Name: "sidecar", Category: kit.CatGeneral, Default: "NAME.mdmgen.json beside NAME.onnx",
			Usage: "read facts of the model from `FILE`, as JSON"}),
		WeightsFlag(&m.Weights),
		kit.Bool(&m.verifyDigest, kit.Flag{Name: "verify-digest", Category: kit.CatGeneral,
			Usage: "read every file of a model for its digest, even if it seems unchanged"}),
	}
}

// Flag returns the flag that names the model.
func (m *Model) Flag(kinds string) *kit.Flag {
	m.Ref = BuiltinName
	return kit.Text(&m.Ref, kit.Flag{Name: "model", Category: kit.CatGeneral, Env: "MDMGEN_MODEL", Words: []string{BuiltinName},
		Usage: "use the model `REF`: " + kinds})
}

// WeightsFlag returns the flag that selects a set of weights.
func WeightsFlag(w *checkpoint.Weights) *kit.Flag {
	return kit.Words(w, []checkpoint.Weights{checkpoint.EMA, checkpoint.Raw}, kit.Flag{Name: "weights", Category: kit.CatGeneral,
		Usage: "take the `SET` of a trainer's two sets of weights: ema, the averages that published numbers use (default), or raw"})
}

// FactsFlag returns the flag that overrides facts.
func FactsFlag(list *[]string) *kit.Flag {
	return kit.Texts(list, kit.Flag{Name: "fact", Category: kit.CatGeneral,
		Usage: "change a fact of the model, `KEY=VALUE` (mask_id, length, columns, padding, frame, noise, time_conditioned, output, shift, input, block_size, name); may be repeated"})
}

// DtypeFlag returns a flag that selects the type of weights.
func DtypeFlag(d *graph.Dtype, name, usage string) *kit.Flag {
	known := func(d graph.Dtype) bool { return slices.Contains(graph.Dtypes(), d) || d == "bf16" } // for its own reason
	return kit.Known(d, graph.Dtypes(), known, kit.Flag{Name: name, Category: kit.CatGeneral, Default: string(graph.Float32),
		Usage: usage + ": fp32, fp16, int8 (fast) or int4 (small)"})
}

// Other returns a copy of m for another name, without the settings for m's own files.
func (m *Model) Other(ref string, d graph.Dtype, from *kit.Flag) *Model {
	other := *m
	other.Ref, other.Sidecar, other.Weights, other.Dtype, other.dtypeFlag = ref, "", "", d, from
	return &other
}

// OpenCheckpoint opens the checkpoint that ref names, for a command that reads no other kind of
// model.
func OpenCheckpoint(ref string, w checkpoint.Weights) (*checkpoint.Checkpoint, error) {
	kind, path, err := model.Resolve(ref, Builtins())
	if err != nil {
		return nil, err
	}
	switch {
	case kind == model.KindBuiltin && w == "":
		return checkpoint.OpenFS(Builtins()[0].FS, ref)
	case kind == model.KindBuiltin:
		return nil, fault.Unused("model "+ref+": has one set of weights", fault.Term{Name: "weights", Value: string(w)})
	case kind == model.KindCheckpoint:
		return checkpoint.Open(path, w)
	}
	return nil, fmt.Errorf("%s: is not a checkpoint: expected a folder with config.json and weights, or a trainer's file", strings.TrimSuffix(ref, string(filepath.Separator)))
}

// IsWorld reports whether ref is a world. It reports no error for a missing model: opening the
// model does.
func IsWorld(ref string) bool {
	kind, _, err := model.Resolve(ref, Builtins())
	return err == nil && kind == model.KindWorld
}

// Options reads the flags of the model, and fetches the files of a model on the hub. all are the
// flags of the command, which may have its own form of some of them.
func (m *Model) Options(ctx context.Context, s kit.Streams, all kit.Set) (model.Options, error) {
	read := m.Runtime.Config
	if IsWorld(m.Ref) {
		read = m.worldConfig
	}
	rt, err := read(s, all)
	if err != nil {
		return model.Options{}, err
	}
	out, err := m.files(rt, func() error { return m.locate(ctx, s) })
	if wrong := m.Dtype.Check(); err == nil && wrong != nil {
		err = exit.Usagef("%s: %w", kit.Dashed(m.dtypeFlag.Name), wrong)
	}
	out.Dtype = m.Dtype
	out.Keeps = all.Given("cache") && all.Text("cache") != "none"
	return out, err
}

// files returns the options for the model's files, which locate finds.
func (m *Model) files(rt ort.Config, locate func() error) (out model.Options, err error) {
	out = model.Options{Known: KnownFacts(m.Ref), Runtime: rt, Builtins: Builtins(), Sidecar: m.Sidecar, Weights: m.Weights}
	if out.Override, err = Overrides(m.Facts); err == nil {
		err = locate()
	}
	out.Path = m.path
	return out, err
}

// Overrides parses the values of --fact.
func Overrides(list []string) (map[string]string, error) {
	override := make(map[string]string)
	for _, kv := range list {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, fault.Usage("%v: must be KEY=VALUE", fault.Term{Name: "fact", Value: kv})
		}
		if !facts.Known(key) {
			return nil, fault.Usage("%v: unknown fact %q", fault.Term{Name: "fact", Value: kv}, key)
		}
		if _, twice := override[key]; twice {
			return nil, fault.Usage("%v: %s is given twice", fault.Term{Name: "fact", Value: kv}, key)
		}
		override[key] = value
	}
	return override, nil
}

// Describe describes the model by its files. It fetches and runs nothing.
func (m *Model) Describe(ctx context.Context) (model.Description, error) {
	o, err := m.files(ort.Config{Search: library.Search{VerifyDigest: m.verifyDigest}}, func() (err error) {
		m.Ref, m.path, err = Cached(m.Ref)
		return err
	})
	if err != nil {
		return model.Description{}, err
	}
	return model.Describe(ctx, m.Ref, o)
}

// Open opens the model that the flags name.
func (m *Model) Open(ctx context.Context, s kit.Streams, all kit.Set) (model.Model, error) {
	opts, err := m.Options(ctx, s, all)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, m.Ref, opts)
}

// DeviceOf returns the device for records. For a world it is the CPU, whatever the environment
// says.
func (m *Model) DeviceOf(f model.Facts) string {
	if f.Family == "world" {
		return "cpu"
	}
	return m.device
}

// ThreadsOf returns the number of threads of a model's calls, 0 if there are none.
func ThreadsOf(m model.Model) int {
	if d, ok := m.(model.Describer); ok {
		return d.Origin().Threads
	}
	return 0
}
