package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"

	"mdmgen/internal/plainfile"
)

// Digest returns "sha256:…" of the config and the weights, and of which of a trainer's two sets
// they are. It reads them once, streaming, and looks that none is NaN
// and that copies of tied parameters are equal to them; or it reads
// nothing where Stamps remembers what they are. Two checkpoints with the same digest
// are the same network, whatever their folders are called. Reading ends with ctx.
func (c *Checkpoint) Digest(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.digest != "" {
		return c.digest, nil
	}
	work := func(ctx context.Context) (string, error) {
		if err := c.numbers(ctx); err != nil {
			return "", err
		}
		if err := c.ties(ctx); err != nil {
			return "", err
		}
		sum, err := digest(ctx, c.fsys, c.digests)
		if c.weights != "" && err == nil {
			sum = fmt.Sprintf("%x", sha256.Sum256([]byte(sum+" "+string(c.weights))))
		}
		return sum, err
	}
	sum, err := "", error(nil)
	if c.dir == "" {
		sum, err = work(ctx)
	} else {
		var paths []string
		for _, name := range c.digests {
			path, err := plainfile.Inside(c.dir, name)
			if err != nil {
				return "", fmt.Errorf("checkpoint: %s: %w", name, err)
			}
			paths = append(paths, path)
		}
		sum, err = c.Stamps.Digest(ctx, "checkpoint of sound numbers "+string(c.weights), paths, work)
	}
	if err != nil {
		return "", fmt.Errorf("checkpoint: %s: %w", c.name, err)
	}
	c.digest = "sha256:" + sum
	return c.digest, nil
}

// digest returns the SHA-256 of files in hexadecimal. Each file's bytes follow
// their number, so that no two lists of files give the same stream. Files are
// read, not taken from a mapping, so that a large checkpoint does not count as
// memory of the process.
func digest(ctx context.Context, fsys fs.FS, names []string) (string, error) {
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for _, name := range names {
		if err := add(ctx, sum, fsys, name, buf); err != nil {
			return "", fmt.Errorf("%s: %w", name, pathError(err))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func add(ctx context.Context, w io.Writer, fsys fs.FS, name string, buf []byte) error {
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
	_, err = io.CopyBuffer(w, plainfile.Ending(ctx, f), buf)
	return err
}
