package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"mdmgen/internal/fault"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
)

// unfinished is the suffix of an incomplete blob.
const unfinished = ".incomplete"

// fetch downloads the blob of a file to path; the name exists only once the blob is complete.
// progress is called with byte counts, negative for bytes that turned out wrong.
func (c *Client) fetch(ctx context.Context, n Name, commit string, f File, path string, progress func(int64)) (err error) {
	lock, err := c.Cache.lock(ctx, n, f.Digest, func() { c.log("%s: waiting for another process that fetches %s", n, f.Path) })
	if err != nil {
		return err
	}
	defer lock.Leave()
	if c.Cache.holds(path, f) {
		progress(f.Size)
		return nil
	}
	part, err := os.OpenFile(path+unfinished, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return onPath(path, err)
	}
	defer part.Close()
	for try := 0; ; try++ {
		if err := c.fill(ctx, n, commit, f, part, progress); err != nil {
			return err
		}
		sum, size, err := digestOf(ctx, f, part)
		if err != nil {
			return onPath(path, err)
		}
		if sum == f.Digest && size == f.Size {
			break
		}
		// The leftover of a killed process may be wrong: try once more from the beginning.
		progress(-size)
		if err := restart(part); err != nil {
			return err
		}
		if try > 0 {
			os.Remove(path + unfinished)
			return fault.Errorf("hub", "%s: %s: the fetched file is not the one that the hub lists: digest %s, want %s", n, f.Path, sum, f.Digest)
		}
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return onPath(path, err)
	}
	return onPath(path, os.Rename(path+unfinished, path))
}

// digestOf returns the digest and size of a file, read from its beginning.
func digestOf(ctx context.Context, f File, r io.ReadSeeker) (string, int64, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", 0, plainfile.Cause(err)
	}
	sum := sha256.New()
	if len(f.Digest) != 2*sha256.Size {
		sum = sha1.New() // as git names its blobs
		fmt.Fprintf(sum, "blob %d\x00", f.Size)
	}
	size, err := io.CopyBuffer(sum, plainfile.Ending(ctx, r), make([]byte, 1<<20))
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// restart truncates a file to length 0.
func restart(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return onPath(f.Name(), err)
	}
	_, err := f.Seek(0, io.SeekStart)
	return onPath(f.Name(), err)
}

// fill appends to part until it is as large as the file. If a connection is cut or silent, fill
// makes a new one for the rest.
func (c *Client) fill(ctx context.Context, n Name, commit string, f File, part *os.File, progress func(int64)) error {
	at, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return onPath(part.Name(), err)
	}
	if at > f.Size {
		if err := restart(part); err != nil {
			return err
		}
		at = 0
	}
	progress(at)
	farthest := at // the farthest byte received
	return c.retry(ctx, n.String()+": "+f.Path, func() (bool, error) {
		if at == f.Size {
			return false, nil
		}
		header := http.Header{}
		if at > 0 {
			header.Set("Range", fmt.Sprintf("bytes=%d-", at))
		}
		r, err := c.get(ctx, n.Of(f.Path), http.MethodGet, c.address(n, commit, f.Path), header, http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable)
		if err != nil {
			return false, err
		}
		defer r.Close()
		var from int64
		if r.StatusCode == http.StatusPartialContent {
			if _, err := fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-", &from); err != nil || from != at {
				return false, missingf("%s: %s: the hub answers with bytes other than those from %d", n, f.Path, at)
			}
		}
		if from != at {
			// The response is the whole file, or nothing from there on: start again.
			progress(-at)
			at = 0
			if err := restart(part); err != nil {
				return false, err
			}
		}
		if r.StatusCode == http.StatusRequestedRangeNotSatisfiable {
			return false, &temporary{err: errors.New("the hub does not have the rest of it")}
		}
		got, err := io.Copy(part, io.TeeReader(io.LimitReader(r, f.Size-at+1), plainfile.Counter(progress)))
		at += got
		further := at-farthest >= c.leastBytes()
		farthest = max(farthest, at)
		switch full, ok := errors.AsType[*os.PathError](err); {
		case ok:
			return false, onPath(part.Name(), full.Err)
		case err != nil:
			return further, &temporary{err: err}
		case at < f.Size:
			return further, &temporary{err: io.ErrUnexpectedEOF}
		}
		return false, nil // A file that is too long has another digest.
	})
}

// lock takes the lock of a blob, which Hugging Face's library takes too, or of the whole
// repository; waiting is called if another process holds it.
func (c Cache) lock(ctx context.Context, n Name, what string, waiting func()) (*lockfile.Lock, error) {
	path := filepath.Join(c.locks(n), what+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, onPath(path, err)
	}
	l, err := lockfile.Try(path)
	if errors.Is(err, lockfile.ErrHeld) {
		waiting()
		l, err = lockfile.Wait(ctx, path)
	}
	if err != nil && ctx.Err() == nil {
		err = onPath(path, err)
	}
	return l, err
}
