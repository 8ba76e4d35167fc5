package texts

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// Survey describes all windows of an input.
type Survey struct {
	Windows []Window
	// Shapes lists the different shapes, in the order of their first windows.
	Shapes []Shape
	// Digest is "sha256:…" of the windows' ids.
	Digest string
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

// Survey reads the input.
func (r *Reader) Survey() (*Survey, error) {
	all, err := r.Read()
	if err != nil {
		return nil, err
	}
	s := &Survey{Windows: all, Digest: Digest(all)}
	at := make(map[Shape]int)
	for n, w := range all {
		shape := Shape{From: w.Free[0], After: len(w.IDs) - 1 - w.Free[len(w.Free)-1], Length: len(w.IDs)}
		i, ok := at[shape]
		if !ok {
			i = len(s.Shapes)
			at[shape] = i
			shape.First = n
			s.Shapes = append(s.Shapes, shape)
		}
		s.Shapes[i].Windows++
	}
	return s, nil
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
