package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"mdmgen/internal/plainjson"
)

// DecodeObject reads a line that must be one JSON object with no fields but
// those of v. example is such an object, for the error message.
func DecodeObject(line []byte, v any, example string) error {
	if len(line) == 0 || line[0] != '{' {
		return fmt.Errorf("not a line of input: expected a JSON object, such as %s", example)
	}
	if !utf8.Valid(line) {
		return errors.New("the line is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("not a line of input: %w", plainjson.Plain(nil, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value in a line")
	}
	return plainjson.StrictFields(line)
}
