package texts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	strictjson "github.com/go-json-experiment/json"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// maxCorpus is the maximum size of a text that is cut into windows, in bytes.
const maxCorpus = 1 << 30

// Pieces are the ids of a text, in consecutive pieces.
type Pieces = iter.Seq2[[]int, error]

// document is one text of the input.
type document struct {
	line    int // 0 for a corpus
	context []int
	ids     Pieces
}

// whole returns the pieces of a text in memory.
func whole(ids []int) Pieces {
	return func(yield func([]int, error) bool) { yield(ids, nil) }
}

// documents yields the texts of the input. Its errors name the input.
func (r *Reader) documents(in io.Reader) iter.Seq2[document, error] {
	switch r.Kind() {
	case "corpus":
		return func(yield func(document, error) bool) {
			if err := r.needText(); err != nil {
				yield(document{}, err)
				return
			}
			b := bufio.NewReader(in)
			if begin, _ := b.Peek(2); r.As == "" && string(begin) == `{"` {
				r.Streams.Notice(r.name() + " begins like JSON lines and is read as one text: --as jsonl reads lines")
			}
			yield(document{ids: func(yield func([]int, error) bool) {
				for ids, err := range r.Tokenizer.Stream(&atMost{b, maxCorpus}) {
					if err != nil {
						err = fmt.Errorf("%s: %w", r.name(), plainfile.Cause(err))
					}
					if !yield(ids, err) {
						return
					}
				}
			}}, nil)
		}
	case "lines":
		return r.lineDocuments(in, func(line []byte) (document, error) {
			if !utf8.Valid(line) {
				return document{}, errors.New("the line is not valid UTF-8")
			}
			ids, err := r.encode(given{text: new(string(line))})
			return document{ids: whole(ids)}, err
		})
	}
	return r.lineDocuments(in, r.parse)
}

// atMost is a reader that returns an error after more than left bytes.
type atMost struct {
	r    io.Reader
	left int64
}

func (b *atMost) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d bytes: split it", maxCorpus)
	}
	return n, err
}

// lineDocuments yields a document per line, none for an empty line.
func (r *Reader) lineDocuments(in io.Reader, parse func([]byte) (document, error)) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		for l, err := range kit.Lines(in, r.name()) {
			if err == nil && len(bytes.TrimSpace(l.Text)) == 0 {
				continue
			}
			var d document
			if err == nil {
				if d, err = parse(l.Text); err != nil && !exit.Coded(err) {
					err = fmt.Errorf("%s:%d: %w", r.name(), l.N, err)
				}
			}
			d.line = l.N
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// joined joins all documents into one, with the end token after each.
func (r *Reader) joined(docs iter.Seq2[document, error]) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		yield(document{ids: func(yield func([]int, error) bool) {
			for d, err := range docs {
				if err != nil {
					yield(nil, err)
					return
				}
				for ids, err := range d.ids {
					if !yield(ids, err) || err != nil {
						return
					}
				}
				if !yield([]int{r.eos}, nil) {
					return
				}
			}
		}}, nil)
	}
}

// given is a text, or ids; nothing if both are nil.
type given struct {
	text *string
	ids  []int
}

// parseScoreLine parses a JSON line, whose text is given, perhaps after a context.
func parseScoreLine(line []byte) (text, context given, err error) {
	var in struct {
		Text    *string         `json:"text"`
		IDs     json.RawMessage `json:"ids"`
		Context json.RawMessage `json:"context"`
	}
	// The strict decoder is tried first. A line that it rejects is decoded again, either
	// successfully, as with capitals in field names, or with a specific error.
	if strictjson.Unmarshal(line, &in, strictjson.RejectUnknownMembers(true)) != nil || len(line) == 0 || line[0] != '{' {
		in.Text, in.IDs, in.Context = nil, nil, nil
		if err := kit.DecodeObject(line, &in, `{"text":"Once upon a time"}`); err != nil {
			return text, context, err
		}
	}
	if (in.Text != nil) == (in.IDs != nil) {
		return text, context, errors.New("needs text or ids, and not both")
	}
	if text.text = in.Text; in.IDs != nil {
		if text.ids, err = parseIDs(in.IDs); err != nil {
			return text, context, fmt.Errorf("ids: %w", err)
		}
	}
	switch {
	case in.Context == nil:
	case in.Context[0] == '"':
		err = json.Unmarshal(in.Context, &context.text)
	default:
		if context.ids, err = parseIDs(in.Context); err != nil {
			err = errors.New("context must be a text or a list of ids")
		}
	}
	return text, context, err
}

// parseIDs parses a list of ids. null is an error.
func parseIDs(raw json.RawMessage) ([]int, error) {
	var list []*int
	if err := strictjson.Unmarshal(raw, &list); err != nil || list == nil {
		return nil, errors.New("not a list of whole numbers")
	}
	out := make([]int, len(list))
	for i, id := range list {
		if id == nil {
			return nil, fmt.Errorf("null at %d: every token must be given", i)
		}
		out[i] = *id
	}
	return out, nil
}

// parse parses a JSON line and encodes its texts.
func (r *Reader) parse(line []byte) (document, error) {
	text, context, err := parseScoreLine(bytes.TrimPrefix(line, []byte("\ufeff"))) // Editors on Windows write a byte order mark.
	if err != nil {
		return document{}, err
	}
	if r.Tokenizer != nil && text.text != nil && context.text != nil && !r.KeepBlank {
		if before, after := r.Tokenizer.Joint(*context.text, *text.text); before != *context.text {
			context.text, text.text = &before, &after
			if !r.told {
				r.Streams.Notice("the blank at the end of a context went to the text, as tokens begin with it; --set keep-blank leaves it")
			}
			r.told = true
		}
	}
	ids, err := r.encode(text)
	if err != nil {
		return document{}, err
	}
	before, err := r.encode(context)
	if err == nil && len(before) > 0 && r.Join {
		err = errors.New("context excludes --join")
	}
	return document{ids: whole(ids), context: before}, err
}

// encode turns text into ids, treating every character as text.
func (r *Reader) encode(g given) ([]int, error) {
	if g.text == nil {
		return g.ids, nil
	}
	if err := r.needText(); err != nil {
		return nil, err
	}
	return r.Tokenizer.EncodePlain(*g.text)
}

// needText returns an error if there is no tokenizer.
func (r *Reader) needText() error {
	if r.Tokenizer == nil {
		return setup.NeedTokenizer(&setup.NoTokenizerError{Why: "the model has none"}, "a text", ", or score ids with --as jsonl")
	}
	return nil
}
