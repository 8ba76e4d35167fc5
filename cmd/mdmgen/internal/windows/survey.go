package windows

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"iter"
	"os"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Survey is what is known of all windows of an input, which need not be in memory for it.
type Survey struct {
	Windows int
	// Shapes are the different ones, in the order in which they first appear.
	Shapes []Shape
	// Digest is "sha256:…" of the windows' ids.
	Digest string

	reader *Reader
	// kept are the windows of an input that cannot be read again; nil for a file.
	kept []Window
	file os.FileInfo
	// places are where a file may be read from, in order, at least every windows apart.
	places []place
	every  int
}

// mostPlaces bounds how many places are known of an input.
const mostPlaces = 4096

// note takes a place; of too many every second is dropped.
func (s *Survey) note(p place) {
	if n := len(s.places); n > 0 && p.Window < s.places[n-1].Window+s.every {
		return
	}
	s.places = append(s.places, p)
	if len(s.places) < mostPlaces {
		return
	}
	for i := range mostPlaces / 2 {
		s.places[i] = s.places[2*i]
	}
	s.places, s.every = s.places[:mostPlaces/2], 2*s.every
}

// Shape is what windows of one length with as many tokens of context are alike in.
type Shape struct {
	// Free lists the free positions, Length counts all.
	Free   []int
	Length int
	// Windows counts those of this shape; First is the index of the first.
	Windows, First int
}

// Begins says why a sampler cannot begin with a window of so many positions: a prompt, say, that is longer.
func Begins(s *catalog.Sampler, spec samplers.Spec, length int, free []int) error {
	canvas := make([]int, length)
	for _, l := range free {
		canvas[l] = spec.Mask
	}
	return s.Check(spec, canvas)
}

// Survey reads the input once, unless what it would find is remembered. A file is read again for [Survey.From]; what comes from a pipe
// is kept.
func (r *Reader) Survey() (*Survey, error) {
	s := &Survey{reader: r, every: 1}
	if info, err := os.Stat(r.Path); !r.standard() && err == nil && info.Mode().IsRegular() {
		s.file = info
	}
	var err error
	if r.cutting, err = r.cut(); err != nil {
		return nil, err
	}
	known, save := s.recall()
	if known {
		return s, s.Changed()
	}
	type key struct{ length, from int }
	at := make(map[key]int)
	digest := &digester{Hash: sha256.New()}
	if s.file != nil {
		r.skip = 1 << 62 // Words and bytes are counted when windows are worked out.
		r.mark = s.note
		defer func() { r.skip, r.mark = 0, nil }()
	}
	err = r.each(func(w Window) error {
		k := key{len(w.IDs), w.Free[0]}
		i, ok := at[k]
		if !ok {
			i = len(s.Shapes)
			at[k] = i
			s.Shapes = append(s.Shapes, Shape{Free: w.Free, Length: len(w.IDs), First: s.Windows})
		}
		s.Shapes[i].Windows++
		s.Windows++
		digest.window(w)
		if s.file == nil {
			s.kept = append(s.kept, w)
		}
		return nil
	})
	if err == nil {
		err = s.Changed()
	}
	s.Digest = digest.String()
	if err == nil {
		save()
	}
	return s, err
}

// errEnough ends the reading of an input.
var errEnough = errors.New("enough")

// From yields the windows from one on, in order.
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
		s.reader.skip, s.reader.from = first, s.before(max(first-1, 0)) // The one before says whether a word goes on.
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

// before is the last place that is known at or before a window.
func (s *Survey) before(window int) place {
	i, ok := slices.BinarySearchFunc(s.places, window, func(p place, window int) int { return cmp.Compare(p.Window, window) })
	if !ok {
		i--
	}
	if i < 0 {
		return place{}
	}
	return s.places[i]
}

// Onward says that the shortest way to a window is to read on from another.
func (s *Survey) Onward(at, window int) bool {
	return at <= window && s.before(window).Window <= at
}

// Changed refuses a file that is not what it was when the survey began.
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

// digester makes a digest of windows' ids.
type digester struct {
	hash.Hash
	words []byte
}

func (d *digester) window(w Window) {
	d.words = binary.LittleEndian.AppendUint64(d.words[:0], uint64(len(w.IDs)))
	d.words = binary.LittleEndian.AppendUint64(d.words, uint64(w.Free[0]))
	for _, id := range w.IDs {
		d.words = binary.LittleEndian.AppendUint64(d.words, uint64(id))
	}
	d.Write(d.words)
}

func (d *digester) String() string { return fmt.Sprintf("sha256:%x", d.Sum(nil)) }

// Digest is "sha256:…" of the windows' ids.
func Digest(windows []Window) string {
	d := &digester{Hash: sha256.New()}
	for _, w := range windows {
		d.window(w)
	}
	return d.String()
}
