package tokenize

import (
	"bytes"
	"encoding/json"
	"errors"
)

// IDs is a list of ids in JSON, in which null, which package encoding/json reads as 0, is an error.
type IDs []int

// UnmarshalJSON implements [json.Unmarshaler].
func (l *IDs) UnmarshalJSON(raw []byte) error {
	if bytes.Contains(raw, []byte("null")) {
		return errors.New("null is not an id")
	}
	return json.Unmarshal(raw, (*[]int)(l))
}
