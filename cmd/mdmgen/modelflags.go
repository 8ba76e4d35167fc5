package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	catInput  = "Canvas"
	catSample = "Sampling"
	catOutput = "Output"
)

// modelFlags are the flags of every command that opens a network.
func modelFlags() []cli.Flag {
	return append(runtimeFlags(),
		modelFlag("a folder with a checkpoint or an ONNX model, an .onnx file, or a world's .json file"),
		&cli.StringSliceFlag{Name: "fact", Category: catModel,
			Usage: "change a fact of the model, `KEY=VALUE` (mask_id, length, columns, padding, noise, time_conditioned, output, shift, name); may be repeated"},
		&cli.StringFlag{Name: "sidecar", Category: catModel,
			Usage: "`FILE` with facts of the model as JSON (default: NAME.mdmgen.json beside NAME.onnx)"},
		&cli.BoolFlag{Name: "verify-digest", Category: catModel,
			Usage: "read all files of a model for its digest, also those that are unchanged since they were last read by what the system says of them"},
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
		&cli.BoolFlag{Name: "offline", Category: catModel, Usage: "never fetch anything [$MDMGEN_OFFLINE]"},
	}
}

// tokenizerFlag is for every command that turns text into ids or back.
func tokenizerFlag() cli.Flag {
	return &cli.StringFlag{Name: "tokenizer", Category: catModel, DefaultText: "the model's own, else $MDMGEN_TOKENIZER",
		Usage: "`PATH` of a tokenizer.json or of the folder that holds one"}
}

// modelFlag names the model. Its environment variable is a default and not a
// flag that was given, so that an argument may say otherwise.
func modelFlag(kinds string) cli.Flag {
	ref := os.Getenv("MDMGEN_MODEL")
	if ref == "" {
		ref = builtinName
	}
	return &cli.StringFlag{Name: "model", Category: catModel, Value: ref,
		Usage: "`REF`: " + builtinName + " (built in), " + kinds + " [$MDMGEN_MODEL]"}
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
	return ort.Config{Library: c.String("runtime"), Offline: c.Bool("offline"), Threads: threads, Device: device, VerifyDigest: c.Bool("verify-digest"), Log: s.notice}, nil
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

// openModel opens the model that the flags name, for what is asked of it most.
func openModel(ctx context.Context, c *cli.Context, s streams, outlet model.Outlet) (model.Model, error) {
	opts, err := modelOptions(c, s)
	if err != nil {
		return nil, err
	}
	opts.Outlet = outlet
	return model.Open(ctx, c.String("model"), opts)
}

// errNoTokenizer says that a model's folder has no tokenizer.
var errNoTokenizer = errors.New("no tokenizer")

// openTokenizer opens the tokenizer that --tokenizer names, else the model's
// own, else that of the environment. The error wraps errNoTokenizer where there
// is none.
func openTokenizer(c *cli.Context) (*tokenize.Tokenizer, error) {
	if path := c.String("tokenizer"); path != "" {
		return namedTokenizer("--tokenizer", path)
	}
	t, err := ownTokenizer(c.String("model"))
	if path := os.Getenv("MDMGEN_TOKENIZER"); errors.Is(err, errNoTokenizer) && path != "" {
		return namedTokenizer("MDMGEN_TOKENIZER", path)
	}
	return t, err
}

// namedTokenizer opens the tokenizer at a path that was given as source.
func namedTokenizer(source, path string) (*tokenize.Tokenizer, error) {
	t, err := tokenize.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingf("%s %s: no tokenizer.json there", source, path)
	}
	return t, err
}

// ownTokenizer opens the tokenizer in the folder of a model.
func ownTokenizer(ref string) (*tokenize.Tokenizer, error) {
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
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(path) == "onnx" {
		// Hubs keep the ONNX files of a model in a folder of that name.
		t, err = tokenize.Open(filepath.Dir(path))
	}
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
