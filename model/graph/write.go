package graph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"mdmgen/model/checkpoint"
)

// The files of a written model. The companions are copied from the checkpoint
// where it has them.
const (
	ModelFile = "model.onnx"
	// LogProbFile is the same network with the outlet [LogProbability].
	LogProbFile = "logprob.onnx"
	// DataFile holds the weights of both.
	DataFile = "model.onnx_data"
)

var companions = []string{"config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}

const (
	// outsideFrom is the size in bytes from which a matrix goes to DataFile.
	outsideFrom = 1 << 10
	// PartialSuffix and a number follow the folder's name in that of the folder
	// that is written before it takes its place.
	PartialSuffix = ".partial-"
	// Version counts the ways in which Write has written one checkpoint: what was
	// written by another version is not used from a cache.
	Version = 2
	// dataAlign is the alignment of a matrix in DataFile: a page, so that a
	// runtime can map each by itself.
	dataAlign = 1 << 12
)

// Write converts a checkpoint to a folder: ModelFile and LogProbFile, their float32
// weights in DataFile, and the checkpoint's config and tokenizer. Weights are streamed; no
// more than a row of a matrix is in memory. The folder may exist if it is empty
// or if Write made it, in which case its model is replaced; any other folder is
// refused. ModelFile is there only when all else is.
func Write(c *checkpoint.Checkpoint, dir string) error {
	dir = filepath.Clean(dir)
	if err := replaceable(dir); err != nil {
		return fmt.Errorf("graph: %s: %w", dir, err)
	}
	temp := fmt.Sprintf("%s%s%016x", dir, PartialSuffix, rand.Uint64())
	if _, err := os.Stat(dir); err == nil {
		// The folder above may not be ours to write to.
		temp = filepath.Join(dir, filepath.Base(temp))
	}
	if err := os.Mkdir(temp, 0o777); err != nil {
		return fmt.Errorf("graph: %s cannot be made: %w", dir, plain(err))
	}
	defer os.RemoveAll(temp)
	if err := writeFiles(c, temp); err != nil {
		return fmt.Errorf("graph: writing %s: %w", dir, err)
	}
	if err := place(temp, dir); err != nil {
		return fmt.Errorf("graph: %s cannot be put in place: %w", dir, plain(err))
	}
	return nil
}

// replaceable returns nil if dir may be made or replaced by Write.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("not a folder to write to: %w", plain(err))
	}
	for _, e := range entries {
		ours := slices.Contains([]string{ModelFile, LogProbFile, DataFile}, e.Name()) || slices.Contains(companions, e.Name())
		if !ours || !e.Type().IsRegular() {
			return fmt.Errorf("the folder holds %q: give an empty or a new one", e.Name())
		}
	}
	f, err := os.Open(filepath.Join(dir, ModelFile))
	if err != nil {
		return fmt.Errorf("the folder holds %q and no %s: give an empty or a new one", entries[0].Name(), ModelFile)
	}
	defer f.Close()
	var want message
	want.int(1, irVersion)
	want.str(2, producer)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%s there is of another program: give an empty or a new folder", ModelFile)
	}
	return nil
}

// place moves the files of temp to dir: the folder as one where dir is not
// there, else file by file, the model last.
func place(temp, dir string) error {
	if err := os.Rename(temp, dir); err == nil {
		return nil
	}
	entries, err := os.ReadDir(temp)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, ModelFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == ModelFile {
			continue
		}
		if err := os.Rename(filepath.Join(temp, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Rename(filepath.Join(temp, ModelFile), filepath.Join(dir, ModelFile))
}

// writeFiles writes the model's files to a folder.
func writeFiles(c *checkpoint.Checkpoint, dir string) error {
	var end int64
	var outside []initializer
	place := map[string]int64{}
	var graphs []model
	for _, outlet := range []Outlet{Rows, LogProbability} {
		b, f, err := network(c, Options{Outlet: outlet}, true)
		if err != nil {
			return err
		}
		for i := range b.inits {
			t := &b.inits[i]
			if t.src == nil || t.size() < outsideFrom {
				continue
			}
			// The same name means the same matrix, in both graphs.
			at, written := place[t.name]
			if !written {
				at = (end + dataAlign - 1) / dataAlign * dataAlign
				place[t.name], end = at, at+t.size()
			}
			if t.file, t.offset = DataFile, at; !written {
				outside = append(outside, *t)
			}
		}
		m, err := b.encode(f)
		if err != nil {
			return err
		}
		graphs = append(graphs, m)
	}
	err := create(filepath.Join(dir, DataFile), func(w io.Writer) error {
		at := int64(0)
		for _, t := range outside {
			if _, err := w.Write(make([]byte, t.offset-at)); err != nil {
				return err
			}
			n, err := t.src.WriteTo(w)
			if err != nil {
				return err
			}
			at = t.offset + n
		}
		return nil
	})
	if err == nil {
		err = copyCompanions(c.FS(), dir)
	}
	for i, name := range []string{ModelFile, LogProbFile} {
		if err == nil {
			err = create(filepath.Join(dir, name), func(w io.Writer) error {
				_, err := graphs[i].WriteTo(w)
				return err
			})
		}
	}
	return err
}

func copyCompanions(from fs.FS, dir string) error {
	for _, name := range companions {
		src, err := from.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = create(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := io.Copy(w, src)
			return err
		})
		src.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// create writes a new file and has it on disk before it returns.
func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// plain strips the path that an error of package os repeats.
func plain(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
