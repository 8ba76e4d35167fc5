package windows

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"time"

	"mdmgen/internal/stamp"
	"mdmgen/model/ort"
	"mdmgen/tokenize"
)

// A survey that took rememberedFrom is remembered, so that the parts of a run do not each make it
// again. Texts below leastRemembered bytes are not asked about: their survey takes a fraction of it.
var (
	rememberedFrom  = 500 * time.Millisecond
	leastRemembered = int64(1 << 20)
)

// place is where the reading of an input may begin: how many windows, documents and lines begin
// before it, and how many tokens of a running text are.
type place struct {
	Window, Document, Line, Token int
	tokenize.Place
}

// mostPlaces bounds how many places are known of an input.
const mostPlaces = 4096

// note takes a place; of too many every second is dropped.
func (s *Survey) note(p place) {
	if n := len(s.Places); n > 0 && p.Window < s.Places[n-1].Window+s.Every {
		return
	}
	s.Places = append(s.Places, p)
	if len(s.Places) < mostPlaces {
		return
	}
	for i := range mostPlaces / 2 {
		s.Places[i] = s.Places[2*i]
	}
	s.Places, s.Every = s.Places[:mostPlaces/2], 2*s.Every
}

// before is the last place that is known at or before a window.
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

// Onward reports whether the shortest way to a window is to read on from another.
func (s *Survey) Onward(at, window int) bool {
	return at <= window && s.before(window).Window <= at
}

// key names the survey of a text by all that it depends on: the digests of the text, the tokenizer and
// the program, and how it is cut for which network; "" where it is not remembered.
func (s *Survey) key(store stamp.Store) string {
	r := s.reader
	if s.file == nil || s.file.Size() < leastRemembered || store.Dir == "" {
		return ""
	}
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	key := []any{"survey", r.Kind(), r.Cutting, r.cutting, r.eos, r.Facts}
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

// remember fills in a survey from the cache, or makes it by read and keeps it there where that took
// long.
func (s *Survey) remember(read func() error) error {
	store := ort.Stamps(false)
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
