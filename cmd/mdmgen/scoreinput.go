package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mdmgen/analysis/likelihood"
	"mdmgen/tokenize"
)

// maxCorpus bounds a text that is cut into windows, in bytes.
const maxCorpus = 1 << 30

// document is one text of the input.
type document struct {
	// line is its line, 0 for a corpus.
	line         int
	context, ids []int
}

// textWindow is a window with where it is from.
type textWindow struct {
	likelihood.Target
	// document counts from 0; line is that of the input; start is the index of the
	// first token in the document.
	document, line, start int
	// bytes is the length of the scored text, −1 where there is no tokenizer.
	bytes int
}

// inputKind is --as, else what the file's name says.
func (r *scoring) inputKind() string {
	if as := r.c.String("as"); as != "" {
		return as
	}
	if ext := filepath.Ext(r.path()); ext == ".jsonl" || ext == ".ndjson" {
		return "jsonl"
	}
	return "corpus"
}

// prepareWindows reads the input and cuts it.
func (r *scoring) prepareWindows() error {
	docs, err := r.readDocuments()
	if err != nil {
		return err
	}
	cut, err := r.cut()
	if err != nil {
		return err
	}
	r.overlaps = cut.Overlaps()
	if r.c.Bool("join") {
		var all []int
		for _, d := range docs {
			all = append(append(all, d.ids...), r.settings.eos)
		}
		docs = []document{{ids: all}}
	}
	for i, d := range docs {
		if len(d.context) > 0 {
			w := tokenize.Window{IDs: slices.Concat(d.context, d.ids), Context: len(d.context)}
			if err := r.window(w, i, d.line); err != nil {
				return err
			}
			continue
		}
		for w := range cut.All(d.ids) {
			if r.full() {
				return nil
			}
			if err := r.window(w, i, d.line); err != nil {
				return err
			}
		}
	}
	if len(r.windows) == 0 {
		return fmt.Errorf("%s: nothing to score", r.name())
	}
	return nil
}

// full says that no more windows are wanted.
func (r *scoring) full() bool { return r.most > 0 && len(r.windows) >= r.most }

// window appends a window, or refuses it.
func (r *scoring) window(w tokenize.Window, doc, line int) error {
	if r.full() || len(w.IDs) == w.Context {
		return nil
	}
	t := textWindow{document: doc, line: line, start: w.Start, bytes: -1}
	t.IDs = w.IDs
	for l := w.Context; l < len(w.IDs); l++ {
		t.Free = append(t.Free, l)
	}
	err := r.evaluator.Check(t.Target)
	if err == nil && r.tokenizer != nil {
		t.bytes, err = r.tokenizer.Bytes(w.IDs[w.Context:])
	}
	if err != nil {
		where := r.name()
		if line > 0 {
			where = fmt.Sprintf("%s:%d", where, line)
		}
		return fmt.Errorf("%s: window %d: %w", where, len(r.windows), err)
	}
	r.windows = append(r.windows, t)
	return nil
}

// cut reads the flags that say how documents are cut.
func (r *scoring) cut() (tokenize.Cut, error) {
	c := r.c
	cut := tokenize.Cut{
		Length: r.facts.Length, Stride: c.Int("stride"), Context: c.Int("context"), BOS: tokenize.None, EOS: tokenize.None,
		DropTail: c.String("tail") == "drop", ContextAlways: r.short,
	}
	if r.facts.FixedLength && (r.settings.As == "corpus" || c.Bool("join")) {
		cut.DropTail = true // A shorter window cannot be scored; a shorter text is an error.
	}
	switch {
	case c.IsSet("length"):
		cut.Length = c.Int("length")
	case r.short && !r.facts.FixedLength:
		cut.Length = min(cut.Length, cmp.Or(r.shortLength, exactLength)+cut.Context)
	}
	if cut.Length > r.facts.Length || r.facts.FixedLength && cut.Length != r.facts.Length {
		return cut, usagef("--length %d: the model takes canvases of %s %d positions", cut.Length, map[bool]string{true: "exactly", false: "at most"}[r.facts.FixedLength], r.facts.Length)
	}
	if framed := c.String("frame") != "none"; framed || c.Bool("join") {
		if r.tokenizer == nil {
			return cut, missingf("--frame and --join need a tokenizer, for the tokens of a text's ends; give one with --tokenizer")
		}
		bos, eos, err := r.tokenizer.Frame()
		if err != nil {
			return cut, err
		}
		r.settings.eos = eos
		if framed {
			cut.BOS, cut.EOS = bos, eos
		}
	}
	r.settings.Length, r.settings.Stride = cut.Length, cut.Stride
	if err := cut.Validate(); err != nil {
		return cut, usagef("score: %s", strings.ReplaceAll(err.Error(), "tokenize: ", ""))
	}
	return cut, nil
}

// name is how messages call the input.
func (r *scoring) name() string {
	if p := r.path(); p != "-" {
		return p
	}
	return "standard input"
}

func (r *scoring) path() string {
	if r.c.NArg() == 1 {
		return r.c.Args().First()
	}
	return "-"
}

// readDocuments reads the input.
func (r *scoring) readDocuments() ([]document, error) {
	in := r.streams.in
	if r.path() == "-" && isTerminal(in) {
		r.streams.notice("reading the text from standard input")
	}
	if p := r.path(); p != "-" {
		f, err := os.Open(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, unwrapPath(err))
		}
		defer f.Close()
		in = f
	}
	switch r.settings.As {
	case "corpus":
		text, err := io.ReadAll(io.LimitReader(in, maxCorpus+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name(), unwrapPath(err))
		}
		if len(text) > maxCorpus {
			return nil, fmt.Errorf("%s: more than %d bytes: score it in parts", r.name(), maxCorpus)
		}
		if !utf8.Valid(text) {
			return nil, fmt.Errorf("%s: the text is not valid UTF-8", r.name())
		}
		ids, err := r.encode(string(text))
		return []document{{ids: ids}}, err
	case "lines":
		return r.readLines(in, func(line []byte) (document, error) {
			if !utf8.Valid(line) {
				return document{}, errors.New("the line is not valid UTF-8")
			}
			ids, err := r.encode(string(line))
			return document{ids: ids}, err
		})
	}
	return r.readLines(in, r.parse)
}

// readLines reads a document a line; empty lines are none.
func (r *scoring) readLines(in io.Reader, parse func([]byte) (document, error)) ([]document, error) {
	var docs []document
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	for n := 1; scan.Scan(); n++ {
		if len(bytes.TrimSpace(scan.Bytes())) == 0 {
			continue
		}
		d, err := parse(scan.Bytes())
		if err != nil {
			var coded *codedError
			if errors.As(err, &coded) {
				return nil, err
			}
			return nil, fmt.Errorf("%s:%d: %w", r.name(), n, err)
		}
		d.line = n
		docs = append(docs, d)
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: a line is longer than %d bytes", r.name(), maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name(), unwrapPath(err))
	}
	return docs, nil
}

// scoreLine is a JSON line of the input. Either Text or IDs is there, and of a context
// one or neither.
type scoreLine struct {
	Text, ContextText *string
	IDs, ContextIDs   []int
}

// parseScoreLine reads a JSON line.
func parseScoreLine(line []byte) (scoreLine, error) {
	var in struct {
		Text    *string         `json:"text"`
		IDs     json.RawMessage `json:"ids"`
		Context json.RawMessage `json:"context"`
	}
	var out scoreLine
	if err := decodeObject(line, &in); err != nil {
		return out, err
	}
	if (in.Text != nil) == (in.IDs != nil) {
		return out, errors.New("needs text or ids, and not both")
	}
	var err error
	if out.Text = in.Text; in.IDs != nil {
		if out.IDs, err = parseIDs(in.IDs); err != nil {
			return out, fmt.Errorf("ids: %w", err)
		}
	}
	if in.Context == nil {
		return out, nil
	}
	var text *string
	if json.Unmarshal(in.Context, &text) == nil && text != nil {
		out.ContextText = text
		return out, nil
	}
	if out.ContextIDs, err = parseIDs(in.Context); err != nil {
		return out, errors.New("context must be a text or a list of ids")
	}
	return out, nil
}

// parseIDs reads a list of ids; null is none.
func parseIDs(raw json.RawMessage) ([]int, error) {
	var list []*int
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
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

// parse reads a JSON line and encodes its texts.
func (r *scoring) parse(line []byte) (document, error) {
	in, err := parseScoreLine(line)
	if err != nil {
		return document{}, err
	}
	out := document{ids: in.IDs, context: in.ContextIDs}
	if in.Text != nil {
		if out.ids, err = r.encode(*in.Text); err != nil {
			return out, err
		}
	}
	if in.ContextText != nil {
		if out.context, err = r.encode(*in.ContextText); err != nil {
			return out, err
		}
	}
	if len(out.context) > 0 && r.c.Bool("join") {
		return out, errors.New("context does not go with --join")
	}
	return out, nil
}

// encode turns text into ids, every character of it being text.
func (r *scoring) encode(text string) ([]int, error) {
	if r.tokenizer == nil {
		return nil, needTokenizer(fmt.Errorf("%w: the model has none", errNoTokenizer), "a text", ", or score ids with --as jsonl")
	}
	ids, err := r.tokenizer.EncodePlain(text)
	if err != nil {
		return nil, err
	}
	return ids, nil
}
