// Package stamp works out SHA-256 digests of large files once. A store remembers
// the digest of a file with what the system says of it: path, size, times of
// modification and of change, device and inode. A file about which all of that is
// as it was is not read again, which turns half a second for 680 MB into
// microseconds. The time of change is set by the system at every write and cannot
// be set back by a user who may write to the file, so that an edit that keeps size and
// modification time is noticed where the system has such a time (not on Windows).
// A full check reads the file whatever the store says.
package stamp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"mdmgen/internal/plainfile"
)

// Store is a folder of remembered digests. It may be shared, also between
// processes: entries are written whole. The zero value remembers nothing.
type Store struct {
	// Dir is made when it is needed. It must be one that others cannot write to.
	Dir string
	// Full reads every file, and remembers anew.
	Full bool
}

// entry is what is remembered of a file.
type entry struct {
	Path string `json:"path"`
	mark
	// SHA256 is in hexadecimal.
	SHA256 string `json:"sha256"`
}

// mark is what a system says of a file; times are in nanoseconds since 1970.
type mark struct {
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime"`
	Change  int64  `json:"ctime,omitempty"`
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
}

// young is how old a file must be before its digest is remembered: a write
// within the clock's own step after the digest was taken would leave the times
// as they were.
const young = 2 * time.Second

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// SHA256 returns the digest of a regular file in hexadecimal, from the store where
// the file is unchanged. Reading ends with ctx. Errors are one line without the
// path; a store that cannot be read or written is as an empty one.
func (s Store) SHA256(ctx context.Context, path string) (string, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	before, err := markOf(f)
	if err != nil {
		return "", plainfile.Cause(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !s.Full {
		var e entry
		if s.get(s.file(abs), &e) && e.Path == abs && e.mark == before && sha256Hex.MatchString(e.SHA256) {
			return e.SHA256, nil
		}
	}
	h := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, plainfile.Ending(ctx, f), make([]byte, 1<<20)); err != nil {
		return "", plainfile.Cause(err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	after, err := markOf(f)
	switch {
	case err != nil:
		return "", plainfile.Cause(err)
	case after != before:
		return "", errChanged
	case !after.young():
		s.put(s.file(abs), entry{Path: abs, mark: after, SHA256: sum})
	}
	return sum, nil
}

// file is where the entry of a path is kept.
func (s Store) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// maxEntry bounds an entry, in bytes.
const maxEntry = 1 << 20

// get reads an entry into e and says whether there is one.
func (s Store) get(name string, e any) bool {
	if s.Dir == "" {
		return false
	}
	data, err := plainfile.Read(name, maxEntry)
	return err == nil && json.Unmarshal(data, e) == nil
}

// put remembers an entry if it can.
func (s Store) put(name string, e any) {
	if s.Dir == "" || os.MkdirAll(s.Dir, 0o700) != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil || len(data) > maxEntry {
		return
	}
	temp := fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32())
	if os.WriteFile(temp, data, 0o600) != nil || os.Rename(temp, name) != nil {
		os.Remove(temp)
	}
}

// Load reads what Save kept under a key into v, and says whether there is something.
func (s Store) Load(key string, v any) bool { return !s.Full && s.get(s.file(key), v) }

// Save keeps a value of at most 1 MiB in JSON under a key, which is no path, if it can.
func (s Store) Save(key string, v any) { s.put(s.file(key), v) }
