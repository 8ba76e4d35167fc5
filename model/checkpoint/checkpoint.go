package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/stamp"
	"mdmgen/model/facts"
)

const (
	configName  = "config.json"
	weightsName = "model.safetensors"
	indexName   = "model.safetensors.index.json"

	maxJSON = 16 << 20 // bytes of a JSON file that are read
)

// Checkpoint is an open checkpoint whose tensors fit its config.
type Checkpoint struct {
	Config Config
	// Stamps remembers the digest of a folder's files from one run to the next; the zero
	// value has them read.
	Stamps stamp.Store

	name    string
	fsys    fs.FS
	dir     string            // "" where the files are not in a folder
	tensors map[string]Tensor // by plain name
	files   []*File           // by name
	names   []string          // of the files
	dtype   Dtype
	mu      sync.Mutex
	digest  string // "" until it was worked out
}

// Open opens the folder dir: config.json and either model.safetensors or the
// shards that model.safetensors.index.json lists. Files are regular ones, and links lead
// to others of the folder or of the hub's cache that it is in. The caller closes it.
func Open(dir string) (*Checkpoint, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", dir, pathError(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("checkpoint: %s: not a folder: give the one that holds %s and %s", dir, configName, weightsName)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", dir, err)
	}
	c := &Checkpoint{name: filepath.Base(abs), fsys: plainfile.Folder(dir), dir: dir}
	read := func(name string) (*File, error) {
		path, err := plainfile.Inside(dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
		}
		return OpenFile(path)
	}
	if err := c.open(read, dir); err != nil {
		return nil, err
	}
	return c, nil
}

// OpenFS opens a checkpoint at the root of a file system and calls it name. Its
// weights are read into memory.
func OpenFS(fsys fs.FS, name string) (*Checkpoint, error) {
	c := &Checkpoint{name: name, fsys: fsys}
	read := func(file string) (*File, error) {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(name, file), pathError(err))
		}
		f, err := FileOf(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(name, file), err)
		}
		return f, nil
	}
	if err := c.open(read, name); err != nil {
		return nil, err
	}
	return c, nil
}

// open reads the config, opens the weights and compares them. On an error it
// closes what it opened and leaves c unusable.
func (c *Checkpoint) open(file func(string) (*File, error), where string) (err error) {
	defer func() {
		if err != nil {
			c.Close()
			err = fmt.Errorf("checkpoint: %w", err)
		}
	}()
	text, err := c.readSmall(configName)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(where, configName), err)
	}
	if c.Config, err = ParseConfig(text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(where, configName), err)
	}
	if c.names, err = c.weightFiles(); err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	c.tensors = map[string]Tensor{}
	for _, name := range c.names {
		f, err := file(name)
		if err != nil {
			return err
		}
		c.files = append(c.files, f)
		for _, stored := range f.names {
			t, plain := f.tensors[stored], plainName(stored)
			if have, ok := c.tensors[plain]; ok {
				return fmt.Errorf("%s: tensors %s and %s are one parameter", filepath.Join(where, name), quoteName(have.Name), quoteName(stored))
			}
			c.tensors[plain] = t
		}
	}
	if err := c.Config.checkTensors(c.tensors); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(where, cmp.Or(c.oneFile(), indexName)), err)
	}
	c.dtype = c.tensors["vocab_embed.embedding"].Dtype
	return nil
}

// oneFile returns the name of the only file of weights, "" where there are more.
func (c *Checkpoint) oneFile() string {
	if len(c.names) == 1 {
		return c.names[0]
	}
	return ""
}

// weightFiles returns the names of the safetensors files, sorted.
func (c *Checkpoint) weightFiles() ([]string, error) {
	if _, err := fs.Stat(c.fsys, weightsName); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", weightsName, pathError(err))
		}
		return []string{weightsName}, nil
	}
	text, err := c.readSmall(indexName)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := fs.Stat(c.fsys, "pytorch_model.bin"); err == nil {
			return nil, fmt.Errorf("holds pytorch_model.bin: only %s is read: save the weights in that format", weightsName)
		}
		return nil, fmt.Errorf("no %s: %w", weightsName, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", indexName, err)
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := plainjson.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", indexName, err)
	}
	names := slices.Compact(slices.Sorted(maps.Values(index.WeightMap)))
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: weight_map is empty", indexName)
	}
	for _, n := range names {
		// A shard lies beside its index: anything else could reach out of the folder.
		if !fs.ValidPath(n) || strings.ContainsAny(n, `/\:`) || !strings.HasSuffix(n, ".safetensors") {
			return nil, fmt.Errorf("%s: %s is not the name of a safetensors file in the folder", indexName, quoteName(n))
		}
	}
	return names, nil
}

// readSmall reads a file of JSON.
func (c *Checkpoint) readSmall(name string) ([]byte, error) {
	return plainfile.ReadFS(c.fsys, name, maxJSON)
}

// Name returns the folder's name, or the one that OpenFS was given.
func (c *Checkpoint) Name() string { return c.name }

// FS returns the checkpoint's folder as a file system.
func (c *Checkpoint) FS() fs.FS { return c.fsys }

// Tensor returns a parameter by its plain name, such as
// "blocks.0.attn_qkv.weight". It panics for a name that Config.Tensors does not
// yield: all of those are there.
func (c *Checkpoint) Tensor(name string) Tensor {
	t, ok := c.tensors[name]
	if !ok {
		panic("checkpoint: no tensor " + name)
	}
	return t
}

// Dtype returns the type of the weights on disk: that of the embedding.
func (c *Checkpoint) Dtype() Dtype { return c.dtype }

// Facts returns what the rest of a program must know about the network, its
// digest included.
func (c *Checkpoint) Facts(ctx context.Context) (facts.Facts, error) {
	sum, err := c.Digest(ctx)
	if err != nil {
		return facts.Facts{}, err
	}
	f := facts.Facts{
		Schema: facts.Schema, Name: facts.Plain(c.name), Family: c.Config.Family,
		Columns: c.Config.Columns, MaskID: c.Config.MaskID, Length: c.Config.Length,
		TimeConditioned: c.Config.TimeConditioned, Output: facts.Logits,
		ScaleBySigma: c.Config.ScaleBySigma, Noise: c.Config.Noise,
		Parameters: c.Config.Parameters(), Dtype: string(c.dtype), Digest: sum,
	}
	if c.Config.Family == SEDD {
		f.Output = facts.LogScore
	}
	return f, nil
}

// Close unmaps the weights. It is safe to call twice.
func (c *Checkpoint) Close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	c.files, c.tensors = nil, nil
	return errors.Join(errs...)
}
