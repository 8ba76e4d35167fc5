package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"mdmgen/internal/plainfile"
)

// Digest returns "sha256:…" of the config, the weights, the name of the chosen set if a trainer's
// file has two, and the special tokens. It reads the files once, streaming, and checks that torch's
// archives have the bytes that were written, that no element is NaN and that copies of tied
// parameters are equal to them; it reads nothing if Stamps remembers the digest. Two checkpoints with
// the same digest are the same network, whatever their folders are called. Reading stops when ctx is
// done.
func (c *Checkpoint) Digest(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.digest != "" {
		return c.digest, nil
	}
	chosen := string(c.weights)
	if c.special != nil {
		chosen += fmt.Sprint(c.Config.MaskID, c.special, c.frame)
	}
	work := func(ctx context.Context) (string, error) {
		sum, err := c.sum(ctx)
		if err == nil {
			err = c.numbers(ctx)
		}
		if err == nil {
			err = c.ties(ctx)
		}
		if chosen != "" && err == nil {
			sum = fmt.Sprintf("%x", sha256.Sum256([]byte(sum+" "+chosen)))
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
		sum, err = c.Stamps.Digest(ctx, "sound checkpoint "+chosen, paths, work)
	}
	if err != nil {
		return "", fmt.Errorf("checkpoint: %s: %w", c.name, err)
	}
	c.digest = "sha256:" + sum
	return c.digest, nil
}

// Remember sets the digest that Digest returns without reading; "" has no effect.
func (c *Checkpoint) Remember(digest string) { c.digest = digest }

// sum returns the SHA-256 of the files in hexadecimal. The size of each file precedes its bytes, so
// that different lists of files never produce the same stream. Files are read, not mapped, so that
// a large checkpoint does not count as memory of the process.
func (c *Checkpoint) sum(ctx context.Context) (string, error) {
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for _, name := range c.digests {
		if err := c.add(ctx, sum, name, buf); err != nil {
			return "", fmt.Errorf("%s: %w", name, plainfile.Cause(err))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (c *Checkpoint) add(ctx context.Context, w io.Writer, name string, buf []byte) error {
	f, err := c.fsys.Open(name)
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
	a := &archive{&File{}, 0, make(map[string]uint32)}
	if i := slices.Index(c.names, name); i >= 0 {
		a.File = c.files[i]
	}
	if _, err = io.CopyBuffer(io.MultiWriter(w, a), c.noted(ctx, f), buf); err != nil {
		return err
	}
	return a.check()
}

// Reading returns the bytes that are read for a digest that is not remembered, without config.json:
// the weight files, and the parameters once more to look for NaN.
func (c *Checkpoint) Reading() (n int64) {
	for _, f := range c.files {
		n += f.size
	}
	for s := range c.Config.Tensors() {
		n += int64(len(c.tensors[s.Name].Data))
	}
	return n
}

// noted returns a reader that stops when ctx is done and reports to Progress.
func (c *Checkpoint) noted(ctx context.Context, r io.Reader) io.Reader {
	r = plainfile.Ending(ctx, r)
	if c.Progress != nil {
		r = io.TeeReader(r, plainfile.Counter(c.Progress))
	}
	return r
}
