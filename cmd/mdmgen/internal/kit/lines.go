package kit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"time"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// MaxLine is the greatest length of a line of input, in bytes without its end.
const MaxLine = 16 << 20

// Gather yields lines in groups. Once a line has arrived it waits for enough lines, but no longer
// than wait, and takes at most most of them. An error is yielded with the lines before it, and ends
// the iteration.
func Gather(lines iter.Seq2[TextLine, error], enough, most int, wait time.Duration) iter.Seq2[[]TextLine, error] {
	type item struct {
		line TextLine
		err  error
	}
	return func(yield func([]TextLine, error) bool) {
		came, done := make(chan item, most), make(chan struct{})
		defer close(done)
		go func() {
			defer close(came)
			for l, err := range lines {
				l.Text = bytes.Clone(l.Text)
				select {
				case came <- item{l, err}:
				case <-done:
					return
				}
			}
		}()
		for next := range came {
			var group []TextLine
			late := time.After(wait)
			for more := true; more && next.err == nil; {
				group = append(group, next.line)
				if len(group) == most || len(group) >= enough && len(came) == 0 {
					break
				}
				select {
				case next, more = <-came:
				case <-late:
					more = false
				}
			}
			if !yield(group, next.err) || next.err != nil {
				return
			}
		}
	}
}

// TextLine is a line of input. Text has no line end, neither Unix's nor Windows's, and is valid
// until the next line is read; N counts from 1.
type TextLine struct {
	N    int
	Text []byte
}

// Lines yields the lines of a text, empty ones included. name is the name of the input in errors.
// An error ends the lines. Lines reads no further in a line that is too long.
func Lines(in io.Reader, name string) iter.Seq2[TextLine, error] {
	return func(yield func(TextLine, error) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(make([]byte, 1<<16), MaxLine+len("\r\n"))
		for n := 1; ; n++ {
			more := s.Scan()
			switch err := s.Err(); {
			case err == bufio.ErrTooLong, len(s.Bytes()) > MaxLine:
				yield(TextLine{}, fmt.Errorf("%s:%d: the line is longer than %d bytes", name, n, MaxLine))
				return
			case err != nil: // A partial line is dropped.
				yield(TextLine{}, fmt.Errorf("%s: %w", name, plainfile.Cause(err)))
				return
			case !more || !yield(TextLine{n, s.Bytes()}, nil):
				return
			}
		}
	}
}

// DecodeObject reads a line that must be one JSON object with no fields other than those of v.
// example is such an object, for the error message.
func DecodeObject(line []byte, v any, example string) error {
	if len(line) == 0 || line[0] != '{' {
		return fmt.Errorf("not a line of input: expected a JSON object, such as %s", example)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		err = plainjson.Plain(nil, err)
		if strings.Contains(err.Error(), "unknown field") {
			var names []string
			for name := range plainjson.FieldsOf(reflect.TypeOf(v).Elem()) {
				names = append(names, name)
			}
			err = fmt.Errorf("%w: must be one of %s", err, strings.Join(names, ", "))
		}
		return fmt.Errorf("not a line of input: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value in a line")
	}
	return plainjson.StrictFields(line)
}
