//go:build unix

package torture

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mdmgen/builtin"
	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort/library"
)

// subject is a command that is tortured, in a folder of its own that is empty except for what
// prepare puts there.
type subject struct {
	name   string
	weight int // the relative frequency
	args   []string
	// env is added to the environment. DIR stands for the folder, LIBRARY for the runtime, HUB for
	// the address of a local hub.
	env     []string
	prepare func(dir string) error
	// journals are files that grow during the run, folders those that appear whole or not at all.
	journals, folders []string
	// refuses reports whether it fails if its results exist already, goesOn whether it continues
	// from an unfinished run, which Ctrl-C leaves, too.
	refuses, goesOn bool

	duration  time.Duration
	reference map[string]string
	tally     tally
}

const text = "Once upon a time there was a king who had three daughters and a golden bird that sang in the garden.\n"

func subjects() []*subject {
	input := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "text.txt"), []byte(strings.Repeat(text, 40)), 0o666)
	}
	return []*subject{
		{name: "score", weight: 3, prepare: input, journals: []string{"kept.jsonl"},
			args: []string{"score", "text.txt", "--length", "16", "--draws", "8", "--seed", "1", "--batch", "2", "--resume", "kept.jsonl", "--format", "json", "-o", "out.json"}},
		{name: "shard", weight: 3, prepare: input, journals: []string{"part.jsonl.partial"},
			args: []string{"score", "text.txt", "--length", "16", "--draws", "8", "--seed", "1", "--batch", "2", "--shard", "2/3", "-o", "part.jsonl"}},
		{name: "bound", weight: 3, prepare: input, journals: []string{"kept.jsonl"},
			args: []string{"bound", "text.txt", "--length", "4", "--limit", "48", "--steps", "4", "--seed", "1", "--resume", "kept.jsonl", "--format", "json", "-o", "out.json"}},
		{name: "bench", weight: 3,
			args: []string{"bench", "--case", "fhs", "--case", "tweedie steps=4", "-n", "2", "-r", "8", "--length", "16", "--seed", "1", "--format", "jsonl", "-o", "out.jsonl"}},
		{name: "generate", weight: 3,
			args: []string{"generate", "-n", "8", "--length", "32", "--seed", "1", "--format", "json", "-o", "out.json"}},
		{name: "convert", weight: 3, folders: []string{"out"}, refuses: true,
			args: []string{"convert", "fairytale", "-o", "out"}},
		{name: "pull", weight: 3, goesOn: true, args: []string{"pull", "test/fairytale"},
			env: []string{"HF_ENDPOINT=HUB", "HF_HUB_CACHE=DIR/hub", "HF_HOME=DIR/home"}},
		{name: "fetch", weight: 1, env: []string{"MDMGEN_CACHE=DIR/cache"},
			args: []string{"generate", "-n", "1", "--length", "4", "--seed", "1", "--format", "text", "-o", "out.txt"}},
		{name: "widen", weight: 1, prepare: largeCheckpoint, folders: []string{"cache/converted"},
			env:  []string{"MDMGEN_CACHE=DIR/cache", "MDMGEN_RUNTIME=LIBRARY"},
			args: []string{"generate", "--model", "../model", "-n", "1", "--length", "4", "--seed", "1", "--steps", "2", "--sampler", "tweedie", "--format", "ids", "-o", "out.txt"}},
	}
}

// largeConfig is the config of a network just larger than 256 MiB in float32, so that its float16
// weights are widened into the cache instead of memory.
const largeConfig = `{"model_type":"mdlm","architectures":["MDLM"],"hidden_dim":512,"cond_dim":16,"n_blocks":1,"n_heads":8,
"model_length":16,"vocab_size":63000,"time_conditioning":false,"mask_token_id":62999,"torch_dtype":"float16"}`

// largeCheckpoint writes the checkpoint of largeConfig, once, to the folder model next to a
// command's.
func largeCheckpoint(dir string) error {
	model := filepath.Join(filepath.Dir(dir), "model")
	if _, err := os.Stat(model); err == nil {
		return nil
	}
	return os.CopyFS(model, checkpointtest.Folder(largeConfig, "backbone.", checkpoint.F16, 1))
}

// bench is the working folder with the program and what all commands share.
type bench struct {
	work, program, library string
	env                    []string
	hub                    *hubtest.Server
}

// newBench builds the program and fetches the runtime. It fetches the package from its registry
// once, and the program fetches from that copy.
func newBench(t *testing.T) *bench {
	work := t.TempDir()
	b := &bench{work: work, program: filepath.Join(work, "mdmgen")}
	repo := &hubtest.Repo{Files: map[string][]byte{}}
	for _, name := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		repo.Files[name] = reftest.Must(fs.ReadFile(builtin.Fairytale(), name))(t)
	}
	var stop func()
	b.hub, stop = hubtest.Start(map[string]*hubtest.Repo{"test/fairytale": repo})
	t.Cleanup(stop)
	b.hub.Slowly(repo.Files["model.safetensors"], 20*time.Millisecond)
	run := func(env []string, words ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
		}
	}
	run(nil, "go", "build", "-C", filepath.Join("..", ".."), "-o", b.program, "./cmd/mdmgen")
	wheels := filepath.Join(work, "wheels")
	run(nil, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
		"--python-version", "3.12", "--implementation", "cp", "--dest", wheels, "onnxruntime=="+library.Version)
	// In a new environment no other runtime is found.
	venv := filepath.Join(work, "venv")
	run(nil, "python3", "-m", "venv", venv)
	cache := filepath.Join(work, "cache")
	b.env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "MDMGEN_") || strings.HasPrefix(kv, "HF_") })
	b.env = append(b.env, "VIRTUAL_ENV="+venv, "PATH="+filepath.Join(venv, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "PIP_NO_INDEX=1", "PIP_FIND_LINKS="+wheels, "MDMGEN_CACHE="+cache)
	run(b.env, b.program, "generate", "-n", "1", "--length", "4")
	found, err := filepath.Glob(filepath.Join(cache, "runtime", "*", "*onnxruntime*"))
	if err != nil || len(found) != 1 {
		t.Fatal("the runtime was not fetched: this machine has one elsewhere")
	}
	b.library = found[0]
	return b
}
