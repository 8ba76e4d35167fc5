// Package canvas builds canvases from prefixes and suffixes, templates with gaps and JSON lines,
// and turns canvases back into text.
package canvas

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mdmgen/model"
	"mdmgen/tokenize/chat"
)

// Encoder turns text into ids, treating every character as text: no prompt can
// become MASK or a special token.
type Encoder interface {
	EncodePlain(text string) ([]int, error)
}

// Length is the length of a canvas; the zero value means the model's.
type Length struct {
	// Total is the number of positions, Fill the number of positions to sample in addition to the
	// given ones. At least one is 0.
	Total, Fill int
}

// ParseLength parses a number of positions, or +N for N positions to sample.
func ParseLength(text string) (l Length, err error) {
	number, plus := strings.CutPrefix(text, "+")
	n, err := strconv.ParseUint(number, 10, 32)
	switch {
	case err != nil || n < 1 || n > Max:
		return l, fmt.Errorf("must be in 1..%d, or +N for N positions in addition to the given ones", Max)
	case plus:
		l.Fill = int(n)
	default:
		l.Total = int(n)
	}
	return l, nil
}

func (l Length) String() string {
	switch {
	case l.Fill > 0:
		return fmt.Sprintf("+%d", l.Fill)
	case l.Total > 0:
		return strconv.Itoa(l.Total)
	}
	return ""
}

// Layout builds canvases by the rules of a model and, for texts, with its
// tokenizer.
type Layout struct {
	Facts model.Facts
	Length
	// If MaxLength is not 0, canvases grow by Block and begin with one block, unless Length is set.
	Block, MaxLength int
	// MaxSamples is the maximum of a line's n; 0 means [MaxSamples].
	MaxSamples int
	// encode is nil until a text is encoded; Open opens it.
	encode Encoder
	Open   func() (Encoder, error)
	// Gaps are the named gaps of the last template.
	Gaps map[string]Gap
	// Chat turns messages into a prompt by the tokenizer's template.
	Chat func([]chat.Message) ([]int, error)
}

// Gap is the positions From..To of a canvas, To excluded.
type Gap struct{ From, To int }

// Answer builds the canvas of messages and the answer to them. prompt is the number of tokens of
// the messages; total is the length of the canvas, 0 for the model's.
func (l *Layout) Answer(messages []chat.Message, total int) (canvas []int, prompt int, err error) {
	if len(messages) == 0 {
		return nil, 0, errors.New("messages: at least one is needed")
	}
	for _, m := range messages {
		if !utf8.ValidString(m.Content) {
			return nil, 0, errors.New("the text is not valid UTF-8")
		}
	}
	ids, err := l.Chat(messages)
	if err != nil {
		return nil, 0, err
	}
	if err := l.clean(ids); err != nil {
		return nil, 0, err
	}
	canvas, err = l.template([]piece{{ids: ids}, {masks: rest}}, total)
	return canvas, len(ids), err
}

// IDs encodes a text. It returns an error for ids for which the network has no row.
func (l *Layout) IDs(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	if l.encode == nil {
		e, err := l.Open()
		if err != nil {
			return nil, err
		}
		l.encode = e
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the text is not valid UTF-8")
	}
	ids, err := l.encode.EncodePlain(text)
	if err != nil {
		return nil, err
	}
	return ids, l.clean(ids)
}

// clean returns an error if an id of a tokenizer is not a clean token of the model.
func (l *Layout) clean(ids []int) error {
	for _, id := range ids {
		if err := l.Clean(id); err != nil {
			return fmt.Errorf("the tokenizer does not fit the model: %w", err)
		}
	}
	return nil
}

// Clean returns an error if an id is not a clean token of the model.
func (l *Layout) Clean(id int) error {
	if id == l.Facts.MaskID {
		return fmt.Errorf("id %d is the mask; positions to be sampled are null", id)
	}
	if id < 0 || id >= l.Facts.Columns {
		return fmt.Errorf("id %d: ids are 0..%d", id, l.Facts.Columns-1)
	}
	return nil
}

// Max is the maximum length before a model is known.
const Max = 1 << 20

// check returns an error for a length that the network does not take.
func (l *Layout) check(n int) error {
	switch f := l.Facts; {
	case n < 1:
		return fmt.Errorf("length %d: must be at least 1", n)
	case f.FixedLength && n != f.Length:
		return fmt.Errorf("length %d: the model takes canvases of exactly %d positions", n, f.Length)
	case n > f.Length:
		return fmt.Errorf("length %d: the model takes canvases of at most %d positions", n, f.Length)
	case n > Max:
		return fmt.Errorf("length %d: at most %d positions can be sampled", n, Max)
	}
	return nil
}

// template builds the canvas of a template. total is its length; 0 means that of
// the template or, if it has a rest, the default.
func (l *Layout) template(pieces []piece, total int) ([]int, error) {
	texts := make([][]int, len(pieces))
	fixed, open := 0, 0
	for i, p := range pieces {
		switch {
		case p.masks == rest:
			open++
		case p.masks > 0:
			if most := min(l.Facts.Length, Max); p.masks > most {
				return nil, fmt.Errorf("%d masks: the model takes canvases of at most %d positions", p.masks, most)
			}
			fixed += p.masks
		default:
			ids, err := l.IDs(p.text)
			if err != nil {
				return nil, err
			}
			texts[i] = append(ids, p.ids...)
			fixed += len(texts[i])
		}
	}
	switch {
	case open > 1:
		return nil, errors.New("the rest of the length can be requested only once")
	case open == 0 && total == 0 && l.Fill > 0:
		return nil, fmt.Errorf("length +%d, but the template has no {{*}} (or null in a list) to take them", l.Fill)
	case open == 0 && total != 0 && total != fixed:
		return nil, fmt.Errorf("length %d, but the template has %d positions; ask for the rest with {{*}}, or null in a list", total, fixed)
	case open == 0:
		total = fixed
	case total > 0: // the remaining piece fills up to total
	case l.Fill > 0:
		total = fixed + l.Fill
	case l.MaxLength > 0 && l.Block > 0 && !l.Facts.FixedLength:
		total = min(l.Facts.Length, fixed+l.Block)
	default:
		total = l.Facts.Length
	}
	if err := l.check(total); err != nil {
		return nil, err
	}
	if fixed > total || open == 1 && fixed == total {
		return nil, fmt.Errorf("the given text and masks take %d of %d positions: nothing is left to sample; shorten them or raise --length", fixed, total)
	}
	canvas := make([]int, 0, total)
	l.Gaps = make(map[string]Gap)
	for i, p := range pieces {
		n := p.masks
		if n == rest {
			n = total - fixed
		}
		canvas = append(canvas, texts[i]...)
		if p.name != "" {
			if _, twice := l.Gaps[p.name]; twice {
				return nil, fmt.Errorf("two gaps have the name %s", p.name)
			}
			l.Gaps[p.name] = Gap{len(canvas), len(canvas) + n}
		}
		canvas = append(canvas, slices.Repeat([]int{l.Facts.MaskID}, n)...)
	}
	return canvas, nil
}

// FromIDs builds the canvas of a list of ids; nil is a position to be sampled.
func (l *Layout) FromIDs(ids []*int) ([]int, error) {
	if err := l.check(len(ids)); err != nil {
		return nil, err
	}
	if l.Total != 0 && l.Total != len(ids) {
		return nil, fmt.Errorf("--length is %d, but the line has %d ids", l.Total, len(ids))
	}
	canvas := make([]int, len(ids))
	for i, id := range ids {
		if id == nil {
			canvas[i] = l.Facts.MaskID
			continue
		}
		if err := l.Clean(*id); err != nil {
			return nil, fmt.Errorf("position %d: %w", i, err)
		}
		canvas[i] = *id
	}
	return canvas, nil
}

// Text decodes a canvas. It writes runs of masks as {{N}}, the syntax that
// --infill reads.
func Text(t Decoder, ids []int, mask int) (string, error) {
	var b strings.Builder
	for i := 0; i < len(ids); {
		j := i
		for j < len(ids) && (ids[j] == mask) == (ids[i] == mask) {
			j++
		}
		if ids[i] == mask {
			fmt.Fprintf(&b, "{{%d}}", j-i)
		} else {
			s, err := t.Decode(ids[i:j])
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		}
		i = j
	}
	return b.String(), nil
}

// Filled returns the texts of ids in the gaps of a canvas (its runs of masks), in order: what they
// add to the preceding text. Positions after the end of the canvas belong to the last gap.
func Filled(t Decoder, canvas, ids []int, mask int) (texts []string, err error) {
	gap := func(l int) bool { return l >= len(canvas) || canvas[l] == mask }
	for before, i := 0, 0; i < len(ids); {
		j := i
		for j < len(ids) && gap(j) == gap(i) {
			j++
		}
		if gap(i) {
			text, err := between(t, ids[before:j], i-before, mask)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
		}
		before, i = i, j
	}
	return texts, nil
}

// between returns the text that ids[from:] add to that of ids[:from].
func between(t Decoder, ids []int, from, mask int) (string, error) {
	before, err := Text(t, ids[:from], mask)
	if err != nil {
		return "", err
	}
	whole, err := Text(t, ids, mask)
	if err != nil {
		return "", err
	}
	if rest, ok := strings.CutPrefix(whole, before); ok {
		return rest, nil
	}
	return Text(t, ids[from:], mask) // A character begins before from.
}

// Decoder turns ids into text.
type Decoder interface {
	Decode(ids []int) (string, error)
}
