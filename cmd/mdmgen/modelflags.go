package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/builtin"
	"mdmgen/model"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/tokenize"
)

// builtinName is the model that the program carries.
const builtinName = "fairytale"

func builtins() []model.Builtin {
	return []model.Builtin{{Name: builtinName, FS: builtin.Fairytale()}}
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

// The environment variables that are defaults of flags. They are never given to the
// library of flags, for which a variable that is set is a flag that is given.
const (
	envModel     = "MDMGEN_MODEL"
	envTokenizer = "MDMGEN_TOKENIZER"
	envDevice    = "MDMGEN_DEVICE"
	envThreads   = "MDMGEN_THREADS"
)

// runtimeFlags say which ONNX Runtime is used, and how. The runtime's own variable is
// read where the runtime is searched for.
func runtimeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "runtime", Category: catModel,
			Usage: "ONNX Runtime's library: `PATH` of the file or of its folder (default: searched for, else fetched once) [$MDMGEN_RUNTIME]"},
		&cli.StringFlag{Name: "device", Value: "cpu", Category: catModel,
			Usage: "`DEVICE` that runs the network: cpu, cuda, cuda:N, or auto [$" + envDevice + "]"},
		&cli.IntFlag{Name: "threads", Category: catModel, DefaultText: "all",
			Usage: "`N` threads of one network call [$" + envThreads + "]"},
		&cli.BoolFlag{Name: "offline", Category: catModel, Usage: "never fetch anything [$MDMGEN_OFFLINE]"},
	}
}

// tokenizerFlag is for every command that turns text into ids or back.
func tokenizerFlag() cli.Flag {
	return &cli.StringFlag{Name: "tokenizer", Category: catModel, DefaultText: "the model's own, else $" + envTokenizer,
		Usage: "`PATH` of a tokenizer.json or of the folder that holds one"}
}

// modelFlag names the model.
func modelFlag(kinds string) cli.Flag {
	return &cli.StringFlag{Name: "model", Category: catModel, Value: builtinName,
		Usage: "`REF`: " + builtinName + " (built in), " + kinds + " [$" + envModel + "]"}
}

// maxThreads bounds --threads.
const maxThreads = 4096

// threadsOr returns --threads, else what the environment says, 0 for all.
func threadsOr(c *cli.Context) (int, error) {
	if c.IsSet("threads") {
		if n := c.Int("threads"); n < 0 || n > maxThreads {
			return 0, usagef("--threads %d: must be in 0..%d, 0 for all", n, maxThreads)
		}
		return c.Int("threads"), nil
	}
	text := os.Getenv(envThreads)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxThreads {
		return 0, usagef("%s=%s: must be a whole number in 0..%d, 0 for all", envThreads, text, maxThreads)
	}
	return n, nil
}

// runtimeConfig reads the runtime's flags.
func runtimeConfig(c *cli.Context, s streams) (ort.Config, error) {
	threads, err := threadsOr(c)
	if err != nil {
		return ort.Config{}, err
	}
	device := c.String("device")
	if err := ort.CheckDevice(device); err != nil {
		source := "--device "
		if !c.IsSet("device") {
			source = envDevice + "="
		}
		return ort.Config{}, usagef("%s%s: must be cpu, cuda, cuda:N or auto", source, device)
	}
	return ort.Config{Library: c.String("runtime"), Offline: c.Bool("offline"), Online: c.IsSet("offline") && !c.Bool("offline"), Threads: threads, Device: device, VerifyDigest: c.Bool("verify-digest"), Log: s.notice}, nil
}

// isWorld says that ref is a world. What it is otherwise, or that there is no such model,
// is told where it is opened.
func isWorld(ref string) bool {
	kind, _, err := model.Resolve(ref, builtins())
	return err == nil && kind == model.KindWorld
}

// worldConfig refuses flags that a world has no use for. The environment's and the config
// file's are for the models that have.
func worldConfig(c *cli.Context, s streams) (ort.Config, error) {
	for _, flag := range []string{"runtime", "threads", "offline"} {
		if given(c, flag) {
			return ort.Config{}, usagef("--%s: a world is a table, which needs no runtime", flag)
		}
	}
	out := ort.Config{Device: "cpu", Log: s.notice}
	if given(c, "device") {
		out.Device = c.String("device") // Where that is another one, it is refused by name.
	}
	return out, nil
}

// modelOptions reads the flags of the model that ref names.
func modelOptions(c *cli.Context, s streams, ref string) (model.Options, error) {
	read := runtimeConfig
	if isWorld(ref) {
		read = worldConfig
	}
	rt, err := read(c, s)
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
	opts, err := modelOptions(c, s, c.String("model"))
	if err != nil {
		return nil, err
	}
	return s.open(ctx, c.String("model"), opts)
}

// errNoTokenizer says that a model's folder has no tokenizer.
var errNoTokenizer = errors.New("no tokenizer")

// openTokenizer opens the tokenizer that --tokenizer names, else the model's
// own, else that of the environment or the config file, which is none for a world: its
// tokens have no text. The error wraps errNoTokenizer where there is none.
func openTokenizer(c *cli.Context, s streams) (t *tokenize.Tokenizer, err error) {
	begin, source, path := time.Now(), "--tokenizer", c.String("tokenizer")
	defer func() {
		if err == nil {
			s.detail("tokenizer %s: %d tokens, opened in %.3g s", or(path, "of the model"), t.Size(), time.Since(begin).Seconds())
		}
	}()
	if given(c, "tokenizer") && path != "" {
		return namedTokenizer(c.Context, source, path)
	}
	if path == "" {
		source, path = envTokenizer, os.Getenv(envTokenizer)
	}
	t, err = ownTokenizer(c.Context, c.String("model"))
	if path == "" || !errors.Is(err, errNoTokenizer) || isWorld(c.String("model")) {
		path = ""
		return t, err
	}
	return namedTokenizer(c.Context, source, path)
}

// namedTokenizer opens the tokenizer at a path that was given as source.
func namedTokenizer(ctx context.Context, source, path string) (*tokenize.Tokenizer, error) {
	t, err := tokenize.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingf("%s %s: no tokenizer.json there", source, path)
	}
	return t, err
}

// ownTokenizer opens the tokenizer in the folder of a model.
func ownTokenizer(ctx context.Context, ref string) (*tokenize.Tokenizer, error) {
	kind, path, err := model.Resolve(ref, builtins())
	if err != nil {
		return nil, err
	}
	switch kind {
	case model.KindBuiltin:
		data, err := fs.ReadFile(builtin.Fairytale(), "tokenizer.json")
		if err != nil {
			return nil, err
		}
		return tokenize.Parse(ref, data)
	case model.KindWorld:
		return nil, fmt.Errorf("%w: %s is a world, whose tokens have no text", errNoTokenizer, ref)
	case model.KindONNX:
		path = filepath.Dir(path)
	}
	t, err := tokenize.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(path) == "onnx" {
		// Hubs keep the ONNX files of a model in a folder of that name.
		t, err = tokenize.Open(ctx, filepath.Dir(path))
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

// deviceOf is the device in records: a world is worked out here whatever the
// environment says.
func deviceOf(c *cli.Context, f model.Facts) string {
	if f.Family == "world" {
		return "cpu"
	}
	return c.String("device")
}
