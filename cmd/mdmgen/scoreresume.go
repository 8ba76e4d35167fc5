package main

import (
	"bufio"
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

// resumeSchema names the layout of the file that --resume keeps: a header, then a
// finished window a line.
const resumeSchema = "mdmgen.score-resume/1"

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
	// Settings is a scoreSettings, or what a file holds of one.
	Settings any `json:"settings"`
}

// resume is the file of --resume with what it held; without the flag it does nothing.
type resume struct {
	path string
	file *os.File
	done map[int]scoredWindow
}

// openResume reads the file, if there is one, and makes it ready for more. A seed that
// was not given is the file's.
func openResume(r *scoring) (*resume, error) {
	out := &resume{path: r.c.String("resume"), done: make(map[int]scoredWindow)}
	if out.path == "" {
		if r.c.IsSet("resume") {
			return nil, usagef("--resume: name a file")
		}
		return out, nil
	}
	header := resumeHeader{Schema: resumeSchema, Version: version()}
	if d, ok := r.model.(model.Describer); ok {
		o := d.Origin()
		header.Model, header.Runtime, header.Provider, header.Outlet = o.Digest, o.Runtime, o.Provider, o.Outlet
	}
	data, err := os.ReadFile(out.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--resume %s: %w", out.path, unwrapPath(err))
	}
	// Nothing that another program wrote is ever cut off.
	if begin := []byte(`{"schema":"` + resumeSchema + `"`); !bytes.HasPrefix(data, begin) && !bytes.HasPrefix(begin, data) {
		return nil, usagef("--resume %s: is not a file that --resume made", out.path)
	}
	// A line that was being written when the run ended has no end.
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	first, rest, any := bytes.Cut(data, []byte("\n"))
	if any {
		var was resumeHeader
		if err := json.Unmarshal(first, &was); err != nil || was.Schema != resumeSchema {
			return nil, usagef("--resume %s: is not a file that --resume made", out.path)
		}
		if !r.c.IsSet("seed") && !r.settings.Exact {
			r.settings.Seed = was.Seed
		}
		header.Seed, header.Settings = r.settings.Seed, r.settings
		if keys := differ(was, header); len(keys) > 0 {
			return nil, usagef("--resume %s: was made with another %s: give the same, or remove the file", out.path, strings.Join(keys, ", "))
		}
	}
	header.Seed, header.Settings = r.settings.Seed, r.settings
	if err := out.read(rest, len(r.windows)); err != nil {
		return nil, err
	}
	if out.file, err = os.OpenFile(out.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, fmt.Errorf("--resume %s: %w", out.path, unwrapPath(err))
	}
	if err := out.begin(len(data), header, any); err != nil {
		out.close()
		return nil, fmt.Errorf("--resume %s: %w", out.path, unwrapPath(err))
	}
	return out, nil
}

// read takes the finished windows.
func (f *resume) read(data []byte, windows int) error {
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, maxLine)
	for n := 2; scan.Scan(); n++ {
		var w scoredWindow
		if err := json.Unmarshal(scan.Bytes(), &w); err != nil || w.Window < 0 || w.Window >= windows {
			return usagef("--resume %s:%d: is not a finished window", f.path, n)
		}
		f.done[w.Window] = w
	}
	if err := scan.Err(); err != nil {
		return usagef("--resume %s: %v", f.path, err)
	}
	return nil
}

// begin cuts off an unfinished line and writes the header of a new file.
func (f *resume) begin(size int, header resumeHeader, any bool) error {
	if err := f.file.Truncate(int64(size)); err != nil {
		return err
	}
	if _, err := f.file.Seek(int64(size), 0); err != nil {
		return err
	}
	if any {
		return nil
	}
	line, err := marshalText(header)
	if err != nil {
		return err
	}
	_, err = f.file.Write(append(line, '\n'))
	return err
}

// finished returns the windows from..to where all of them are done. Windows that were
// worked out together are worked out together again where one is missing.
func (f *resume) finished(from, to int) ([]scoredWindow, error) {
	var out []scoredWindow
	for i := from; i < to; i++ {
		w, ok := f.done[i]
		if !ok {
			return nil, nil
		}
		out = append(out, w)
	}
	return out, nil
}

// add keeps windows that were just finished.
func (f *resume) add(windows []scoredWindow) error {
	if f.file == nil {
		return nil
	}
	var lines []byte
	for _, w := range windows {
		if _, ok := f.done[w.Window]; ok {
			continue
		}
		line, err := marshalText(w)
		if err != nil {
			return err
		}
		lines = append(append(lines, line...), '\n')
	}
	if _, err := f.file.Write(lines); err != nil {
		return fmt.Errorf("--resume %s: %w", f.path, unwrapPath(err))
	}
	return f.file.Sync()
}

func (f *resume) close() {
	if f.file != nil {
		f.file.Close()
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
			out[k] = string(raw)
		}
	}
	delete(out, "settings")
}
