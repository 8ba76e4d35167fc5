// Package stamp computes SHA-256 digests of large files once. A store remembers the digest of files
// with what the system reports of each: path, size, times of modification and of change, device and
// inode. Files of which all of that is unchanged are not read again, which turns half a second for
// 680 MB into microseconds. The system sets the time of change at every write, and no user can set
// it back: an edit that keeps size and modification time is noticed where the system has such a time
// (not on Windows). A full check reads the files whatever the store has.
package stamp

import (
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

// Store is a folder of remembered digests. It may be shared, also between processes: entries are
// written whole. The zero value remembers nothing.
type Store struct {
	// Dir is made when it is needed. It must be one that others cannot write to.
	Dir string
	// Full reads every file, and remembers anew.
	Full bool
}

// entry is what is remembered of a digest.
type entry struct {
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
	Marks []mark   `json:"marks"`
	// SHA256 is in hexadecimal.
	SHA256 string `json:"sha256"`
}

// mark is what a system reports of a file; times are in nanoseconds since 1970.
type mark struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"`
	Change  int64  `json:"ctime,omitempty"`
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
}

// young is the age from which a digest is remembered: a write within the clock's own step after
// the digest was taken would leave the times as they were.
const young = 2 * time.Second

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

var errChanged = errors.New("the file is changed while it is read")

// SHA256 returns the digest of a regular file in hexadecimal, as [Store.Digest] does.
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

// Digest returns what work computes of some regular files, a SHA-256 in hexadecimal, from the store
// where all of them are unchanged. kind names how it is computed. Errors, work's own apart, are one
// line without the path; a store that cannot be read or written is as an empty one.
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

// marksOf asks the system about files.
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

// file is where the value of a key is kept.
func (s Store) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// maxEntry bounds an entry, in bytes.
const maxEntry = 1 << 20

// Load reads what Save kept under a key into v, and reports whether there is something. A full
// check finds nothing.
func (s Store) Load(key string, v any) bool {
	if s.Full || s.Dir == "" {
		return false
	}
	data, err := plainfile.Read(s.file(key), maxEntry)
	return err == nil && json.Unmarshal(data, v) == nil
}

// Save keeps a value of at most 1 MiB in JSON under a key, if it can.
func (s Store) Save(key string, v any) {
	data, err := json.Marshal(v)
	if s.Dir == "" || err != nil || len(data) > maxEntry || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	name := s.file(key)
	temp := fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
	if os.WriteFile(temp, data, 0o600) != nil || os.Rename(temp, name) != nil {
		os.Remove(temp)
	}
}
