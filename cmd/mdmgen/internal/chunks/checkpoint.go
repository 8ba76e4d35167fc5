package chunks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/journal"
)

// partial is the suffix of the name of an unfinished part.
const partial = ".partial"

// Checkpoint is a run in one process, with its finished chunks. It belongs to one goroutine.
type Checkpoint struct {
	reader
	header Header
	// here is the encoded header.
	here json.RawMessage
	// flag and path name the file in messages, "" if nothing is kept.
	flag, path string
	// part is the name that the file gets when it is finished, "" if it keeps its name; ended
	// reports whether it has its footer.
	part  string
	ended bool
	// streams prints notices.
	streams kit.Streams
	// Unit, if not "", names a piece, such as sample, and Units is the number of pieces in the run.
	Unit  string
	Units int
}

// Open opens the file that the flags name, for a run with this header, and finds the finished
// chunks. The caller sets only Provenance and Print of header.Part. output is the file of a part.
func (f *Flags) Open(s kit.Streams, header Header, output string) (*Checkpoint, error) {
	header.Part.To, header.CPU = header.Chunks, cpuFeatures()
	if f.Kept() {
		header.Executable = kit.Executable()
	}
	here, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	k := &Checkpoint{reader: newReader(header), header: header, here: here, streams: s}
	switch {
	case f.Given():
		if from, to := f.Shard.Of(header.Chunks); from == to {
			s.Notice(fmt.Sprintf("part %v is empty: take --shard I/N with N at most %d", f.Shard, header.Chunks))
		}
		return k, k.openPart(f.Shard, output)
	case f.Resume != "":
		k.flag, k.path = "--resume", f.Resume
		return k, k.open()
	}
	return k, nil
}

// openPart opens the file of a part, unless the part is finished.
func (k *Checkpoint) openPart(s Shard, output string) error {
	k.flag, k.path, k.part = "--shard", output+partial, output
	p := &k.header.Part
	p.Shard = s.String()
	p.From, p.To = s.Of(k.header.Chunks)
	switch done, err := k.finished(); {
	case err != nil:
		return fault.Usage("%v %w: it is not overwritten: remove it, or name another", kit.OutputTerm, err)
	case done:
		return nil
	}
	return k.open()
}

// open opens the file at path and indexes its chunks.
func (k *Checkpoint) open() (err error) {
	defer func() {
		if err != nil {
			k.Close()
			if refused := new(journal.RefusedError); errors.As(err, &refused) && refused.Line == 0 {
				err = exit.Usagef("%w: give the same, name another file, or remove it", err)
			}
			err = fmt.Errorf("%s %w", k.flag, err)
		}
	}()
	if k.j, err = journal.Open(k.path, k.schema); err != nil {
		return err
	}
	k.reader.open = 1
	if err := k.read(k.j); err != nil {
		return err
	}
	return k.j.Begin(k.header)
}

// read indexes a file. It returns an error if the file is of another run or another part of this
// run.
func (k *Checkpoint) read(j *journal.Journal) (err error) {
	if j.Header() != nil {
		refuse := func(format string, args ...any) error {
			return &journal.RefusedError{Path: j.Path(), Reason: fmt.Sprintf(format, args...)}
		}
		unlike := journal.Differ(j.Header(), k.here)
		var h struct{ Part Part }
		now := k.header.Part
		switch err := json.Unmarshal(j.Header(), &h); {
		case len(unlike) > 0:
			return refuse("was made with other values of %s", strings.Join(unlike, ", "))
		case err != nil || h.Part.Shard != now.Shard || h.Part.From != now.From || h.Part.To != now.To:
			return refuse("is for %v of this run, but %v is requested", &h.Part, &now)
		}
	}
	_, k.ended, err = k.add(j, &k.header.Part)
	return err
}

// finished reports whether the part exists with all of its chunks. Any other file is an error.
func (k *Checkpoint) finished() (bool, error) {
	j, err := journal.OpenReader(k.part, k.schema)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer j.Close()
	if err := k.read(j); err != nil {
		return false, err
	}
	for _, w := range k.where[k.header.Part.From:k.header.Part.To] {
		k.ended = k.ended && w.file > 0
	}
	if !k.ended {
		return false, &journal.RefusedError{Path: k.part, Reason: "is truncated"}
	}
	return true, nil
}

// keep writes a newly computed chunk, or a piece of one.
func (k *Checkpoint) keep(chunk int, result any, piece bool) error {
	if k.path == "" {
		return nil
	}
	data, err := kit.JSONLine(result)
	switch {
	case err != nil:
		return err
	case piece:
		k.pieces++
		err = k.j.Note(line{Chunk: &chunk, Piece: data})
	default:
		err = k.j.Append(line{Chunk: &chunk, Result: data})
	}
	if err != nil {
		return fmt.Errorf("%s %w", k.flag, err)
	}
	return nil
}

// Pieces reads the kept pieces of an unfinished chunk into result.
func (k *Checkpoint) Pieces(chunk int, result Pieced) error { return k.result(chunk, result) }

// KeepPiece writes a piece of an unfinished chunk.
func (k *Checkpoint) KeepPiece(chunk int, piece any) error { return k.keep(chunk, piece, true) }

// Unfinished prints what is kept of a run that ended early, and how to continue it.
func (k *Checkpoint) Unfinished() {
	if k.path == "" {
		return
	}
	what := "; the same command continues it, from " + k.path
	name, p := "the run", &k.header.Part
	if k.Unit != "" {
		units := min(p.To*k.header.Size, k.Units) - p.From*k.header.Size
		what = fmt.Sprintf(": %d of %s are kept in %s; the same command continues it", k.pieces, english.Plural(units, k.Unit, ""), k.path)
	}
	if k.part != "" {
		name = "part " + p.Shard
	}
	k.streams.Notice(name + " is not finished" + what)
}

// Range returns the range of chunks of the part, to excluded.
func (k *Checkpoint) Range() (from, to int) { return k.header.Part.From, k.header.Part.To }
