package requests

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"mdmgen/model"
	"mdmgen/tokenize/chat"
)

// Gap is the positions From..To of a canvas, To excluded.
type Gap struct{ From, To int }

// Canvas is what a request gives, with masks at the positions to sample.
type Canvas struct {
	Tokens []int
	// Prompt is the number of tokens at the beginning that come from messages and the chat
	// template; 0 if there are none.
	Prompt int
	// Gaps are the named gaps of the template.
	Gaps map[string]Gap
	// Blanks are the first positions of the gaps that took the blank before them, which the text
	// of such a gap does not repeat.
	Blanks []int
	// Before and After are the numbers of tokens around the text that the network's frame adds.
	Before, After int
}

// Inside returns the part of a canvas that is text.
func (c Canvas) Inside(ids []int) []int { return ids[c.Before : len(ids)-c.After] }

// Layout builds canvases by the rules of a model.
type Layout struct {
	Facts model.Facts
	// Words gives texts their ids; nil for none.
	Words *Words
	// Length is the default length. If MaxLength is not 0, canvases grow by Block and begin with one
	// block, unless there is a length.
	Length           Length
	Block, MaxLength int
	// KeepBlank leaves a blank before masks where it is, see [tokenize.Tokenizer.CutBlank].
	KeepBlank bool
}

// Canvas builds the canvas of a request. An error of the request is an [*Error]; others are those of
// opening the tokenizer and of the chat template.
func (l Layout) Canvas(r Request) (c Canvas, err error) {
	if r.Length == (Length{}) {
		r.Length = l.Length
	}
	l.Length = r.Length
	texts := r.Prefix != nil || r.Suffix != nil
	switch {
	case r.IDs != nil && (texts || r.Infill != nil || r.Messages != nil):
		return c, wrong("ids", errIDs)
	case r.Infill != nil && texts:
		return c, wrong("infill", errors.New("infill excludes prefix and suffix"))
	case r.Messages == nil && r.Continue:
		return c, wrong("continue_final_message", errors.New("continue_final_message: there are no messages"))
	case r.Messages == nil && r.Kwargs != nil:
		return c, wrong("chat_template_kwargs", errors.New("chat_template_kwargs: there are no messages"))
	case r.IDs != nil:
		c.Tokens, err = l.given(r.IDs)
		return c, wrong("ids", err)
	case r.Messages != nil:
		return l.answer(r)
	}
	pieces, err := r.pieces()
	if err != nil {
		return c, wrong("infill", err)
	}
	return l.fit(pieces)
}

// pieces returns the template of a text or an answer.
func (r *Request) pieces() (pieces []piece, err error) {
	if r.Infill != nil {
		return parseInfill(*r.Infill)
	}
	if r.Start != nil {
		pieces = append(pieces, piece{ids: r.Start})
	}
	if r.Prefix != nil && *r.Prefix != "" {
		pieces = append(pieces, piece{text: *r.Prefix})
	}
	if r.Length != (Length{AtMost: true}) {
		pieces = append(pieces, piece{masks: rest})
	}
	if r.Suffix != nil && *r.Suffix != "" {
		pieces = append(pieces, piece{text: *r.Suffix})
	}
	return pieces, nil
}

var errIDs = errors.New("ids exclude prefix, suffix, infill, messages and length")

// wrong returns an [*Error] for an error of the request, and nil for nil.
func wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Field: field, Err: err}
}

// MaxAnswer is the maximum number of tokens of an answer without a length.
const MaxAnswer = 256

// answer builds the canvas of messages and the answer to them.
func (l Layout) answer(r Request) (c Canvas, err error) {
	a := chat.Asked{Messages: r.Messages, Kwargs: r.Kwargs}
	if last := len(a.Messages) - 1; r.Continue {
		switch {
		case last < 0 || a.Messages[last].Role != "assistant":
			return c, wrong("continue_final_message", errors.New("continue_final_message: the last message must be the assistant's"))
		case r.Prefix != nil || r.Infill != nil:
			return c, wrong("continue_final_message", errors.New("continue_final_message and prefix or infill both begin the answer: give one of them"))
		}
		a.Messages, r.Prefix = a.Messages[:last], &a.Messages[last].Content
	}
	if len(a.Messages) == 0 {
		return c, wrong("messages", errors.New("messages: at least one is needed"))
	}
	for _, m := range r.Messages {
		if !utf8.ValidString(m.Content) {
			return c, wrong("messages", errInvalid)
		}
	}
	pieces, err := r.pieces()
	if err != nil {
		return c, wrong("infill", err)
	}
	prompt, err := l.Words.Prompt(a)
	if err != nil {
		return c, err
	}
	ids := prompt
	if len(pieces) > 0 && pieces[0].masks == 0 { // It is tokenized together with what is before it.
		if a.Begin, pieces = pieces[0].text, pieces[1:]; !utf8.ValidString(a.Begin) {
			return c, wrong("prefix", errInvalid)
		}
		if ids, err = l.Words.Prompt(a); err != nil {
			return c, err
		}
	}
	if err := l.clean(ids); err != nil {
		return c, wrong("messages", err)
	}
	l.Facts.Frame = nil // The template writes all that stands around messages.
	if l.Length == (Length{}) && l.MaxLength == 0 && !l.Facts.FixedLength {
		l.Length = Length{Fill: MaxAnswer, AtMost: true}
	}
	c, err = l.fit(append([]piece{{ids: ids}}, pieces...))
	for c.Prompt < min(len(prompt), len(ids)) && prompt[c.Prompt] == ids[c.Prompt] {
		c.Prompt++
	}
	return c, err
}

// errInvalid is the error of a text of arbitrary bytes.
var errInvalid = errors.New("the text is not valid UTF-8")

// Encode returns the ids of a text, in which every character is text: none can become MASK or a
// special token. It returns an error for ids for which the network has no row.
func (l Layout) Encode(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	words, err := l.Words.Tokenizer()
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(text) {
		return nil, wrong("", errInvalid)
	}
	ids, err := words.EncodePlain(text)
	if err == nil {
		err = l.clean(ids)
	}
	return ids, wrong("", err)
}

// clean returns an error if an id of a tokenizer is not a clean token of the model.
func (l Layout) clean(ids []int) error {
	for _, id := range ids {
		if err := l.isClean(id); err != nil {
			return fmt.Errorf("the tokenizer does not fit the model: %w", err)
		}
	}
	return nil
}

// isClean returns an error if an id is not a clean token of the model.
func (l Layout) isClean(id int) error {
	if id == l.Facts.MaskID {
		return fmt.Errorf("id %d is the mask; positions to be sampled are null", id)
	}
	if id < 0 || id >= l.Facts.Columns {
		return fmt.Errorf("id %d: ids are 0..%d", id, l.Facts.Columns-1)
	}
	return nil
}

// Check returns an error for a length that the network does not take.
func (l Layout) Check(n int) error {
	switch f := l.Facts; {
	case n < 1:
		return fmt.Errorf("length %d: must be at least 1", n)
	case f.FixedLength && n != f.Length:
		return fmt.Errorf("length %d: the model takes canvases of exactly %d positions", n, f.Length)
	case n > f.Length:
		return fmt.Errorf("length %d: the model takes canvases of at most %d positions", n, f.Length)
	case n > MaxLength:
		return fmt.Errorf("length %d: at most %d positions can be sampled", n, MaxLength)
	}
	return nil
}

// fit builds the canvas of a template, and puts the model's frame around it. Its length without that is
// l.Length; if that is the default, it is the template's or, if that has a rest, the model's.
func (l Layout) fit(pieces []piece) (c Canvas, err error) {
	n := len(l.Facts.Frame) / 2
	before, after := l.Facts.Frame[:n], l.Facts.Frame[n:]
	if l.MaxLength > 0 {
		after = nil // The end of a canvas that grows is not known.
	}
	l.Facts.Length -= len(before) + len(after)
	texts, blanks := make([][]int, len(pieces)), make([]bool, len(pieces)+1)
	fixed, open, total := 0, 0, l.Length.Total
	for i, p := range pieces {
		switch {
		case p.masks == rest:
			open++
		case p.masks > 0:
			if most := min(l.Facts.Length, MaxLength); p.masks > most {
				return c, wrong("infill", fmt.Errorf("%d masks: the model takes canvases of at most %d positions", p.masks, most))
			}
			fixed += p.masks
		default:
			if !l.KeepBlank && p.text != "" && i+1 < len(pieces) {
				if words, err := l.Words.Tokenizer(); err == nil { // Encoding reports the error.
					p.text, blanks[i+1] = words.CutBlank(p.text)
				}
			}
			ids, err := l.Encode(p.text)
			if err != nil {
				return c, err
			}
			for j, id := range p.ids {
				if err := l.isClean(id); err != nil {
					return c, wrong("ids", fmt.Errorf("position %d: %w", len(before)+j, err))
				}
			}
			texts[i] = append(ids, p.ids...)
			fixed += len(texts[i])
		}
	}
	switch {
	case open > 1:
		return c, wrong("infill", errors.New("the rest of the length can be requested only once"))
	case open == 0 && l.Length.Fill > 0 && !l.Length.AtMost:
		return c, wrong("length", fmt.Errorf("length +%d, but the template has no {{*}} (or null in a list) to take them", l.Length.Fill))
	case open == 0 && total != 0 && total != fixed:
		return c, wrong("length", fmt.Errorf("length %d, but the template has %d positions; ask for the rest with {{*}}, or null in a list", total, fixed))
	case open == 0:
		total = fixed
	case total > 0: // the remaining piece fills up to total
	case l.Length.Fill > 0:
		if total = fixed + l.Length.Fill; l.Length.AtMost {
			total = min(total, max(fixed+1, l.Facts.Length))
		}
	case l.MaxLength > 0 && l.Block > 0 && !l.Facts.FixedLength:
		total = min(l.Facts.Length, fixed+l.Block)
	default:
		total = l.Facts.Length
	}
	given := len(before) + fixed + len(after)
	if err := l.Check(total); err != nil {
		return c, &Error{"length", err, &given}
	}
	if fixed > total || open == 1 && fixed == total {
		return c, &Error{"length", fmt.Errorf("the given text and masks take %d of %d positions: nothing is left to sample; shorten them or raise the length", fixed, total), &given}
	}
	c = Canvas{Tokens: slices.Clone(before), Gaps: make(map[string]Gap), Before: len(before), After: len(after)}
	for i, p := range pieces {
		n := p.masks
		if n == rest {
			n = total - fixed
		}
		c.Tokens = append(c.Tokens, texts[i]...)
		if blanks[i] {
			c.Blanks = append(c.Blanks, len(c.Tokens))
		}
		if p.name != "" {
			if _, twice := c.Gaps[p.name]; twice {
				return c, wrong("infill", fmt.Errorf("two gaps have the name %s", p.name))
			}
			c.Gaps[p.name] = Gap{len(c.Tokens), len(c.Tokens) + n}
		}
		c.Tokens = append(c.Tokens, slices.Repeat([]int{l.Facts.MaskID}, n)...)
	}
	c.Tokens = append(c.Tokens, after...)
	return c, nil
}

// given builds the canvas of a list of ids.
func (l Layout) given(ids []*int) ([]int, error) {
	if err := l.Check(len(ids)); err != nil {
		return nil, err
	}
	if n := l.Length.Total; n != 0 && n != len(ids) {
		return nil, fmt.Errorf("length is %d, but there are %d ids", n, len(ids))
	}
	canvas := make([]int, len(ids))
	for i, id := range ids {
		if id == nil {
			canvas[i] = l.Facts.MaskID
			continue
		}
		if err := l.isClean(*id); err != nil {
			return nil, fmt.Errorf("position %d: %w", i, err)
		}
		canvas[i] = *id
	}
	return canvas, nil
}
