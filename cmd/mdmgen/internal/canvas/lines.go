package canvas

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/plainfile"
	"mdmgen/tokenize/chat"
)

// Job is a canvas to be filled, and its origin.
type Job struct {
	// Line is the line of --input, 0 for flags.
	Line   int
	Canvas []int
	// Prompt is the number of tokens at the beginning that come from messages and the chat
	// template; 0 if there are none.
	Prompt int
	// Own holds the line's own settings.
	Own Own
	// Gaps are the named gaps of its template.
	Gaps map[string]Gap
}

// inputLine is one line of --input.
type inputLine struct {
	Prefix *string         `json:"prefix"`
	Suffix *string         `json:"suffix"`
	Length *int            `json:"length"`
	Infill json.RawMessage `json:"infill"`
	IDs    json.RawMessage `json:"ids"`
	// Messages are a chat whose answer is sampled.
	Messages []chat.Message `json:"messages"`
}

// example is a line of --input, for error messages.
const example = `{"prefix":"Once upon a time"}`

// InputName returns the name of --input in messages.
func InputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// ReadJobs reads --input, a JSON object per line. path "-" is standard input.
// Errors name the file and the line.
func ReadJobs(ctx context.Context, path string, stdin io.Reader, layout *Layout) (jobs []Job, err error) {
	name := InputName(path)
	if path != "-" {
		f, err := plainfile.OpenNamed(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", path, err)
		}
		defer f.Close()
		stdin = f
	}
	for l, err := range kit.Lines(stdin, name) {
		if err != nil {
			return nil, err
		}
		if jobs, err = layout.Line(jobs, l, name); err != nil {
			return nil, err
		}
	}
	if len(jobs) == 0 {
		return nil, NoLines(name)
	}
	return jobs, nil
}

// NoLines returns the error of an input without lines.
func NoLines(name string) error {
	return fmt.Errorf("%s: no lines: write a JSON object in each, such as %s", name, example)
}

// Line appends the job of a line of input, none for an empty line.
func (l *Layout) Line(jobs []Job, line kit.TextLine, name string) ([]Job, error) {
	text := bytes.TrimSpace(line.Text)
	if line.N == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if len(text) == 0 {
		return jobs, nil
	}
	j, err := l.Object(text)
	if err != nil {
		return jobs, fmt.Errorf("%s:%d: %w", name, line.N, err)
	}
	j.Line = line.N
	return append(jobs, j), nil
}

// Object returns the job of a line's JSON object.
func (l *Layout) Object(text []byte) (j Job, err error) {
	own, rest, err := takeOwn(text, cmp.Or(l.MaxSamples, MaxSamples))
	j.Own = own
	if err == nil {
		l.Gaps = nil
		j.Canvas, j.Prompt, err = l.parse(own, rest)
		j.Gaps = l.Gaps
	}
	return j, err
}

// parse builds the canvas of a line. It grows according to the line's own options.
func (l *Layout) parse(own Own, line []byte) (canvas []int, prompt int, err error) {
	block, most := l.Block, l.MaxLength
	defer func() { l.Block, l.MaxLength = block, most }()
	l.Block, l.MaxLength = cmp.Or(own.Options.BlockLength, block), cmp.Or(own.Options.MaxLength, most)
	return parseLine(line, l)
}

// parseLine builds the canvas of a line and returns the number of tokens of a chat's prompt.
func parseLine(line []byte, l *Layout) (canvas []int, prompt int, err error) {
	var in inputLine
	if err := kit.DecodeObject(line, &in, example); err != nil {
		return nil, 0, err
	}
	texts := in.Prefix != nil || in.Suffix != nil
	switch {
	case in.IDs != nil && (texts || in.Infill != nil || in.Length != nil || in.Messages != nil):
		return nil, 0, errors.New("ids exclude prefix, suffix, infill, messages and length")
	case in.Infill != nil && texts:
		return nil, 0, errors.New("infill excludes prefix and suffix")
	case in.Messages != nil && (texts || in.Infill != nil):
		return nil, 0, errors.New("messages exclude prefix, suffix and infill")
	case in.IDs != nil:
		var ids []*int
		if err := json.Unmarshal(in.IDs, &ids); err != nil || ids == nil {
			return nil, 0, errors.New("ids must be a list of ids, null for a position to be sampled")
		}
		canvas, err := l.FromIDs(ids)
		return canvas, 0, err
	}
	total := l.Total
	if in.Length != nil {
		if total = *in.Length; total < 1 {
			return nil, 0, fmt.Errorf("length %d: must be at least 1", total)
		}
	}
	switch {
	case in.Messages != nil:
		return l.Answer(in.Messages, total)
	case in.Infill == nil:
		canvas, err = l.Between(in.Prefix, in.Suffix, total)
	default:
		canvas, err = l.infilled(in.Infill, total)
	}
	return canvas, 0, err
}

// infilled builds the canvas of a template in either form.
func (l *Layout) infilled(raw json.RawMessage, total int) ([]int, error) {
	var template string
	if json.Unmarshal(raw, &template) == nil {
		return l.Infill(template, total)
	}
	pieces, err := piecesFromJSON(raw)
	if err != nil {
		return nil, err
	}
	return l.template(pieces, total)
}

// Between builds a canvas with masks between a prefix and a suffix; nil means none.
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
