// Package builtin contains the built-in model: a small masked diffusion language model with its
// tokenizer, in the layout in which hubs publish such models.
package builtin

//go:generate go run ../tools/regen

import (
	"context"
	"embed"
	"io/fs"
	"unsafe"

	"mdmgen/model"
	"mdmgen/tokenize"
)

//go:embed fairytale
var files embed.FS

//go:embed fairytale/model.safetensors
var weights string

// folder is a file system that returns the weights without copying them: they must not be written to.
type folder struct{ fs.FS }

func (f folder) ReadFile(name string) ([]byte, error) {
	if name == "model.safetensors" {
		return unsafe.Slice(unsafe.StringData(weights), len(weights)), nil
	}
	return fs.ReadFile(f.FS, name)
}

// Digest is the digest of the built-in model's config and weights, so that they need not be read for it.
const Digest = "sha256:ebca29087ae3e2b95a8013a70ef78952e263319354bde3a19c856b4a060d07fa"

// Fairytale returns the folder of the built-in model: config.json,
// model.safetensors and tokenizer.json.
func Fairytale() fs.FS {
	dir, err := fs.Sub(files, "fairytale")
	if err != nil {
		panic(err) // The name is a constant and valid.
	}
	return folder{dir}
}

// Open opens the built-in model on the CPU with all threads, and its tokenizer. It fetches ONNX Runtime
// if that is missing.
func Open(ctx context.Context) (model.Model, *tokenize.Tokenizer, error) {
	return model.OpenText(ctx, "fairytale", model.Options{Builtins: []model.Builtin{{Name: "fairytale", FS: Fairytale(), Digest: Digest}}})
}
