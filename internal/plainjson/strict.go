package plainjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Strict refuses what package encoding/json reads without a word, though no two readers
// need to read it alike: a field that stands twice in an object, and half of a surrogate
// pair in a text (\ud83d alone), which becomes U+FFFD. The error is one line that names
// the field. Data that is no JSON is left to its reader.
func Strict(data []byte) error { return strict(data, func(key string) string { return key }) }

// StrictFields is Strict for objects that are read into the fields of a struct, whose
// names package encoding/json finds in any case.
func StrictFields(data []byte) error { return strict(data, strings.ToLower) }

// level is an object or a list that is open.
type level struct {
	// keys are those of an object, nil for a list; key is the last one, whose value comes
	// next where pending is set.
	keys    map[string]bool
	key     string
	pending bool
}

func strict(data []byte, same func(string) string) error {
	if bytes.IndexByte(data, '{') < 0 && bytes.IndexByte(data, '\\') < 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var open []level
	where := func() string {
		var path []string
		for _, l := range open {
			if l.key != "" {
				path = append(path, l.key)
			}
		}
		if path == nil {
			return ""
		}
		return fmt.Sprintf("field %.60q: ", strings.Join(path, "."))
	}
	for {
		from := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return nil
		}
		top := len(open) - 1
		if text, ok := token.(string); ok {
			if top >= 0 && open[top].keys != nil && !open[top].pending {
				if open[top].keys[same(text)] {
					return fmt.Errorf("%sfield %.60q appears twice", at(data, from), text)
				}
				open[top].keys[same(text)], open[top].key, open[top].pending = true, text, true
				if half := halfPair(data[from:d.InputOffset()]); half != "" {
					return fmt.Errorf("%sa field's name has %s, half of a character", at(data, from), half)
				}
				continue
			}
			if half := halfPair(data[from:d.InputOffset()]); half != "" {
				return fmt.Errorf("%s%s%s is half of a character: its other half is missing", at(data, from), where(), half)
			}
		}
		if top >= 0 && open[top].keys != nil {
			open[top].pending = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: make(map[string]bool)})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
	}
}

// escapes are the escapes of a JSON string, pairs of surrogates as one.
var escapes = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.`)

// halfPair returns the first escape of a surrogate in a JSON string that has no partner, "" where
// there is none.
func halfPair(text []byte) string {
	if !bytes.Contains(text, []byte(`\u`)) {
		return ""
	}
	for _, e := range escapes.FindAll(text, -1) {
		if len(e) == 6 && e[2]|0x20 == 'd' && e[3] >= '8' { // \ud800 to \udfff
			return string(e)
		}
	}
	return ""
}
