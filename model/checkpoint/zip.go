package checkpoint

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
)

// zipLocal is the beginning of a zip archive.
const zipLocal = "PK\x03\x04"

// span is a part of a file's bytes.
type span struct{ begin, size uint64 }

// bytes returns the part of b, nil if it exceeds b.
func (s span) bytes(b []byte) []byte {
	if s.begin > uint64(len(b)) || s.size > uint64(len(b))-s.begin {
		return nil
	}
	return b[s.begin : s.begin+s.size : s.begin+s.size]
}

// maxDirectory bounds the bytes read of an archive's directory: an entry of a torch file takes
// about 100.
const maxDirectory = 16 << 20

// directory is an archive of which only a limited number of bytes can be read.
type directory struct {
	io.ReaderAt
	left int
}

func (d *directory) ReadAt(p []byte, at int64) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, fmt.Errorf("more than %d bytes of directory", maxDirectory)
	}
	return d.ReaderAt.ReadAt(p, at)
}

// zipSpans returns where the entries of an archive are in b, and their CRC-32, except 0, which torch
// writes if it is told to compute none. All must be stored uncompressed, as in torch files.
func zipSpans(b []byte) (map[string]span, map[string]uint32, error) {
	z, err := zip.NewReader(&directory{bytes.NewReader(b), maxDirectory}, int64(len(b)))
	if err != nil {
		return nil, nil, fmt.Errorf("the zip archive's directory is damaged, or the file truncated: %w", err)
	}
	spans, sums := map[string]span{}, map[string]uint32{}
	for _, f := range z.File {
		if _, twice := spans[f.Name]; twice {
			return nil, nil, fmt.Errorf("the zip archive's entry %s is listed twice", quoteName(f.Name))
		}
		if f.Method != zip.Store || f.Flags&1 != 0 {
			return nil, nil, fmt.Errorf("the zip archive's entry %s is compressed or encrypted, unlike torch's: save the weights again", quoteName(f.Name))
		}
		at, err := f.DataOffset()
		if err == nil && f.CompressedSize64 != f.UncompressedSize64 {
			err = errors.New("it has two sizes")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the zip archive's entry %s is not at its place in the directory: %w", quoteName(f.Name), err)
		}
		s := span{uint64(at), f.UncompressedSize64}
		if s.bytes(b) == nil {
			return nil, nil, fmt.Errorf("the zip archive's entry %s ends outside of the file: it is truncated", quoteName(f.Name))
		}
		if spans[f.Name] = s; f.CRC32 != 0 {
			sums[f.Name] = f.CRC32
		}
	}
	return spans, sums, nil
}

// archive computes the CRC-32 of the entries of a file whose bytes are written to it in order.
type archive struct {
	*File
	at  uint64
	got map[string]uint32
}

func (a *archive) Write(p []byte) (int, error) {
	end := a.at + uint64(len(p))
	for name := range a.sums {
		s := a.spans[name]
		if from, to := max(s.begin, a.at), min(s.begin+s.size, end); from < to {
			a.got[name] = crc32.Update(a.got[name], crc32.IEEETable, p[from-a.at:to-a.at])
		}
	}
	a.at = end
	return len(p), nil
}

// check returns an error if an entry is not what was written.
func (a *archive) check() error {
	for _, name := range slices.Sorted(maps.Keys(a.sums)) {
		if a.got[name] != a.sums[name] {
			return fmt.Errorf("the zip archive's entry %s: its bytes do not have its CRC-32: the file is damaged: fetch or save it again", quoteName(name))
		}
	}
	return nil
}
