package canvas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mdmgen/internal/cli/kit"
	"mdmgen/internal/plainfile"
)

// Job is one canvas to be filled in, and where it came from.
type Job struct {
	// Line is the line of --input that it came from, 0 for flags.
	Line   int
	Canvas []int
	// Own is what the line says of how it is sampled.
	Own Own
}

// inputLine is one line of --input.
type inputLine struct {
	Prefix *string         `json:"prefix"`
	Suffix *string         `json:"suffix"`
	Length *int            `json:"length"`
	Infill json.RawMessage `json:"infill"`
	IDs    json.RawMessage `json:"ids"`
}

// ReadJobs reads --input: a JSON object a line. path "-" is standard input.
// Errors name the file and the line.
func ReadJobs(ctx context.Context, path string, stdin io.Reader, layout *Layout) ([]Job, error) {
	name := path
	if path == "-" {
		name = "standard input"
	} else {
		f, err := plainfile.OpenNamed(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", path, err)
		}
		defer f.Close()
		stdin = f
	}
	var jobs []Job
	for l, err := range kit.Lines(stdin, name) {
		if err != nil {
			return nil, err
		}
		line := bytes.TrimSpace(l.Text)
		if l.N == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		own, rest, err := takeOwn(line)
		var canvas []int
		if err == nil {
			canvas, err = parseLine(rest, layout)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, l.N, err)
		}
		jobs = append(jobs, Job{l.N, canvas, own})
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s: no lines", name)
	}
	return jobs, nil
}

// parseLine builds the canvas of one line.
func parseLine(line []byte, l *Layout) ([]int, error) {
	var in inputLine
	if err := kit.DecodeObject(line, &in); err != nil {
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
		return l.FromIDs(ids)
	}
	total := l.Length
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
		return l.Infill(template, total)
	}
	return l.Between(in.Prefix, in.Suffix, total)
}

// Between builds a canvas with masks between a prefix and a suffix, nil for none.
func (l *Layout) Between(prefix, suffix *string, total int) ([]int, error) {
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
