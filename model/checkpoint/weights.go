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

// The names that hubs give to weights.
const (
	weightsName = "model.safetensors"
	indexName   = "model.safetensors.index.json"
	torchName   = "pytorch_model.bin"
	torchIndex  = "pytorch_model.bin.index.json"

	maxShards = 1 << 10
)

// trained are the endings of files that trainers write.
var trained = []string{".ckpt", ".pth", ".pt"}

// shardName matches the name of one of several files of weights.
var shardName = regexp.MustCompile(`-\d+-of-\d+\.(safetensors|bin)$`)

// Trained reports whether a file's name is one that trainers give, who may keep the config in it.
func Trained(name string) bool { return slices.Contains(trained, filepath.Ext(name)) }

// IsWeights reports whether a file's name is one of weights, as OpenWeights takes them.
func IsWeights(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".safetensors" || ext == ".bin" || Trained(name)
}

// InFolder returns what OpenWeights takes of a folder's files, by their names: one name of
// weights or of an index, none, or those of several trainers' files, of which it takes none.
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

// weightFiles returns the names of the files of weights, sorted.
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

// Shards returns the files that an index of weights lists, sorted, at least one. Their names may be
// anything.
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
		// A shard lies beside its index: anything else could reach out of the folder.
		if !fs.ValidPath(n) || strings.ContainsAny(n, `/\:`) || !strings.HasSuffix(n, ending) {
			return nil, fmt.Errorf("%s: %s is not the name of a file of weights (%s) in the folder", index, quoteName(n), ending)
		}
	}
	if len(names) > maxShards {
		return nil, fmt.Errorf("%s: lists %d files: at most %d are accepted", index, len(names), maxShards)
	}
	return names, nil
}
