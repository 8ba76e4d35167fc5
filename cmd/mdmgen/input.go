package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// job is one canvas to be filled in, and where it came from.
type job struct {
	// line is the line of --input that it came from, 0 for flags.
	line   int
	canvas []int
}

// inputLine is one line of --input.
type inputLine struct {
	Prefix *string         `json:"prefix"`
	Suffix *string         `json:"suffix"`
	Length *int            `json:"length"`
	Infill json.RawMessage `json:"infill"`
	IDs    json.RawMessage `json:"ids"`
}

// readFlagged reads a file that a flag names, a pipe or a device, of at most limit bytes.
func readFlagged(flag, path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, plainfile.Cause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, path, plainfile.Cause(err))
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s %s: more than %d bytes: give a smaller file", flag, path, limit)
	}
	return data, nil
}

// readJobs reads --input: a JSON object a line. path "-" is standard input.
// Errors name the file and the line.
func readJobs(path string, stdin io.Reader, layout *layout) ([]job, error) {
	name := path
	if path == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", path, plainfile.Cause(err))
		}
		defer f.Close()
		stdin = f
	}
	var jobs []job
	for l, err := range lines(stdin, name) {
		if err != nil {
			return nil, err
		}
		line := bytes.TrimSpace(l.text)
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		canvas, err := parseLine(line, layout)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, l.n, err)
		}
		jobs = append(jobs, job{l.n, canvas})
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: no lines", name)
	}
	return jobs, nil
}

// decodeObject reads a line that must be one JSON object with no fields but
// those of v.
func decodeObject(line []byte, v any) error {
	if len(line) == 0 || line[0] != '{' {
		return errors.New("not a line of input: expected a JSON object")
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

// parseLine builds the canvas of one line.
func parseLine(line []byte, l *layout) ([]int, error) {
	var in inputLine
	if err := decodeObject(line, &in); err != nil {
		return nil, err
	}
	texts := in.Prefix != nil || in.Suffix != nil
	switch {
	case in.IDs != nil && (texts || in.Infill != nil || in.Length != nil):
		return nil, errors.New("ids stand alone: prefix, suffix, infill and length do not go with them")
	case in.Infill != nil && texts:
		return nil, errors.New("infill does not go with prefix and suffix")
	case in.IDs != nil:
		var ids []*int
		if err := json.Unmarshal(in.IDs, &ids); err != nil || ids == nil {
			return nil, errors.New("ids must be a list of ids, null for a position to be sampled")
		}
		return l.fromIDs(ids)
	}
	total := l.length
	if in.Length != nil {
		if total = *in.Length; total < 1 {
			return nil, fmt.Errorf("length %d: must be at least 1", total)
		}
	}
	if in.Infill != nil {
		var template string
		if json.Unmarshal(in.Infill, &template) != nil {
			pieces, err := piecesFromJSON(in.Infill)
			if err != nil {
				return nil, err
			}
			return l.template(pieces, total)
		}
		pieces, err := parseInfill(template)
		if err != nil {
			return nil, err
		}
		return l.template(pieces, total)
	}
	return l.between(in.Prefix, in.Suffix, total)
}

// between builds a canvas with masks between a prefix and a suffix, nil for none.
func (l *layout) between(prefix, suffix *string, total int) ([]int, error) {
	var pieces []piece
	if prefix != nil && *prefix != "" {
		pieces = append(pieces, piece{text: *prefix})
	}
	pieces = append(pieces, piece{masks: rest})
	if suffix != nil && *suffix != "" {
		pieces = append(pieces, piece{text: *suffix})
	}
	return l.template(pieces, total)
}
