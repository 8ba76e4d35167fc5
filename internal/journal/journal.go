// Package journal keeps what a long run has finished in a file, so that a run that was
// ended goes on where it was, to the same bits.
//
// A journal is JSON lines: a header, which is all that decides the results, then a record a
// line. Every line ends with a checksum of itself and of all lines before it:
//
//	{"schema":"mdmgen.score-resume/2","seed":7,…,"sum":"0f3a91c4d2b85e67"}
//	{"window":0,…,"sum":"91c4d2b85e670f3a"}
//
// so that a byte that was changed, put in or left out, and a line that was removed, moved or
// repeated, is found where it stands. A line counts once it has ended: a run that is killed
// leaves at most one that has not, and the next run cuts it off. Nothing else is ever cut.
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

// Journal is a file that is open, and this process's alone until Close.
type Journal struct {
	path, schema string
	file         *os.File // nil until Begin makes it
	in           *bufio.Reader
	header       json.RawMessage
	// lines were read or written, and checked, size bytes of them; sum is the last one's.
	lines int
	size  int64
	sum   string
	// read reports that no whole line follows them.
	read bool
	// before is where the line that was read last begins.
	before int64
	// synced is when all lines were on the disk.
	synced time.Time
}

// Open opens the journal at path, if there is one, and reads its header. schema is
// NAME/VERSION: the header's "schema". The error is a [RefusedError] where the file is
// another's, and wraps [lockfile.ErrHeld] where another process has it open.
func Open(path, schema string) (*Journal, error) {
	j := &Journal{path: path, schema: schema}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.read = true
		return j, nil
	case err == nil && !info.Mode().IsRegular():
		// A folder has no lines, a device may have no end, and nothing can be gone on from in a pipe.
		return nil, j.refuse(0, "is not a regular file")
	case err == nil:
		j.file, err = lockfile.OpenAlone(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, j.failed(err)
	}
	j.in = bufio.NewReaderSize(j.file, 1<<16)
	if err := j.readHeader(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// OpenReader opens a journal that nobody writes to any more, and reads its header: nothing is
// locked, and nothing can be written.
func OpenReader(path, schema string) (*Journal, error) {
	file, err := plainfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	j := &Journal{path: path, schema: schema, file: file, in: bufio.NewReaderSize(file, 1<<16)}
	if err := j.readHeader(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// SchemaOf is the schema of the journal at path, as its first bytes say, "" where it is none.
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

// readHeader takes the first line.
func (j *Journal) readHeader() error {
	if err := j.kind(); err != nil {
		return err
	}
	var err error
	j.header, err = j.next()
	return err
}

// kind looks at how the file begins: nothing that another program, command or version wrote
// is ever cut off.
func (j *Journal) kind() error {
	const field = `{"schema":"`
	name, _, _ := strings.Cut(j.schema, "/")
	begin, err := j.in.Peek(len(field) + len(j.schema) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return j.failed(err)
	}
	want := field + j.schema + `"`
	switch {
	case strings.HasPrefix(want, string(begin)): // Whole, or the beginning of a line that has not ended.
		return nil
	case bytes.HasPrefix(begin, []byte(field+name+"/")):
		return j.refuse(1, "another version of mdmgen made this file: remove it, and run from the beginning")
	}
	return j.refuse(1, fmt.Sprintf("is not the header of a file that this command's --resume made (%s): name another file", j.schema))
}

// next reads and checks a line, and returns its record without the checksum; nil where there
// is no whole one.
func (j *Journal) next() (json.RawMessage, error) {
	if j.read {
		return nil, nil
	}
	line, err := j.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) { // A line that was being written when the run ended has no end.
		j.read = true
		return nil, nil
	}
	if err != nil {
		return nil, j.failed(err)
	}
	record, sum, ok := unseal(j.sum, line[:len(line)-1])
	if !ok {
		return nil, j.refuse(j.lines+1, "the line was changed after it was written, or one before it is missing (its checksum does not fit): remove the file, or the lines from this one on")
	}
	if !json.Valid(record) {
		return nil, j.refuse(j.lines+1, "is not JSON")
	}
	j.before = j.size
	j.lines, j.size, j.sum = j.lines+1, j.size+int64(len(line)), sum
	return record, nil
}

// Header is the header of the file, nil where it has none yet. The checksum is not in it.
func (j *Journal) Header() json.RawMessage { return j.header }

// Records calls take with each finished record, without its checksum, in the order in which
// they were written. An error of take is that the record is not one: the file is refused at
// its line. Records may be called once.
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

// Path is the name of the file.
func (j *Journal) Path() string { return j.path }

// At is where the line of the record begins that Records handed out last, in bytes, for Again.
func (j *Journal) At() int64 { return j.before }

// Again calls take with the records from a line on that was read before, so that records need not be
// kept, until it returns false, or the last was read.
func (j *Journal) Again(at int64, take func(record json.RawMessage) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(j.file, at, math.MaxInt64-at), 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return j.failed(err)
		}
		record, _, ok := cut(line[:len(line)-1])
		if !ok {
			return j.refuse(0, "was changed while it was read")
		}
		if !take(record) {
			return nil
		}
	}
}

// Begin makes the file ready for more records: it cuts off a line that has not ended, and
// writes the header of a file that has none. The header must be a struct or map whose JSON
// begins with the schema. Records that were not read are checked.
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

// Append keeps a record, an object in JSON, and returns when it is on the disk. A line that could not be
// written whole is taken back.
func (j *Journal) Append(record any) error { return j.append(true, record) }

// Note is Append for many small records: they are the system's, which has them also where the process
// is killed, and on the disk a second later or with the next.
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
	// At the place, so that what follows a line that was taken back stands where that did.
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

// Rename gives the file, which is on the disk, another name, and closes it.
func (j *Journal) Rename(path string) error {
	err := lockfile.Rename(j.file, path)
	j.file = nil
	return err
}

// Close closes the file, which others can have then. It may be called again, and on nil.
func (j *Journal) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return j.failed(err)
}
