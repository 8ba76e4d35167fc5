package texts

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"iter"
	"os"
	"slices"
	"time"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/stamp"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
)

// Survey describes all windows of an input, which need not be in memory.
type Survey struct {
	// Windows and Documents are their numbers.
	Windows, Documents int
	// Shapes lists the different shapes, in the order of their first windows.
	Shapes []Shape
	// Digest is "sha256:…" of the windows' ids.
	Digest string
	// Places are the places from which a file may be read, in order, at least Every windows apart.
	Places []place
	Every  int

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

// Survey reads the input once, unless its survey is cached. [Survey.From] reads a file again; the
// windows of a pipe are kept.
func (r *Reader) Survey() (*Survey, error) {
	s := &Survey{reader: r, Every: 1}
	if info, err := os.Stat(r.Path); !r.standard() && err == nil && info.Mode().IsRegular() {
		s.file = info
	}
	var err error
	if r.Cut, err = r.cut(); err != nil {
		return nil, err
	}
	return s, s.remember(s.read)
}

// read reads the input to its end.
func (s *Survey) read() error {
	r := s.reader
	at := make(map[Shape]int)
	last := -1
	digest := &digester{Hash: sha256.New()}
	if s.file != nil {
		r.skip = 1 << 62 // Words and bytes are counted when windows are evaluated.
		r.mark = s.note
		defer func() { r.skip, r.mark = 0, nil }()
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
		if w.Document != last {
			last = w.Document
			s.Documents++
		}
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
		s.reader.skip, s.reader.from = first, s.before(max(first-1, 0)) // The previous one shows whether a word continues.
		defer func() { s.reader.from = place{} }()
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

// digester computes the digest of the windows' ids.
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

// Digest returns "sha256:…" of the windows' ids.
func Digest(windows []Window) string {
	d := &digester{Hash: sha256.New()}
	for _, w := range windows {
		d.window(w)
	}
	return d.String()
}

// A survey that takes at least rememberedFrom is cached, so that the parts of a run do not repeat
// it. Texts smaller than minRemembered bytes are not looked up: their survey takes a fraction of
// that time.
var (
	rememberedFrom = 500 * time.Millisecond
	minRemembered  = int64(1 << 20)
)

// place is a place from which an input may be read, with the numbers of windows, documents and
// lines before it, and of tokens of a running text.
type place struct {
	Window, Document, Line, Token int
	tokenize.Place
}

// maxPlaces is the maximum number of places that are kept.
const maxPlaces = 4096

// note adds a place. If there are too many, it drops every second one.
func (s *Survey) note(p place) {
	if n := len(s.Places); n > 0 && p.Window < s.Places[n-1].Window+s.Every {
		return
	}
	s.Places = append(s.Places, p)
	if len(s.Places) < maxPlaces {
		return
	}
	for i := range maxPlaces / 2 {
		s.Places[i] = s.Places[2*i]
	}
	s.Places, s.Every = s.Places[:maxPlaces/2], 2*s.Every
}

// before returns the last known place at or before a window.
func (s *Survey) before(window int) place {
	i, ok := slices.BinarySearchFunc(s.Places, window, func(p place, window int) int { return cmp.Compare(p.Window, window) })
	if !ok {
		i--
	}
	if i < 0 {
		return place{}
	}
	return s.Places[i]
}

// key returns the name of the survey in the cache. It depends on the digests of the text, the
// tokenizer and the program, and on how the text is cut for which network. It is "" if the survey
// is not cached.
func (s *Survey) key(store stamp.Store) string {
	r := s.reader
	if s.file == nil || s.file.Size() < minRemembered || store.Dir == "" {
		return ""
	}
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	key := []any{"survey", r.Kind(), r.Cutting, r.Cut, r.eos, r.Facts}
	for _, path := range []string{r.Path, program} {
		digest, err := store.SHA256(r.Ctx, path)
		if err != nil {
			return ""
		}
		key = append(key, digest)
	}
	if r.Tokenizer != nil {
		key = append(key, r.Tokenizer.Digest())
	}
	text, err := json.Marshal(key)
	if err != nil {
		return ""
	}
	return string(text)
}

// remember loads a survey from the cache. Otherwise it calls read, and caches the survey if that
// took long.
func (s *Survey) remember(read func() error) error {
	store := cachedir.Stamps(false)
	key := s.key(store)
	was := *s
	if key != "" && store.Load(key, &was) && was.Windows > 0 {
		*s = was
		return s.Changed()
	}
	begin := time.Now()
	err := read()
	if err == nil && key != "" && time.Since(begin) >= rememberedFrom {
		store.Save(key, s)
	}
	return err
}
