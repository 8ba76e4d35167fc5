package graph

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/internal/wordlist"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
)

// The files of a written model, in addition to [ManifestFile]. The companions are copied from the
// checkpoint if it has them.
const (
	// ModelFile is the graph.
	ModelFile = "model.onnx"
	// KeptFile is the graph that keeps keys and values, with the same weights. If the network is
	// block-causal, ModelFile is that graph, and KeptFile does not exist.
	KeptFile = "model_kept.onnx"
	// DataFile holds the weights of both.
	DataFile = "model.onnx_data"
)

// companions are the files to copy, with the maximum size of each in bytes: the limits of package
// tokenize for tokenizer.json, and of package checkpoint for other JSON.
var companions = []struct {
	name  string
	limit int64
}{
	{"config.json", 16 << 20}, {"tokenizer.json", 256 << 20}, {"tokenizer_config.json", 16 << 20}, {"vocab.json", 256 << 20}, {"merges.txt", 256 << 20}, {wordlist.Name, 64 << 20},
	{"special_tokens_map.json", 16 << 20}, {"added_tokens.json", 16 << 20}, {"chat_template.jinja", 1 << 20},
}

const (
	// outsideFrom is the size in bytes from which a matrix goes to DataFile.
	outsideFrom = 1 << 10
	// Version numbers the forms in which Write has written a checkpoint: a cached model of another
	// version is not used.
	Version = 15
	// dataAlign is the alignment of a matrix in DataFile: a page, so that a runtime can map each
	// matrix separately.
	dataAlign = 1 << 12
)

// writeFiles writes the model's files to a folder, the manifest last. It goes on where a run stopped that
// left one of the partial folders, and removes these.
func writeFiles(ctx context.Context, c *checkpoint.Checkpoint, o Options, dir string, partial []string) error {
	o.Keeps = true
	if err := o.centre(ctx, c); err != nil {
		return err
	}
	b, f, err := network(c, o, true)
	if err != nil {
		return err
	}
	var end int64
	var outside []initializer
	for j := range b.inits {
		t := &b.inits[j]
		if t.src == nil || t.size() < outsideFrom {
			continue
		}
		t.file, t.offset = DataFile, (end+dataAlign-1)/dataAlign*dataAlign
		end = t.offset + t.size()
		outside = append(outside, *t)
	}
	free, ok := sysinfo.Disk(dir)
	for _, p := range partial { // It is removed, or is a part of what is written.
		if info, err := os.Stat(filepath.Join(p, DataFile)); err == nil {
			free += uint64(info.Size())
		}
	}
	if ok && uint64(end) > free && !o.Force {
		return &DiskFullError{uint64(end), free}
	}
	if f.Digest == "" {
		c.Progress = o.watch("reading", c.Reading())
		f.Digest, err = c.Digest(ctx)
		if c.Progress = nil; err != nil {
			return err
		}
	}
	key, err := resumeKey(f, o)
	if err != nil {
		return err
	}
	done, err := adopt(partial, dir, key)
	if err != nil {
		return err
	}
	m := manifest{Schema: manifestSchema, Files: map[string]fileSum{}, progress: o.watch("writing", end)}
	err = m.data(ctx, dir, outside, done)
	for _, x := range companions {
		if err == nil {
			err = m.copy(ctx, c.FS(), dir, x.name, x.limit)
		}
	}
	if err == nil && f.BlockSize == 0 {
		if err = m.graph(ctx, dir, KeptFile, b, f); err == nil {
			o.Keeps = false
			b, err = placed(c, o, outside)
		}
	}
	if err == nil {
		err = m.graph(ctx, dir, ModelFile, b, f)
	}
	if err != nil {
		return err
	}
	return m.write(ctx, dir)
}

// graph writes a graph.
func (m manifest) graph(ctx context.Context, dir, name string, b *builder, f facts.Facts) error {
	g, err := b.encode(f)
	if err != nil {
		return err
	}
	return m.create(ctx, dir, name, func(w io.Writer) error {
		_, err := g.WriteTo(w)
		return err
	})
}

// placed builds another graph on matrices whose offsets are known.
func placed(c *checkpoint.Checkpoint, o Options, outside []initializer) (*builder, error) {
	b, _, err := network(c, o, true)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int64, len(outside))
	for _, t := range outside {
		at[t.name] = t.offset
	}
	for i := range b.inits {
		if offset, ok := at[b.inits[i].name]; ok {
			b.inits[i].file, b.inits[i].offset = DataFile, offset
		}
	}
	return b, nil
}

// DiskFullError reports that a disk does not have enough space for a model's weights, in bytes.
type DiskFullError struct{ Needs, Free uint64 }

// Error implements error.
func (e *DiskFullError) Error() string {
	return fmt.Sprintf("needs %s of disk space, and %s are free", humanize.Bytes(e.Needs), humanize.Bytes(e.Free))
}

// copy copies a file if it exists.
func (m manifest) copy(ctx context.Context, from fs.FS, dir, name string, limit int64) error {
	data, err := plainfile.ReadFS(from, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the checkpoint's %s: %w", name, err)
	}
	return m.create(ctx, dir, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// create writes a new file, records its size and digest, and syncs it to disk.
func (m manifest) create(ctx context.Context, dir, name string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := &sink{ctx: ctx, file: f, sum: sha256.New(), progress: m.progress}
	w := bufio.NewWriterSize(s, chunk)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	m.list(name, s)
	return f.Sync()
}

// list adds what was written to a file.
func (m manifest) list(name string, s *sink) {
	m.Files[name] = fileSum{s.size, hex.EncodeToString(s.sum.Sum(nil))}
}

// chunk is the number of bytes written between two checks of the context.
const chunk = 1 << 20

// sink writes to a file, digests the bytes, and stops when its context is done.
type sink struct {
	ctx  context.Context
	file io.Writer
	sum  hash.Hash
	size int64
	// progress, if not nil, is called with the byte count of each write.
	progress func(int64)
}

func (s *sink) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if err := s.ctx.Err(); err != nil {
			return n, err
		}
		k, err := s.file.Write(p[n:min(n+chunk, len(p))])
		s.sum.Write(p[n : n+k])
		n, s.size = n+k, s.size+int64(k)
		if s.progress != nil {
			s.progress(int64(k))
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
