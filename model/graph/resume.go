package graph

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mdmgen/model/facts"
)

// resumeFile is the file in a partial folder that says how much of DataFile was written, so that
// another run can go on from there.
const resumeFile = "written.json"

// resumeEvery is how many bytes are written from one such record to the next. A smaller model leaves
// nothing.
var resumeEvery int64 = 1 << 30

// written are the first matrices of a DataFile.
type written struct {
	// Key is the same for all runs that write the same bytes.
	Key      string `json:"key"`
	Matrices int    `json:"matrices"`
	Size     int64  `json:"size"` // in bytes, to the end of the last of them
	// Sum is the state of SHA-256 after them.
	Sum []byte `json:"sum"`
}

// resumeKey returns the Key of a conversion.
func resumeKey(f facts.Facts, o Options) (string, error) {
	text, err := json.Marshal([]any{Version, f, o.Dtype, o.GPU, o.means})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// adopt moves the DataFile of an interrupted run with the same key from one of the partial folders into
// dir, and returns how much of it was written. It removes these folders.
func adopt(partial []string, dir, key string) (w written, err error) {
	w.Key = key
	for _, old := range partial {
		var was written
		text, _ := os.ReadFile(filepath.Join(old, resumeFile)) // A missing or incomplete file is no record.
		from := filepath.Join(old, DataFile)
		info, serr := os.Lstat(from)
		if json.Unmarshal(text, &was) == nil && was.Key == key && serr == nil && info.Mode().IsRegular() && info.Size() >= was.Size && w.Size == 0 {
			if err = errors.Join(err, os.Rename(from, filepath.Join(dir, DataFile))); err == nil {
				w = was
			}
		}
		err = errors.Join(err, os.RemoveAll(old))
	}
	return w, err
}

// data writes DataFile from where w says, each matrix at its offset.
func (m manifest) data(ctx context.Context, dir string, outside []initializer, w written) (err error) {
	if n := w.Matrices; n < 0 || n > len(outside) || n > 0 && w.Size != outside[n-1].offset+outside[n-1].size() {
		w = written{Key: w.Key} // not a record of this program
	}
	f, err := os.OpenFile(filepath.Join(dir, DataFile), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s := &sink{ctx: ctx, file: f, sum: sha256.New(), size: w.Size, progress: m.progress}
	if w.Size > 0 {
		err = s.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(w.Sum)
		if m.progress != nil {
			m.progress(w.Size)
		}
	}
	err = errors.Join(err, f.Truncate(w.Size))
	if _, serr := f.Seek(w.Size, io.SeekStart); err != nil || serr != nil {
		return errors.Join(err, serr)
	}
	buffered := bufio.NewWriterSize(s, chunk)
	at := w.Size
	for i, t := range outside {
		if i < w.Matrices {
			continue
		}
		if _, err := buffered.Write(make([]byte, t.offset-at)); err != nil {
			return err
		}
		n, err := t.src.WriteTo(buffered)
		if err != nil {
			return err
		}
		if at = t.offset + n; at-w.Size < resumeEvery {
			continue
		}
		if err := errors.Join(buffered.Flush(), f.Sync()); err != nil {
			return err
		}
		w.Matrices, w.Size = i+1, at
		var serr error
		w.Sum, serr = s.sum.(encoding.BinaryMarshaler).MarshalBinary()
		text, jerr := json.Marshal(w)
		if err := errors.Join(serr, jerr, os.WriteFile(filepath.Join(dir, resumeFile), text, 0o666)); err != nil {
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	m.list(DataFile, s)
	return f.Sync()
}
