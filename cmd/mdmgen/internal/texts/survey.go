package texts

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Survey describes all windows of an input, which need not be in memory.
type Survey struct {
	// Windows is their number.
	Windows int
	// Shapes lists the different shapes, in the order of their first windows.
	Shapes []Shape
	// Digest is "sha256:…" of the windows' ids.
	Digest string

	reader *Reader
	// kept holds the windows of an input that cannot be read again; nil for a file.
	kept []Window
	file os.FileInfo
}

// Shape is the length and context that some windows share.
type Shape struct {
	// The positions from From on are free but for the last After; Length counts all.
	From, After, Length int
	// Windows is the number of windows of this shape; First is the index of the first.
	Windows, First int
}

// Free lists the free positions.
func (s Shape) Free() []int { return positions(s.From, s.Length-s.After) }

// Begins returns an error if a sampler cannot begin with a window of this shape, as with a prompt
// before the free positions.
func Begins(s *catalog.Sampler, spec samplers.Spec, length int, free []int) error {
	canvas := slices.Repeat([]int{(spec.Mask + 1) % spec.Columns}, length) // any token but MASK
	for _, l := range free {
		canvas[l] = spec.Mask
	}
	return s.Check(spec, canvas)
}

// Survey reads the input once. [Survey.From] reads a file again; the
// windows of a pipe are kept.
func (r *Reader) Survey() (*Survey, error) {
	s := &Survey{reader: r}
	if info, err := os.Stat(r.Path); !r.standard() && err == nil && info.Mode().IsRegular() {
		s.file = info
	}
	var err error
	if r.Cut, err = r.cut(); err != nil {
		return nil, err
	}
	return s, s.read()
}

// read reads the input to its end.
func (s *Survey) read() error {
	r := s.reader
	at := make(map[Shape]int)
	digest := sha256.New()
	if s.file != nil {
		r.skip = 1 << 62 // Words and bytes are counted when windows are evaluated.
		defer func() { r.skip = 0 }()
	}
	err := r.each(func(w Window) error {
		shape := Shape{From: w.Free[0], After: len(w.IDs) - 1 - w.Free[len(w.Free)-1], Length: len(w.IDs)}
		i, ok := at[shape]
		if !ok {
			i = len(s.Shapes)
			at[shape] = i
			shape.First = s.Windows
			s.Shapes = append(s.Shapes, shape)
		}
		s.Shapes[i].Windows++
		s.Windows++
		digest.Write(words(w))
		if s.file == nil {
			s.kept = append(s.kept, w)
		}
		return nil
	})
	if err == nil {
		err = s.Changed()
	}
	s.Digest = fmt.Sprintf("sha256:%x", digest.Sum(nil))
	return err
}

// errEnough stops reading an input.
var errEnough = errors.New("enough")

// From yields the windows from number first on, in order.
func (s *Survey) From(first int) iter.Seq2[Window, error] {
	return func(yield func(Window, error) bool) {
		if s.file == nil {
			for _, w := range s.kept[first:] {
				if !yield(w, nil) {
					return
				}
			}
			return
		}
		s.reader.skip = first
		err := s.reader.each(func(w Window) error {
			if s.reader.n > first && !yield(w, nil) {
				return errEnough
			}
			return nil
		})
		if err == errEnough {
			return
		}
		if err == nil {
			err = s.Changed()
		}
		if err != nil {
			yield(Window{}, err)
		}
	}
}

// Changed returns an error if the file has changed since the survey began.
func (s *Survey) Changed() error {
	if s.file == nil {
		return nil
	}
	info, err := os.Stat(s.reader.Path)
	if err != nil || !os.SameFile(info, s.file) || info.Size() != s.file.Size() || !info.ModTime().Equal(s.file.ModTime()) {
		return fmt.Errorf("%s: the file was changed while it was read", s.reader.Path)
	}
	return nil
}

// words returns what a window adds to the digest of all: its length, its first free position and its ids.
func words(w Window) (out []byte) {
	for _, x := range slices.Concat([]int{len(w.IDs), w.Free[0]}, w.IDs) {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))
	}
	return out
}

// Digest returns "sha256:…" of the windows' ids.
func Digest(windows []Window) string {
	digest := sha256.New()
	for _, w := range windows {
		digest.Write(words(w))
	}
	return fmt.Sprintf("sha256:%x", digest.Sum(nil))
}
