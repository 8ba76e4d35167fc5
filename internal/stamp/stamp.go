// Package stamp computes SHA-256 digests of large files once. A store caches digests by the
// metadata of the files: path, size, times of modification and of change, device and inode. Files
// whose metadata has not changed are not read again, which takes microseconds instead of half a
// second for 680 MB. The system sets the time of change at every write, and users cannot set it
// back, so an edit that keeps size and modification time is detected on systems that have this time
// (not on Windows). A full check reads the files in any case.
package stamp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"mdmgen/internal/plainfile"
)

// Store is a folder of cached digests. It may be shared, also between processes: entries are
// written atomically. The zero value caches nothing.
type Store struct {
	// Dir is created when needed. Others must not be able to write to it.
	Dir string
	// Full reads every file, and caches its digest again.
	Full bool
}

// entry is a cached digest.
type entry struct {
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
	Marks []mark   `json:"marks"`
	// SHA256 is in hexadecimal.
	SHA256 string `json:"sha256"`
}

// mark is the metadata of a file; times are in nanoseconds since 1970.
type mark struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"`
	Change  int64  `json:"ctime,omitempty"`
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
}

// young is the age from which the digest of a file is cached: a write within the clock's resolution
// after the digest was computed would not change the times.
const young = 2 * time.Second

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

var errChanged = errors.New("the file is changed while it is read")

// SHA256 returns the digest of a regular file in hexadecimal, like [Store.Digest].
func (s Store) SHA256(ctx context.Context, path string) (string, error) {
	return s.Digest(ctx, "file", []string{path}, func(ctx context.Context) (string, error) {
		f, err := plainfile.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		h := sha256.New()
		_, err = io.CopyBuffer(struct{ io.Writer }{h}, plainfile.Ending(ctx, f), make([]byte, 1<<20))
		return hex.EncodeToString(h.Sum(nil)), plainfile.Cause(err)
	})
}

// Digest returns the result of work on regular files, a SHA-256 in hexadecimal, from the store if
// none of them has changed. kind names the kind of work. Errors, except those of work, are one line
// without the path. A store that cannot be read or written is treated as empty.
func (s Store) Digest(ctx context.Context, kind string, paths []string, work func(context.Context) (string, error)) (string, error) {
	e := entry{Kind: kind}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		e.Paths = append(e.Paths, abs)
	}
	key, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	if e.Marks, err = marksOf(e.Paths); err != nil {
		return "", err
	}
	var was entry
	if s.Load(string(key), &was) && slices.Equal(was.Paths, e.Paths) && slices.Equal(was.Marks, e.Marks) && sha256Hex.MatchString(was.SHA256) {
		return was.SHA256, nil
	}
	if e.SHA256, err = work(ctx); err != nil {
		return "", err
	}
	after, err := marksOf(e.Paths)
	switch {
	case err != nil:
		return "", err
	case !slices.Equal(after, e.Marks):
		return "", errChanged
	}
	if !slices.ContainsFunc(after, func(m mark) bool { return time.Since(time.Unix(0, max(m.ModTime, m.Change))) <= young }) {
		s.Save(string(key), e)
	}
	return e.SHA256, nil
}

// marksOf returns the metadata of files.
func marksOf(paths []string) (marks []mark, err error) {
	for _, p := range paths {
		f, err := plainfile.Open(p)
		if err != nil {
			return nil, err
		}
		m, err := markOf(f)
		f.Close()
		if err != nil {
			return nil, plainfile.Cause(err)
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// file returns the path of the entry for a key.
func (s Store) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// maxEntry bounds an entry, in bytes.
const maxEntry = 1 << 20

// Load reads the value that Save stored under a key into v, and reports whether there is one. With
// Full there is none.
func (s Store) Load(key string, v any) bool {
	if s.Full || s.Dir == "" {
		return false
	}
	data, err := plainfile.Read(s.file(key), maxEntry)
	data, whole := bytes.CutPrefix(data, sumOf(key, data[min(sumLength, len(data)):]))
	return err == nil && whole && json.Unmarshal(data, v) == nil
}

// sumLength is the number of bytes of the line before an entry's JSON: the SHA-256 of its key and of
// the JSON, so that an entry whose bytes have changed is none.
const sumLength = 2*sha256.Size + 1

func sumOf(key string, data []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%s", key, data)
	return fmt.Appendf(nil, "%x\n", h.Sum(nil))
}

// Save stores a value of almost 1 MiB of JSON at most under a key, if possible.
func (s Store) Save(key string, v any) {
	data, err := json.Marshal(v)
	data = append(sumOf(key, data), data...)
	if s.Dir == "" || err != nil || len(data) > maxEntry || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	name := s.file(key)
	temp := fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
	if os.WriteFile(temp, data, 0o600) != nil || os.Rename(temp, name) != nil {
		os.Remove(temp)
	}
}
