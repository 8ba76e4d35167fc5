// Package journal keeps the finished results of a long run in a file, so that an interrupted run
// continues from there, with the same bits.
//
// A journal is JSON lines: a header, which contains everything that determines the results, then
// one record per line. Every line ends with a checksum of itself and of all lines before it:
//
//	{"schema":"mdmgen.score-resume/2","seed":7,…,"sum":"0f3a91c4d2b85e67"}
//	{"window":0,…,"sum":"91c4d2b85e670f3a"}
//
// A byte that was changed, inserted or deleted, and a line that was removed, moved or repeated, is
// therefore found at its place. A line counts once it has ended. A killed run leaves at most one
// unfinished line, and the next run truncates it. Nothing else is ever truncated.
//
// A Journal belongs to one goroutine.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
)

// Journal is an open file, exclusive to this process until Close.
type Journal struct {
	path, schema string
	file         *os.File // nil until Begin makes it
	in           *bufio.Reader
	header       json.RawMessage
	// lines counts the lines read or written, and checked; size is their length in bytes, and sum
	// the last checksum.
	lines int
	size  int64
	sum   string
	// read reports that no complete line follows them.
	read bool
	// before is the offset of the last line read.
	before int64
	// synced is the last time at which all lines were on the disk.
	synced time.Time
}

// Open opens the journal at path, if it exists, and reads its header. schema is NAME/VERSION, the
// header's "schema". The error is a [RefusedError] if the file is not this journal, and wraps
// [lockfile.ErrHeld] if another process has it open.
func Open(path, schema string) (*Journal, error) {
	j := &Journal{path: path, schema: schema}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.read = true
		return j, nil
	case err == nil && !info.Mode().IsRegular():
		// A folder has no lines, a device may have no end, and a pipe cannot be continued.
		return nil, j.refuse(0, "is not a regular file")
	case err == nil:
		j.file, err = lockfile.OpenAlone(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, j.failed(err)
	}
	return j.readHeader()
}

// OpenReader opens a journal that is no longer written to, and reads its header. It locks nothing,
// and the journal cannot be written.
func OpenReader(path, schema string) (*Journal, error) {
	file, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return (&Journal{path: path, schema: schema, file: file}).readHeader()
}

// SchemaOf returns the schema of the journal at path according to its first bytes, or "" if it is
// not a journal.
func SchemaOf(path string) (string, error) {
	file, err := plainfile.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	begin, err := io.ReadAll(io.LimitReader(file, 256))
	rest, ok := strings.CutPrefix(string(begin), `{"schema":"`)
	schema, _, ended := strings.Cut(rest, `"`)
	if err != nil || !ok || !ended {
		return "", err
	}
	return schema, nil
}

// readHeader reads the first line. After an error the file is closed.
func (j *Journal) readHeader() (*Journal, error) {
	j.in = bufio.NewReaderSize(j.file, 1<<16)
	err := j.kind()
	if err == nil {
		j.header, err = j.next()
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// kind checks the beginning of the file, so that a file that another program, command or version
// wrote is never truncated.
func (j *Journal) kind() error {
	const field = `{"schema":"`
	name, _, _ := strings.Cut(j.schema, "/")
	begin, err := j.in.Peek(len(field) + len(j.schema) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return j.failed(err)
	}
	want := field + j.schema + `"`
	switch {
	case strings.HasPrefix(want, string(begin)): // Complete, or the beginning of an unfinished line.
		return nil
	case bytes.HasPrefix(begin, []byte(field+name+"/")):
		return j.refuse(1, "another version of mdmgen made this file: remove it, and start again")
	}
	return j.refuse(1, fmt.Sprintf("is not the header of a file that this command resumes (%s): name another file", j.schema))
}

// next reads and checks a line, and returns its record without the checksum, or nil if there is no
// complete line.
func (j *Journal) next() (json.RawMessage, error) {
	if j.read {
		return nil, nil
	}
	line, err := j.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) { // The line that was being written when the run ended.
		j.read = true
		return nil, nil
	}
	if err != nil {
		return nil, j.failed(err)
	}
	record, sum, ok := unseal(j.sum, line[:len(line)-1])
	if !ok {
		return nil, j.refuse(j.lines+1, "the line was changed after it was written, or one before it is missing (its checksum does not match): remove the file, or the lines from this one on")
	}
	if !json.Valid(record) {
		return nil, j.refuse(j.lines+1, "is not JSON")
	}
	j.before = j.size
	j.lines, j.size, j.sum = j.lines+1, j.size+int64(len(line)), sum
	return record, nil
}

// Header returns the file's header without the checksum, or nil if it has none yet.
func (j *Journal) Header() json.RawMessage { return j.header }

// Records calls take with each finished record, without its checksum, in the order in which they
// were written. If take returns an error, the record is invalid, and Records returns a
// [RefusedError] with its line. Records may be called once.
func (j *Journal) Records(take func(record json.RawMessage) error) error {
	for {
		record, err := j.next()
		if err != nil || record == nil {
			return err
		}
		if err := take(record); err != nil {
			return j.refuse(j.lines, err.Error())
		}
	}
}

// Path returns the name of the file.
func (j *Journal) Path() string { return j.path }

// At returns the offset, in bytes, of the line of the last record passed by Records, for Reread.
func (j *Journal) At() int64 { return j.before }

// Reread calls take with the records that were read before, from the line at an offset on, until
// take returns false or after the last, so that records need not be kept.
func (j *Journal) Reread(at int64, take func(record json.RawMessage) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, at, math.MaxInt64-at), 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return j.failed(err)
		}
		record, ok := cut(line[:len(line)-1])
		if !ok {
			return j.refuse(0, "was changed while it was read")
		}
		if !take(record) {
			return nil
		}
	}
}

// Begin prepares the file for more records: it truncates an unfinished line, and writes the header
// if there is none. The header must be a struct or map whose JSON begins with the schema. Begin
// checks records that were not read.
func (j *Journal) Begin(header any) error {
	if err := j.Records(func(json.RawMessage) error { return nil }); err != nil {
		return err
	}
	if j.file == nil {
		file, err := lockfile.OpenAlone(j.path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return j.failed(err)
		}
		j.file = file
		if info, err := file.Stat(); err != nil || info.Size() > 0 { // since Open
			return j.failed(errors.Join(err, lockfile.ErrHeld))
		}
	}
	if err := j.file.Truncate(j.size); err != nil {
		return j.failed(err)
	}
	if j.lines > 0 {
		return nil
	}
	return j.Append(header)
}

// Append writes a record, a JSON object, and returns when it is on the disk. It undoes a line that
// could not be written completely.
func (j *Journal) Append(record any) error { return j.append(true, record) }

// Note is like Append for many small records. They are passed to the system, so that they survive
// if the process is killed, and are on the disk a second later or with the next record.
func (j *Journal) Note(record any) error {
	return j.append(time.Since(j.synced) > time.Second, record)
}

func (j *Journal) append(sync bool, record any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return j.failed(err)
	}
	line, sum := seal(j.sum, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	line = append(line, '\n')
	// At the offset, so that what follows an undone line takes its place.
	_, err := j.file.WriteAt(line, j.size)
	if err == nil && sync {
		err = j.file.Sync()
		j.synced = time.Now()
	}
	if err != nil {
		j.file.Truncate(j.size)
		return j.failed(err)
	}
	j.lines, j.size, j.sum = j.lines+1, j.size+int64(len(line)), sum
	return nil
}

// Rename renames the file, which is on the disk, and closes it.
func (j *Journal) Rename(path string) error {
	err := lockfile.Rename(j.file, path)
	j.file = nil
	return err
}

// Close closes the file and releases it. It may be called again, and on nil.
func (j *Journal) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return j.failed(err)
}
