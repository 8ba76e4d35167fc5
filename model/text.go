package model

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"mdmgen/tokenize"
)

// OpenText is [Open] together with the model's tokenizer.json, in its folder or next to its file.
// If there is none the error satisfies errors.Is(err, fs.ErrNotExist).
func OpenText(ctx context.Context, ref string, opts Options) (Model, *tokenize.Tokenizer, error) {
	t, err := openTokenizer(ctx, ref, opts)
	if err != nil {
		return nil, nil, err
	}
	m, err := Open(ctx, ref, opts)
	return m, t, err
}

func openTokenizer(ctx context.Context, ref string, opts Options) (*tokenize.Tokenizer, error) {
	if b := builtin(ref, opts.Builtins); b != nil {
		data, err := fs.ReadFile(b.FS, "tokenizer.json")
		if err != nil {
			return nil, err
		}
		return tokenize.Parse(ref, data)
	}
	_, path, err := Resolve(cmp.Or(opts.Path, ref), opts.Builtins)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return tokenize.Open(ctx, path)
}
