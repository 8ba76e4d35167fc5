// Package builtin carries the built-in model: a small masked diffusion language
// model with its tokenizer, in the layout in which a hub publishes such models.
package builtin

//go:generate go run ../internal/regen

import (
	"embed"
	"io/fs"
)

//go:embed fairytale
var files embed.FS

// Fairytale returns the folder of the built-in model: config.json,
// model.safetensors and tokenizer.json.
func Fairytale() fs.FS {
	dir, err := fs.Sub(files, "fairytale")
	if err != nil {
		panic(err) // The name is a constant and valid.
	}
	return dir
}
