package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mdmgen/model"
)

// A journal is the file of --resume: a header that holds all that decides the results, then
// a record a line of what is finished. A record counts once its line has ended: a run that is
// killed leaves at most one that has not, and the next run cuts it off.
type journal struct {
	path string
	file *os.File
	// size is the length of the whole lines that it held, fresh says that there was none.
	size  int
	fresh bool
	// found is how many bytes were read, an unfinished line among them.
	found int64
}

// resumeHeader is all that decides the bits of a result.
type resumeHeader struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Model    string `json:"model"`
	Runtime  string `json:"runtime"`
	Provider string `json:"provider"`
	// Outlet is what the network gave; rows are reduced to other last bits.
	Outlet model.Outlet `json:"outlet,omitempty"`
	Seed   uint64       `json:"seed"`
	// Settings are the command's, or what a file holds of them.
	Settings any `json:"settings"`
}

// newHeader is a header of this program and a model.
func newHeader(schema string, m model.Model) resumeHeader {
	header := resumeHeader{Schema: schema, Version: version()}
	if d, ok := m.(model.Describer); ok {
		o := d.Origin()
		header.Model, header.Runtime, header.Provider, header.Outlet = o.Digest, o.Runtime, o.Provider, o.Outlet
	}
	return header
}

// readJournal reads a file, if there is one: the header that it has, nil for a file without
// one, and its records, a line each.
func readJournal(path, schema string) (*journal, *resumeHeader, []byte, error) {
	j := &journal{path: path}
	// A device may have no end, and nothing can be gone on from in a pipe.
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, nil, nil, usagef("--resume %s: is not a file that --resume made", path)
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, j.failed(err)
	}
	j.found = int64(len(data))
	// Nothing that another program wrote is ever cut off.
	if begin := []byte(`{"schema":"` + schema + `"`); !bytes.HasPrefix(data, begin) && !bytes.HasPrefix(begin, data) {
		return nil, nil, nil, usagef("--resume %s: is not a file that --resume made", path)
	}
	// A line that was being written when the run ended has no end.
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	first, rest, any := bytes.Cut(data, []byte("\n"))
	j.size, j.fresh = len(data), !any
	if !any {
		return j, nil, nil, nil
	}
	var was struct {
		resumeHeader
		Settings json.RawMessage `json:"settings"` // as it stands there, numbers included
	}
	if err := json.Unmarshal(first, &was); err != nil || was.Schema != schema || len(was.Settings) == 0 || was.Settings[0] != '{' {
		return nil, nil, nil, usagef("--resume %s: is not a file that --resume made", path)
	}
	was.resumeHeader.Settings = was.Settings
	return j, &was.resumeHeader, rest, nil
}

// agree refuses a file that another model, program or command line made.
func (j *journal) agree(was *resumeHeader, header resumeHeader) error {
	if was == nil {
		return nil
	}
	if keys := differ(*was, header); len(keys) > 0 {
		return usagef("--resume %s: was made with another %s: give the same, or remove the file", j.path, strings.Join(keys, ", "))
	}
	return nil
}

// begin opens the file for more records: it cuts off an unfinished line, and writes the
// header of a new file. Two runs that write to one file would make it useless to both, so
// that it is this run's alone until close.
func (j *journal) begin(header resumeHeader) (err error) {
	if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return j.failed(err)
	}
	if err = j.alone(); err != nil {
		j.close()
		return err
	}
	if err = j.file.Truncate(int64(j.size)); err == nil {
		_, err = j.file.Seek(int64(j.size), 0)
	}
	if err != nil {
		j.close()
		return j.failed(err)
	}
	if !j.fresh {
		return nil
	}
	line, err := marshalText(header)
	if err == nil {
		err = j.append(append(line, '\n'))
	}
	if err != nil {
		j.close()
	}
	return err
}

// alone locks the file, and refuses one that grew since it was read.
func (j *journal) alone() error {
	got, err := lock(j.file)
	if err != nil {
		return j.failed(err)
	}
	info, err := j.file.Stat()
	if err != nil {
		return j.failed(err)
	}
	if !got || info.Size() != j.found {
		return fmt.Errorf("--resume %s: another run is writing to it: let that one end, or name another file", j.path)
	}
	return nil
}

// append keeps whole lines.
func (j *journal) append(lines []byte) error {
	_, err := j.file.Write(lines)
	if err == nil {
		err = j.file.Sync()
	}
	return j.failed(err)
}

func (j *journal) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--resume %s: %w", j.path, unwrapPath(err))
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// differ names what two headers have unlike, by their JSON keys. One was read from a
// file, the other was not, so that both are compared as they are written.
func differ(a, b resumeHeader) []string {
	left, right := make(map[string]string), make(map[string]string)
	flatten(left, a)
	flatten(right, b)
	var keys []string
	for k := range left {
		if left[k] != right[k] {
			keys = append(keys, k)
		}
	}
	for k := range right {
		if _, ok := left[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// flatten lists the fields of a header and of its settings with their JSON.
func flatten(out map[string]string, h resumeHeader) {
	for _, v := range []any{h, h.Settings} {
		var fields map[string]json.RawMessage
		b, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(b, &fields)
		}
		if err != nil {
			panic(err) // Headers are structs of plain fields, or come from JSON.
		}
		for k, raw := range fields {
			out[k] = canonical(raw)
		}
	}
	delete(out, "settings")
}

// canonical writes JSON with the keys of objects in order and numbers as they stand there.
func canonical(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}
