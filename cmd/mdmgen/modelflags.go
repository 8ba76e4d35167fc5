package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/testdata"
	"mdmgen/tokenize"
)

// builtinName is the model that the program carries.
const builtinName = "fairytale"

func builtins() []model.Builtin {
	return []model.Builtin{{Name: builtinName, FS: testdata.Fairytale()}}
}

// Categories of flags in the help text.
const (
	catModel  = "Model"
	catInput  = "What to fill in"
	catSample = "Sampling"
	catOutput = "Output"
)

// modelFlags are the flags of every command that opens a network.
func modelFlags() []cli.Flag {
	return append(runtimeFlags(),
		&cli.StringFlag{Name: "model", Value: builtinName, Category: catModel, EnvVars: []string{"MDMGEN_MODEL"},
			Usage: "`REF`: " + builtinName + " (built in), a folder with a checkpoint or an ONNX model, an .onnx file, or a world's .json file"},
		&cli.StringSliceFlag{Name: "fact", Category: catModel,
			Usage: "change a fact of the model, `KEY=VALUE` (mask_id, length, columns, noise, time_conditioned, output, padding); may be repeated"},
		&cli.StringFlag{Name: "sidecar", Category: catModel,
			Usage: "`FILE` with facts of the model as JSON (default: NAME.mdmgen.json beside NAME.onnx)"},
	)
}

// runtimeFlags say which ONNX Runtime is used, and how.
func runtimeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "runtime", Category: catModel, EnvVars: []string{"MDMGEN_RUNTIME"},
			Usage: "ONNX Runtime's library: `PATH` of the file or of its folder (default: searched for, else fetched once)"},
		&cli.StringFlag{Name: "device", Value: "cpu", Category: catModel, EnvVars: []string{"MDMGEN_DEVICE"},
			Usage: "`DEVICE` that runs the network: cpu, cuda, cuda:N, or auto"},
		&cli.IntFlag{Name: "threads", Category: catModel, EnvVars: []string{"MDMGEN_THREADS"}, DefaultText: "all",
			Usage: "`N` threads of one network call"},
		&cli.BoolFlag{Name: "offline", Category: catModel, EnvVars: []string{"MDMGEN_OFFLINE"},
			Usage: "never fetch anything"},
	}
}

// tokenizerFlag is for every command that turns text into ids or back.
func tokenizerFlag() cli.Flag {
	return &cli.StringFlag{Name: "tokenizer", Category: catModel, EnvVars: []string{"MDMGEN_TOKENIZER"},
		Usage: "`PATH` of a tokenizer.json or of the folder that holds one (default: the model's own)"}
}

// runtimeConfig reads the runtime's flags.
func runtimeConfig(c *cli.Context, s streams) (ort.Config, error) {
	threads := c.Int("threads")
	if threads < 0 || threads > 4096 {
		return ort.Config{}, usagef("--threads %d: must be in 0..4096, 0 for all", threads)
	}
	device := c.String("device")
	if err := ort.CheckDevice(device); err != nil {
		return ort.Config{}, usagef("--device %s: must be cpu, cuda, cuda:N or auto", device)
	}
	return ort.Config{Library: c.String("runtime"), Offline: c.Bool("offline"), Threads: threads, Device: device, Log: s.notice}, nil
}

// modelOptions reads the model's flags.
func modelOptions(c *cli.Context, s streams) (model.Options, error) {
	rt, err := runtimeConfig(c, s)
	if err != nil {
		return model.Options{}, err
	}
	override := make(map[string]string)
	for _, kv := range c.StringSlice("fact") {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return model.Options{}, usagef("--fact %s: must be KEY=VALUE", kv)
		}
		if !facts.Known(key) {
			return model.Options{}, usagef("--fact %s: unknown fact %q", kv, key)
		}
		if _, twice := override[key]; twice {
			return model.Options{}, usagef("--fact %s: %s is given twice", kv, key)
		}
		override[key] = value
	}
	return model.Options{Runtime: rt, Builtins: builtins(), Override: override, Sidecar: c.String("sidecar")}, nil
}

// openModel opens the model that the flags name.
func openModel(ctx context.Context, c *cli.Context, s streams) (model.Model, error) {
	opts, err := modelOptions(c, s)
	if err != nil {
		return nil, err
	}
	return model.Open(ctx, c.String("model"), opts)
}

// errNoTokenizer says that a model's folder has no tokenizer.
var errNoTokenizer = errors.New("no tokenizer")

// openTokenizer opens the tokenizer that --tokenizer names, else the model's
// own. The error wraps errNoTokenizer where the model has none.
func openTokenizer(c *cli.Context) (*tokenize.Tokenizer, error) {
	if path := c.String("tokenizer"); path != "" {
		t, err := tokenize.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, missingf("--tokenizer %s: no tokenizer.json there", path)
		}
		return t, err
	}
	ref := c.String("model")
	kind, path, err := model.Resolve(ref, builtins())
	if err != nil {
		return nil, err
	}
	switch kind {
	case model.KindBuiltin:
		data, err := fs.ReadFile(testdata.Fairytale(), "tokenizer.json")
		if err != nil {
			return nil, err
		}
		return tokenize.Parse(ref, data)
	case model.KindWorld:
		return nil, fmt.Errorf("%w: %s is a world, whose tokens have no text", errNoTokenizer, ref)
	case model.KindONNX:
		path = filepath.Dir(path)
	}
	t, err := tokenize.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no tokenizer.json", errNoTokenizer, ref)
	}
	return t, err
}

// needTokenizer turns the lack of a tokenizer into advice: what needs it, and
// which flag gives it.
func needTokenizer(err error, what, otherwise string) error {
	if errors.Is(err, errNoTokenizer) {
		return missingf("%s needs a tokenizer: %v; give one with --tokenizer%s",
			what, strings.TrimPrefix(err.Error(), errNoTokenizer.Error()+": "), otherwise)
	}
	return err
}
