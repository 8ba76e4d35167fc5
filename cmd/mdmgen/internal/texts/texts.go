// Package texts cuts texts into windows, for the commands that compute their probabilities.
package texts

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/tokenize"
)

// Reader reads the windows of a text, for a model and its tokenizer.
type Reader struct {
	Cutting
	Ctx     context.Context
	Streams kit.Streams
	// Path is the input, "" for standard input.
	Path string
	// Command is the name of the run in messages, and Flags its flags.
	Command string
	Flags   kit.Set
	Facts   model.Facts
	// Tokenizer is nil if there is none.
	Tokenizer *tokenize.Tokenizer
	// Check returns an error for a window that cannot be scored.
	Check func(likelihood.Target) error
	// Short is set if windows are for exact values: without a length, theirs is ExactLength.
	Short bool
	// Cut describes how texts are cut. It is set once windows are read.
	Cut tokenize.Cut

	eos int
	// take is called with each window; n is the number of calls, last the previous window.
	take func(Window) error
	n    int
	last Window
	// told reports whether it was told that a blank moved.
	told bool
	// shortened counts the contexts that were cut.
	shortened int
	// inWord reports whether the last window ended within a word.
	inWord bool
	// skip is the number of leading windows whose bytes and words are not counted.
	skip int
}

// Window is a window with its origin.
type Window struct {
	likelihood.Target
	// Document counts from 0; Line is the line of the input; Start is the index of the first token
	// in the document.
	Document, Line, Start int
	// Bytes is the length of the scored text, Words the number of blank-separated words that begin
	// in it. Both are −1 if there is no tokenizer.
	Bytes, Words int
}

// Kind returns --as, or else the kind by the file's name.
func (r *Reader) Kind() string {
	if r.As != "" {
		return r.As
	}
	if ext := filepath.Ext(r.Path); ext == ".jsonl" || ext == ".ndjson" {
		return "jsonl"
	}
	return "corpus"
}

// Clustered reports whether errors treat the windows of a document as one unit. They do for
// documents, one per line, of which the input is a sample. The windows of one running text are
// separate units, unless they overlap.
func (r *Reader) Clustered() bool {
	return r.Cut.Overlaps() || r.Kind() != "corpus" && !r.Join
}

// Read reads the input and cuts it, up to the limit of windows.
func (r *Reader) Read() (out []Window, err error) {
	return out, r.each(func(w Window) error { out = append(out, w); return nil })
}

// each calls take with the windows, up to the limit or the first error of take.
func (r *Reader) each(take func(Window) error) error {
	cut, err := r.cut()
	if err != nil {
		return err
	}
	r.Cut, r.take, r.n, r.last, r.inWord = cut, take, 0, Window{}, false
	in := io.NopCloser(r.Streams.In)
	if !r.standard() {
		if in, err = plainfile.OpenNamed(r.Ctx, r.Path); err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
	} else if kit.IsTerminal(r.Streams.In) {
		r.Streams.Notice("reading the text from standard input, up to Ctrl-D")
	}
	defer in.Close()
	docs := r.documents(in)
	if r.Join {
		docs = r.joined(docs)
	}
	i := 0
	for d, err := range docs {
		if err == nil {
			err = r.cutDocument(cut, d, i)
		}
		if err != nil {
			return err
		}
		if r.full() {
			break
		}
		i++
	}
	if r.shortened > 0 {
		r.Streams.Notice(fmt.Sprintf("%s cut on the left to fit into %d positions", english.Plural(r.shortened, "context was", "contexts were"), r.Facts.Length))
	}
	switch {
	case r.n > 0:
		return nil
	case r.standard():
		return fmt.Errorf("%s: nothing to score: name a file, or pipe a text in", r.name())
	case cut.DropTail:
		return fmt.Errorf("%s: nothing to score: shorter than a window of %d tokens, and short windows are dropped: give a smaller --length, or --tail keep", r.name(), cut.Length)
	}
	return fmt.Errorf("%s: nothing to score", r.name())
}

// cutDocument calls take with the windows of document i, up to the limit.
func (r *Reader) cutDocument(cut tokenize.Cut, d document, i int) error {
	if len(d.context) > 0 {
		var ids []int
		for piece, err := range d.ids {
			if err != nil {
				return err
			}
			ids = append(ids, piece...)
		}
		if room := max(0, r.Facts.Length-len(r.Facts.Frame)-len(ids)); r.CutContext && len(d.context) > room {
			d.context, d.ids = d.context[len(d.context)-room:], whole(ids)
			r.shortened++
			if room == 0 { // A text without context is cut into windows.
				return r.cutDocument(cut, d, i)
			}
		}
		w := tokenize.Window{IDs: slices.Concat(d.context, ids), Context: len(d.context)}
		if cut.Given {
			w.IDs, w.Context = slices.Concat([]int{cut.BOS}, w.IDs, []int{cut.EOS}), w.Context+1
		}
		return r.window(w, i, d.line)
	}
	for w, err := range cut.Stream(d.ids) {
		if err == nil {
			err = r.window(w, i, d.line)
		}
		if err == nil {
			err = r.Ctx.Err()
		}
		if err != nil || r.full() {
			return err
		}
	}
	return nil
}

// full reports whether the limit of windows is reached.
func (r *Reader) full() bool { return r.Limit > 0 && r.n >= r.Limit }

// window calls take with a window, or returns an error if it cannot be scored.
func (r *Reader) window(w tokenize.Window, doc, line int) error {
	end := len(w.IDs)
	if r.Cut.Given {
		end-- // the frame's
	}
	if end == w.Context {
		return nil
	}
	t := Window{Document: doc, Line: line, Start: w.Start, Bytes: -1, Words: -1}
	t.IDs, t.Free = w.IDs, r.free(w.Context, end)
	var err error
	if r.Facts.NeedsFirst() && t.Free[0] == 0 {
		err = exit.Usagef("the first token is scored, but this network predicts it from the row before it and has none there: give --context 1")
	} else {
		err = r.Check(t.Target)
	}
	if err == nil && r.Tokenizer != nil && r.n >= r.skip-1 { // The previous one shows whether a word continues.
		if t.Bytes, err = r.Tokenizer.Bytes(w.IDs[w.Context:]); err == nil {
			t.Words, err = r.words(w, doc)
		}
	}
	if err != nil {
		where := r.name()
		if line > 0 {
			where = fmt.Sprintf("%s:%d", where, line)
		}
		return fmt.Errorf("%s: window %d: %w", where, r.n, err)
	}
	r.n, r.last = r.n+1, t
	return r.take(t)
}

// words counts the words that begin in the scored part of a window.
func (r *Reader) words(w tokenize.Window, doc int) (int, error) {
	before, err := r.Tokenizer.DecodeText(w.IDs[:w.Context])
	if err != nil {
		return 0, err
	}
	text, err := r.Tokenizer.DecodeText(w.IDs[w.Context:])
	if before == "" && r.last.IDs != nil && r.last.Document == doc && r.inWord {
		before = "x" // The previous window ended within a word.
	}
	last, _ := utf8.DecodeLastRuneInString(before + text)
	r.inWord = before+text != "" && !unicode.IsSpace(last)
	return len(strings.Fields(before+text)) - len(strings.Fields(before)), err
}

// free lists the positions from..to. Successive windows of one shape share the list.
func (r *Reader) free(from, to int) []int {
	if last := r.last.Free; len(last) == to-from && last[0] == from {
		return r.last.Free
	}
	return positions(from, to)
}

// positions lists the positions from..to.
func positions(from, to int) []int {
	out := make([]int, 0, to-from)
	for l := from; l < to; l++ {
		out = append(out, l)
	}
	return out
}

// name returns the name of the input in messages.
func (r *Reader) name() string {
	if r.standard() {
		return "standard input"
	}
	return r.Path
}

// standard reports whether standard input is read.
func (r *Reader) standard() bool { return r.Path == "" || r.Path == "-" }
