package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/stamp"
	"mdmgen/internal/wordlist"
	"mdmgen/model/facts"
)

const (
	configName = "config.json"

	maxJSON = 16 << 20 // the most bytes read of a JSON file
)

// Checkpoint is an open checkpoint whose tensors match its config.
type Checkpoint struct {
	Config Config
	// Stamps remembers the digest of a folder's files from one run to the next; with the zero value
	// they are read each time.
	Stamps stamp.Store
	// Progress, if not nil, is called with byte counts while the digest is computed, in all
	// [Checkpoint.Reading] and the bytes of config.json.
	Progress func(bytes int64)

	name    string
	fsys    fs.FS
	dir     string            // "" if the files are not in a folder
	file    string            // of the weights, if it was named
	weights Weights           // as requested, then as chosen
	tensors map[string]Tensor // of the network, by plain name
	stored  []Tensor          // all tensors in the files
	files   []*File           // by name
	names   []string          // of the weight files
	digests []string          // of the files in the digest, the config first
	dtype   Dtype
	// special are the ids of tokens that no text contains, frame those of the two around every text;
	// nil if there are none.
	special, frame []int
	mu             sync.Mutex
	digest         string // "" until computed
}

// Open opens a folder with config.json and weights, or a weight file next to config.json; a
// trainer's file that contains its config needs none. The weights of a folder are the first of
// model.safetensors, pytorch_model.bin, each whole or in the shards listed by an index, and its
// only .ckpt, .pth or .pt. If a trainer's file contains two sets of weights, w selects one, the
// averages if w is ""; otherwise w must be "". Files must be regular, and links must lead to others
// in the folder or in the hub's cache that contains it. The caller must close the checkpoint.
func Open(path string, w Weights) (*Checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", path, plainfile.Cause(err))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %s: %w", path, err)
	}
	c := &Checkpoint{name: filepath.Base(abs), dir: path, weights: w}
	if !info.IsDir() {
		if c.dir = filepath.Dir(path); !IsWeights(path) {
			return nil, fmt.Errorf("checkpoint: %s: not a folder, and not a file of weights: give the folder that holds %s and %s", path, configName, weightsName)
		}
		c.file = filepath.Base(path)
		shard := shardName.MatchString(c.file)
		if shard || c.file == weightsName || c.file == torchName {
			c.name = filepath.Base(filepath.Dir(abs)) // It distinguishes models.
		}
		if shard {
			c.file = ""
		}
	}
	c.fsys = wordlist.Folder(c.dir)
	read := func(name string) (*File, error) {
		path, err := plainfile.Inside(c.dir, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(c.dir, name), err)
		}
		return OpenFile(path)
	}
	if err := c.open(read, c.dir); err != nil {
		return nil, err
	}
	return c, nil
}

// OpenFS opens a checkpoint at the root of a file system and gives it a name. It reads the weights
// into memory.
func OpenFS(fsys fs.FS, name string) (*Checkpoint, error) {
	c := &Checkpoint{name: name, fsys: fsys}
	read := func(file string) (*File, error) {
		b, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(name, file), plainfile.Cause(err))
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

// AdapterName is the file of an adapter.
const AdapterName = "adapter_config.json"

// Adapted returns the error of a folder or repository with an adapter.
func Adapted(where string) error {
	return fmt.Errorf("%s: has an adapter (%s), which would be left out: merge it into the weights of its base model, as merge_and_unload of the Python package peft does, and open the result", where, AdapterName)
}

// DraftAdapter is the folder of an adapter that only changes the drafts of speculation.
const DraftAdapter = "linear_spec_lora"

// HasDraftAdapter reports whether there is one.
func (c *Checkpoint) HasDraftAdapter() bool {
	_, err := fs.Stat(c.fsys, DraftAdapter+"/"+AdapterName)
	return err == nil
}

// open reads the config, opens the weights and compares them. After an error everything is closed
// and c is unusable.
func (c *Checkpoint) open(file func(string) (*File, error), where string) (err error) {
	defer func() {
		if err != nil {
			c.Close()
			err = fmt.Errorf("checkpoint: %w", err)
		}
	}()
	if _, err := fs.Stat(c.fsys, AdapterName); !errors.Is(err, fs.ErrNotExist) {
		return Adapted(where)
	}
	text, noConfig := c.readSmall(configName)
	if noConfig != nil {
		noConfig = fmt.Errorf("%s: %w", filepath.Join(where, configName), noConfig)
		if !errors.Is(noConfig, fs.ErrNotExist) {
			return noConfig
		}
	} else if c.Config, err = ParseConfig(text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(where, configName), err)
	}
	if c.names, err = c.weightFiles(); err != nil {
		if noConfig != nil && errors.Is(err, fs.ErrNotExist) {
			return noConfig
		}
		return fmt.Errorf("%s: %w", where, err)
	}
	c.digests = c.names
	if noConfig == nil {
		c.digests = append([]string{configName}, c.names...)
		if err := cmp.Or(c.findMask(), c.findWords()); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
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
			c.stored = append(c.stored, t)
		}
	}
	trained, order := c.files[0].training, c.files[0].order
	if noConfig == nil {
		if err := c.Config.causal(c.stored); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(where, configName), err)
		}
	}
	if noConfig != nil && (trained == nil || trained.config == nil) {
		return noConfig
	}
	where = filepath.Join(where, cmp.Or(c.oneFile(), indexName))
	if noConfig != nil {
		if c.Config, err = trainedConfig(trained.config, c.columns()); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	head := c.Config.Names().Head + ".weight"
	for _, f := range c.files {
		for name, of := range f.Metadata { // A file may name a tensor that it lacks, and its equal.
			if a, b := plainName(name), plainName(of); a == head && b == c.Config.Embedding() || b == head && a == c.Config.Embedding() {
				c.Config.Tied = true
			}
		}
	}
	for name, of := range c.Config.extra() {
		if t, ok := c.tensors[name]; ok && of != "" && c.tensors[of].Shape == nil { // The file keeps one of two equal tensors.
			c.tensors[of] = t
			delete(c.tensors, name)
		}
	}
	for s := range c.Config.Tensors() {
		if t, ok := c.tensors[s.Name]; ok {
			t.Across = s.Across
			c.tensors[s.Name] = t
		}
	}
	err = c.Config.checkTensors(c.tensors)
	if err == nil {
		c.weights, err = trained.choose(c.weights, c.Config, order, c.tensors)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if trained != nil {
		c.stored = append(c.stored, trained.ema...)
	}
	c.dtype = c.tensors[c.Config.Embedding()].Dtype
	return nil
}

// columns returns the number of rows of the embedding, 0 if there is none.
func (c *Checkpoint) columns() int {
	if t := c.tensors[dditNaming.embedding]; len(t.Shape) > 0 {
		return t.Shape[0]
	}
	return 0
}

// oneFile returns the name of the only weight file, "" if there are more.
func (c *Checkpoint) oneFile() string {
	if len(c.names) == 1 {
		return c.names[0]
	}
	return ""
}

// readSmall reads a JSON file.
func (c *Checkpoint) readSmall(name string) ([]byte, error) {
	return plainfile.ReadFS(c.fsys, name, maxJSON)
}

// Name returns the folder's name, or the name given to OpenFS.
func (c *Checkpoint) Name() string { return c.name }

// FS returns the checkpoint's folder as a file system.
func (c *Checkpoint) FS() fs.FS { return c.fsys }

// Tensor returns a parameter by its plain name, such as "blocks.0.attn_qkv.weight". It panics for a
// name that Config.Tensors does not yield; all names that it yields exist.
func (c *Checkpoint) Tensor(name string) Tensor {
	t, ok := c.tensors[name]
	if !ok {
		panic("checkpoint: no tensor " + name)
	}
	return t
}

// Dtype returns the type of the weights on disk, that of the embedding.
func (c *Checkpoint) Dtype() Dtype { return c.dtype }

// Facts returns the facts of the network, including its digest.
func (c *Checkpoint) Facts(ctx context.Context) (facts.Facts, error) {
	sum, err := c.Digest(ctx)
	if err != nil {
		return facts.Facts{}, err
	}
	f := c.Undigested()
	f.Digest = sum
	return f, nil
}

// Undigested returns the facts without the digest, which needs no reading.
func (c *Checkpoint) Undigested() facts.Facts {
	f := facts.Facts{
		Schema: facts.Schema, Name: facts.Plain(c.name), Family: c.Config.Family,
		Columns: c.Config.Columns, MaskID: c.Config.MaskID, Length: c.Config.Length,
		TimeConditioned: c.Config.TimeConditioned, Output: facts.Logits,
		ScaleBySigma: c.Config.ScaleBySigma, BlockSize: c.Config.BlockSize, Causal: c.Config.Causal, Noise: c.Config.Noise, Shift: c.Config.Shift == Yes,
		Parameters: c.Config.Parameters(), Dtype: string(c.dtype), Weights: string(c.weights),
		Frame: c.frame, Decoder: c.Config.family().decoder, Unstated: c.unstated(),
	}
	if c.Config.Family == SEDD {
		f.Output = facts.LogScore
	}
	if n := c.Config.Tokens; n > 0 {
		for i := n; i < c.Config.Columns; i++ {
			f.Padding = append(f.Padding, i)
		}
	}
	f.Padding = append(f.Padding, c.special...)
	return f
}

// Fits says why the network is not what facts say of it, nil where it is.
func (c *Checkpoint) Fits(f facts.Facts) error {
	own := c.Undigested()
	if own.Length = c.Config.Most(); f.BlockSize > 0 && (own.BlockSize > 0 || c.Config.Network() == Gated && c.Config.family().blocks) {
		own.BlockSize = f.BlockSize // No weight depends on the size of blocks, and some files do not state it.
	}
	return f.Fits(own)
}

// Weights returns which of a trainer's two sets of weights is open, "" if the file has only one.
func (c *Checkpoint) Weights() Weights { return c.weights }

// Close unmaps the weights. It is safe to call twice.
func (c *Checkpoint) Close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	c.files, c.tensors, c.stored = nil, nil, nil
	return errors.Join(errs...)
}
