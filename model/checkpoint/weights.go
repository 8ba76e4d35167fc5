package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// The names of weight files on hubs.
const (
	weightsName = "model.safetensors"
	indexName   = "model.safetensors.index.json"
	torchName   = "pytorch_model.bin"
	torchIndex  = "pytorch_model.bin.index.json"

	maxShards = 1 << 10
)

// trained are the extensions of trainers' files.
var trained = []string{".ckpt", ".pth", ".pt"}

// shardName matches the name of one of several weight files.
var shardName = regexp.MustCompile(`-\d+-of-\d+\.(safetensors|bin)$`)

// Trained reports whether a file name is one that trainers use; such a file may contain the config.
func Trained(name string) bool { return slices.Contains(trained, filepath.Ext(name)) }

// IsWeights reports whether a file name is one of a weight file that Open accepts.
func IsWeights(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".safetensors" || ext == ".bin" || Trained(name)
}

// InFolder returns the names that Open uses of a folder's files: one weight file or index,
// none, or several trainers' files, which Open rejects.
func InFolder(names []string) []string {
	for _, name := range []string{weightsName, indexName, torchName, torchIndex} {
		if slices.Contains(names, name) {
			return []string{name}
		}
	}
	var found []string
	for _, name := range names {
		if Trained(name) {
			found = append(found, name)
		}
	}
	return found
}

// weightFiles returns the names of the weight files, sorted.
func (c *Checkpoint) weightFiles() ([]string, error) {
	if c.file != "" {
		return []string{c.file}, nil
	}
	entries, err := fs.ReadDir(c.fsys, ".")
	if c.dir != "" {
		entries, err = os.ReadDir(c.dir)
	}
	if err != nil {
		return nil, plainfile.Cause(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	found := InFolder(all)
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no %s, %s or file that ends with %s: %w", weightsName, torchName, strings.Join(trained, ", "), fs.ErrNotExist)
	case len(found) > 1:
		return nil, fmt.Errorf("holds %s: name one of them", strings.Join(found, ", "))
	case found[0] == indexName:
		return c.shards(indexName, ".safetensors")
	case found[0] == torchIndex:
		return c.shards(torchIndex, ".bin")
	}
	return found, nil
}

// Shards returns the files that an index of weights lists, sorted, at least one. It does not check
// the names.
func Shards(index []byte) ([]string, error) {
	var list struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := plainjson.Unmarshal(index, &list); err != nil {
		return nil, err
	}
	names := slices.Compact(slices.Sorted(maps.Values(list.WeightMap)))
	if len(names) == 0 {
		return nil, errors.New("weight_map is empty")
	}
	return names, nil
}

// shards returns the names of the files that an index lists, sorted.
func (c *Checkpoint) shards(index, ending string) ([]string, error) {
	text, err := c.readSmall(index)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", index, err)
	}
	names, err := Shards(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", index, err)
	}
	for _, n := range names {
		// A shard is next to its index: any other name could lead out of the folder.
		if !fs.ValidPath(n) || strings.ContainsAny(n, `/\:`) || !strings.HasSuffix(n, ending) {
			return nil, fmt.Errorf("%s: %s is not the name of a weights file (%s) in the folder", index, quoteName(n), ending)
		}
	}
	if len(names) > maxShards {
		return nil, fmt.Errorf("%s: lists %d files: at most %d are accepted", index, len(names), maxShards)
	}
	return names, nil
}
