package tokenize

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The sizes of a stream's pieces in bytes: small at first, so that little is read if little is
// wanted.
const (
	firstPiece = 4 << 10
	fullPiece  = 64 << 10
)

// Stream reads a text and yields its ids in pieces, each a slice that the caller owns: joined they
// are the ids of [Tokenizer.EncodePlain] of the whole text. The sequence is single-use.
//
// It reads no further than the next piece needs, about 64 KiB, and keeps nothing that it has
// yielded. The text is cut only where the ids do not depend on it: for the normalizer before a
// character that does not interact with those before it, for the pre-tokenizer after a pre-token
// that no later text can change. A text with more than 1 MiB without such a place is an error, as
// is one that is not valid UTF-8; the error names the byte, counted from 0. The stream ends after
// an error.
func (t *Tokenizer) Stream(r io.Reader) iter.Seq2[[]int, error] {
	return t.plain.stream(r, firstPiece, fullPiece)
}

// stream yields pieces that grow from first to full bytes.
func (p pipeline) stream(r io.Reader, first, full int) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		s := streamed{pre: p.pre}
		for size := first; !s.ended; size = min(2*size, full) {
			ids := []int{}
			var fault error
			err := s.next(r, size, func(word string) {
				if fault == nil {
					ids, fault = p.model.appendIDs(ids, word)
				}
			})
			if err = errors.Join(err, fault); err != nil {
				yield(nil, err)
				return
			}
			if len(ids) > 0 && !yield(ids, nil) {
				return
			}
		}
	}
}

// streamed is the state of a stream between two pieces.
type streamed struct {
	pre *preTokenizer
	// raw has been read but not normalized; text has been normalized but not cut into pre-tokens.
	raw  []byte
	text string
	// read counts the bytes read; begun means that there was text, ended that there is no more.
	read         int
	begun, ended bool
}

// next reads size bytes, or as many as are pending if that is more, so that text that is scanned
// repeatedly doubles each time. It calls emit for each pre-token that is certain.
func (s *streamed) next(r io.Reader, size int, emit func(string)) error {
	if err := s.fill(r, max(size, len(s.raw), len(s.text))); err != nil {
		return err
	}
	n := len(s.raw)
	switch {
	case s.ended:
	case s.pre.normalize != nil:
		n = lastFresh(s.raw)
	default:
		n = wholeRunes(s.raw)
	}
	if n > 0 {
		text := s.pre.normalized(string(s.raw[:n]))
		s.raw = append(s.raw[:0], s.raw[n:]...)
		if text != "" && !s.begun {
			s.begun = true
			if s.pre.prefix && text[0] != ' ' {
				text = " " + text
			}
		}
		s.text += text
	}
	s.text = s.text[s.pre.split(s.text, !s.ended, emit):]
	if max(len(s.raw), len(s.text)) > maxWord {
		return fmt.Errorf("byte %d: the %d bytes before it have no place to cut the text: at most %d are supported", s.read, max(len(s.raw), len(s.text)), maxWord)
	}
	return nil
}

// fill reads n bytes, fewer at the end, and rejects text that is not UTF-8.
func (s *streamed) fill(r io.Reader, n int) error {
	from := wholeRunes(s.raw) // Everything before is valid.
	have := len(s.raw)
	s.raw = append(s.raw, make([]byte, n)...)
	n, err := io.ReadFull(r, s.raw[have:])
	s.raw = s.raw[:have+n]
	s.read += n
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		s.ended = true
	} else if err != nil {
		return err
	}
	to := len(s.raw)
	if !s.ended {
		to = wholeRunes(s.raw)
	}
	if utf8.Valid(s.raw[from:to]) {
		return nil
	}
	for from < to {
		r, n := utf8.DecodeRune(s.raw[from:to])
		if r == utf8.RuneError && n == 1 {
			break
		}
		from += n
	}
	return fmt.Errorf("byte %d: the text is not valid UTF-8: convert it, as with iconv -t UTF-8", s.read-len(s.raw)+from)
}

// wholeRunes returns the length of text without an incomplete character at its end.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// lastFresh returns the start of the last character of text that starts afresh, 0 if none does.
func lastFresh(text []byte) int {
	for end := wholeRunes(text); end > 0; {
		r, n := utf8.DecodeLastRune(text[:end])
		end -= n
		if startsAfresh(r) {
			return end
		}
	}
	return 0
}

// startsAfresh reports whether normalizing the parts of a text before r and from r on gives the
// same as normalizing the whole. Characters change independently, except that normalization forms
// sort marks after their letter, and join marks and some letters with those before them. Neither
// crosses a character that has class 0, as has the first of its decomposition, and that is never
// the second of a pair. A character that clean_text removes does not count, because the text after
// it moves up; nor do marks, because strip_accents removes them; nor do characters that Go's tables
// do not know as letters, numbers, punctuation, symbols or blanks, or know differently from the
// reference.
func startsAfresh(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r >= ' ' && r < 0x7F:
		return true // no pair has a second in ASCII
	case r < 0x80, r == utf8.RuneError, unicode.Is(lateOrder, r):
		return false
	case !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.Z):
		return false
	}
	var char [utf8.UTFMax]byte
	n := utf8.EncodeRune(char[:], r)
	return norm.NFC.Properties(char[:n]).BoundaryBefore() && norm.NFD.Properties(char[:n]).BoundaryBefore()
}
