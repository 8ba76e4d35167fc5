package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
)

// digest returns the SHA-256 of files as "sha256:…". Each file's bytes follow
// their number, so that no two lists of files give the same stream. Files are
// read, not taken from a mapping, so that a large checkpoint does not count as
// memory of the process.
func digest(fsys fs.FS, names []string) (string, error) {
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for _, name := range names {
		if err := add(sum, fsys, name, buf); err != nil {
			return "", fmt.Errorf("checkpoint: %s: %w", name, pathError(err))
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func add(w io.Writer, fsys fs.FS, name string, buf []byte) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(info.Size()))
	w.Write(size[:])
	_, err = io.CopyBuffer(w, struct{ io.Reader }{f}, buf)
	return err
}
