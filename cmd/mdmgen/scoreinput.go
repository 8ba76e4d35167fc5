package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/analysis/likelihood"
	"mdmgen/tokenize"
)

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

// prepareWindows reads the input and cuts it, no further than windows are wanted.
func (r *scoring) prepareWindows() error {
	cut, err := r.cut()
	if err != nil {
		return err
	}
	r.overlaps = cut.Overlaps()
	in, err := r.open()
	if err != nil {
		return err
	}
	defer in.Close()
	docs := r.documents(in)
	if r.c.Bool("join") {
		docs = joined(docs, r.settings.eos)
	}
	i := 0
	for d, err := range docs {
		if err != nil {
			return err
		}
		if err := r.cutDocument(cut, d, i); err != nil || r.full() {
			return err
		}
		i++
	}
	if len(r.windows) == 0 {
		return fmt.Errorf("%s: nothing to score", r.name())
	}
	return nil
}

// cutDocument appends the windows of document i, as many as are wanted.
func (r *scoring) cutDocument(cut tokenize.Cut, d document, i int) error {
	if len(d.context) > 0 {
		var ids []int
		for piece, err := range d.ids {
			if err != nil {
				return err
			}
			ids = append(ids, piece...)
		}
		return r.window(tokenize.Window{IDs: slices.Concat(d.context, ids), Context: len(d.context)}, i, d.line)
	}
	for w, err := range cut.Stream(d.ids) {
		if err == nil {
			err = r.window(w, i, d.line)
		}
		if err == nil {
			err = r.c.Context.Err()
		}
		if err != nil || r.full() {
			return err
		}
	}
	return nil
}

// full says that no more windows are wanted.
func (r *scoring) full() bool { return r.most > 0 && len(r.windows) >= r.most }

// window appends a window, or refuses it.
func (r *scoring) window(w tokenize.Window, doc, line int) error {
	if len(w.IDs) == w.Context {
		return nil
	}
	t := textWindow{document: doc, line: line, start: w.Start, bytes: -1}
	t.IDs, t.Free = w.IDs, r.free(w.Context, len(w.IDs))
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

// free lists the positions from..to. Windows that are alike share the list.
func (r *scoring) free(from, to int) []int {
	if n := len(r.windows); n > 0 {
		if last := r.windows[n-1]; len(last.IDs) == to && last.Free[0] == from {
			return last.Free
		}
	}
	out := make([]int, 0, to-from)
	for l := from; l < to; l++ {
		out = append(out, l)
	}
	return out
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
