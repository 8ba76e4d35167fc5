package chunks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/journal"
	"mdmgen/internal/plainfile"
)

// partial is the end of the name of a part that is not finished.
const partial = ".partial"

// Kept is a run in one process with what it keeps of it. It belongs to one goroutine.
type Kept struct {
	header Header
	// j is nil where nothing is kept; flag and path are how messages call its file.
	j          *journal.Journal
	flag, path string
	// at is where the chunks are that are kept.
	at map[int]int64
	// part is where the file goes when it is finished, "" for one that stays; ended says that
	// it has its footer.
	part  string
	ended bool
	// asked says that there are parts to come.
	asked bool
	// Resumed counts the chunks that were kept before.
	Resumed int
}

// Open opens what the flags name, for a run with this header, and reads which chunks are
// finished. Part is filled in but for Print. A part that is finished already makes Done true.
func (f *Flags) Open(s kit.Streams, header Header, output string) (*Kept, error) {
	k := &Kept{header: header, at: make(map[int]int64), asked: f.asked}
	k.header.Part.To, k.header.Part.Args = header.Chunks, without(*s.Args)
	k.header.CPU = cpuFeatures()
	switch {
	case f.asked:
	case f.Given():
		return k, k.openPart(f.Shard, output)
	case f.Resume != "":
		k.flag, k.path = "--resume", f.Resume
		return k, k.open()
	}
	return k, nil
}

// openPart opens the file of a part, unless it is finished.
func (k *Kept) openPart(s Shard, output string) error {
	*k = Kept{header: k.header, at: make(map[int]int64), part: output, flag: "--shard", path: output + partial}
	p := &k.header.Part
	p.Shard = s.String()
	p.From, p.To = s.Of(k.header.Chunks)
	if done, err := k.finished(); done || err != nil {
		return err
	}
	return k.open()
}

// open opens the file at path, and reads what it has.
func (k *Kept) open() (err error) {
	if k.j, err = journal.Open(k.path, k.header.Schema); err != nil {
		return k.failed(err)
	}
	defer func() {
		if err != nil {
			k.Close()
			err = k.failed(err)
		}
	}()
	if err := k.agree(k.j); err != nil {
		return err
	}
	if err := k.j.Records(k.take); err != nil {
		return err
	}
	k.Resumed = len(k.at)
	return k.j.Begin(k.header)
}

// agree refuses a file that is of another run, or of another part of this one.
func (k *Kept) agree(j *journal.Journal) error {
	if err := j.Agree(k.header); err != nil || j.Header() == nil {
		return err
	}
	var h struct{ Part Part }
	now := k.header.Part
	if err := json.Unmarshal(j.Header(), &h); err != nil || h.Part.Shard != now.Shard || h.Part.From != now.From || h.Part.To != now.To {
		return &journal.RefusedError{Path: j.Path(), Reason: fmt.Sprintf("is for %s of this run, and %s is asked for: name another file, or remove it", h.Part.name(), now.name())}
	}
	return nil
}

// take takes a line of the journal.
func (k *Kept) take(record json.RawMessage) error {
	var l line
	if err := json.Unmarshal(record, &l); err != nil || k.ended {
		return errors.New("is no finished chunk")
	}
	i, end, err := k.header.number(l)
	switch {
	case err != nil:
		return err
	case end:
		k.ended = true
		return nil
	}
	k.at[i] = k.j.At()
	return nil
}

// finished says that the part is there, with all of its chunks; a file that is another's is an
// error.
func (k *Kept) finished() (bool, error) {
	switch info, err := os.Stat(k.part); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("-o %s: %w", k.part, plainfile.Cause(err))
	case !info.Mode().IsRegular():
		return false, exit.Usagef("-o %s: is not a regular file: a part is written to one", k.part)
	}
	j, err := journal.OpenReader(k.part, k.header.Schema)
	if err == nil {
		defer j.Close()
		err = k.agree(j)
	}
	if err == nil {
		k.j = j
		err = j.Records(k.take)
		k.j = nil
	}
	if err == nil && !k.ended {
		err = errors.New(k.part + ": has no footer")
	}
	if err != nil {
		return false, exit.Usagef("-o %w: it is not written over: remove it, or name another", err)
	}
	return true, nil
}

// Done says that the part was there already, and nothing is to be done.
func (k *Kept) Done() bool { return k.part != "" && k.j == nil }

// Each calls take with the chunks of the part, in their order: with what was kept, or with
// what work makes of one, which is kept first. An error of either, or the end of ctx, ends it.
func Each[T any](ctx context.Context, k *Kept, work func(chunk int) (T, error), take func(chunk int, result T, kept bool) error) error {
	for i := k.header.Part.From; i < k.header.Part.To; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, kept := k.at[i]
		var result T
		var err error
		if kept {
			err = again(k.j, at, &result)
		} else if result, err = work(i); err == nil {
			err = k.add(i, result)
		}
		if err == nil {
			err = take(i, result, kept)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// again reads a chunk that was kept.
func again(j *journal.Journal, at int64, result any) error {
	record, err := j.Again(at)
	if err != nil {
		return err
	}
	var l line
	if err := json.Unmarshal(record, &l); err != nil {
		return err
	}
	return json.Unmarshal(l.Result, result)
}

// add keeps a chunk that was just finished.
func (k *Kept) add(chunk int, result any) error {
	if k.j == nil {
		return nil
	}
	data, err := kit.JSONLine(result)
	if err != nil {
		return err
	}
	return k.failed(k.j.Append(line{Chunk: &chunk, Result: data}))
}

// Range is which chunks are the part's, to not being among them.
func (k *Kept) Range() (from, to int) { return k.header.Part.From, k.header.Part.To }

// Part runs each, which does the chunks of a part, and finishes the part; of one that was there
// already, or is ended early, it says so.
func (k *Kept) Part(ctx context.Context, s kit.Streams, each func() error) error {
	if k.asked {
		s.Verbosity = &kit.Verbosity{Level: kit.Quiet} // The caller reports it.
		header, err := json.Marshal(k.header)
		if err != nil {
			return err
		}
		return s.Parts(header, func(i, n int, path string) error {
			defer k.Close()
			if err := k.openPart(Shard{i, n}, path); err != nil {
				return err
			}
			return k.Part(ctx, s, each)
		})
	}
	if k.Done() {
		s.Notice(fmt.Sprintf("%s is there already: %s", k.part, k.has()))
		return nil
	}
	err := each()
	if err == nil {
		return k.Finish(s)
	}
	s.Notice(fmt.Sprintf("part %s is not finished; the same command continues it, from %s", k.header.Part.Shard, k.path))
	return cmp.Or(ctx.Err(), fault.WithoutName(err))
}

// Finish writes the footer. A part gets its name.
func (k *Kept) Finish(s kit.Streams) error {
	if k.j == nil {
		return nil
	}
	if p := k.header.Part; !k.ended { // One that was killed before it had its name has a footer.
		if err := k.failed(k.j.Append(line{End: &span{p.From, p.To}})); err != nil {
			return err
		}
	}
	if k.part == "" {
		return nil
	}
	// While it is open it is locked. Not every system renames an open file.
	err := os.Rename(k.path, k.part)
	if cerr := k.j.Close(); err != nil {
		if err = cerr; err == nil {
			err = os.Rename(k.path, k.part)
		}
	}
	if err != nil {
		return fmt.Errorf("-o %s: %w", k.part, plainfile.Cause(err))
	}
	if dir, err := os.Open(filepath.Dir(k.part)); err == nil {
		_ = dir.Sync() // that the name is on the disk; not every system can
		dir.Close()
	}
	s.Notice(fmt.Sprintf("wrote %s: %s", k.part, k.has()))
	return nil
}

// has says what the file of a part has.
func (k *Kept) has() string {
	p := k.header.Part
	return fmt.Sprintf("%s with %d of %s", p.name(), p.To-p.From, english.Plural(k.header.Chunks, "chunk", ""))
}

// Close closes the file. It may be called again, and on nil.
func (k *Kept) Close() error {
	if k == nil {
		return nil
	}
	return k.j.Close()
}

// failed puts the flag before an error of the journal; a file that is another's is a command
// line that cannot be obeyed.
func (k *Kept) failed(err error) error { return kit.JournalError(k.flag, err) }
