package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/journal"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/reftest"
)

const schema = "mdmgen.test/2"

type header struct {
	Schema   string         `json:"schema"`
	Seed     uint64         `json:"seed"`
	Settings map[string]any `json:"settings"`
}

type record struct {
	Window int     `json:"window"`
	Nats   float64 `json:"nats"`
	Text   string  `json:"text"`
}

func newHeader() header {
	return header{schema, 7, map[string]any{"draws": 16, "sampler": map[string]any{"steps": 4}}}
}

// write makes a journal of n records and returns its bytes.
func write(t testing.TB, path string, n int) []byte {
	t.Helper()
	j := reftest.Must(journal.Open(path, schema))(t)
	defer j.Close()
	reftest.OK(t, j.Begin(newHeader()))
	for i := range n {
		reftest.OK(t, j.Append(record{i, 1 / float64(i+3), "<once>\n"}))
	}
	return reftest.Must(os.ReadFile(path))(t)
}

// put writes a new file: some file systems flush one that is written over when it is closed.
func put(t testing.TB, path string, data []byte) {
	t.Helper()
	reftest.OK(t, errors.Join(os.RemoveAll(path), os.WriteFile(path, data, 0o644)))
}

// read opens a journal and returns its records.
func read(path string) (out []record, err error) {
	j, err := journal.Open(path, schema)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	return out, j.Records(func(raw json.RawMessage) error {
		var r record
		err := json.Unmarshal(raw, &r)
		out = append(out, r)
		return err
	})
}

// TestEveryByteCounts changes, deletes and inserts a byte at every place. The file must be rejected
// with exactly that line, or read as the beginning of what was written, with an unfinished last line.
func TestEveryByteCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	whole := write(t, path, 2)
	want, err := read(path)
	if err != nil || len(want) != 2 {
		t.Fatalf("%v, %v", want, err)
	}
	values := []byte{0, '\n', '"', 0xff}
	tried, cut := 0, 0
	check := func(what string, at int, edited []byte) {
		t.Helper()
		if bytes.Equal(edited, whole) {
			return
		}
		tried++
		put(t, path, edited)
		got, err := read(path)
		var refused *journal.RefusedError
		first := 0 // the first byte that differs
		for first < min(len(whole), len(edited)) && whole[first] == edited[first] {
			first++
		}
		switch line := 1 + bytes.Count(whole[:first], []byte("\n")); {
		case errors.As(err, &refused):
			if refused.Line != line {
				t.Errorf("byte %d %s in line %d: %v", at, what, line, err)
			}
		case err != nil:
			t.Errorf("byte %d %s: %v", at, what, err)
		case edited[len(edited)-1] == '\n' || !slices.Equal(got, want[:len(got)]):
			t.Errorf("byte %d %s is not found: %q", at, what, edited)
		default:
			cut++
		}
	}
	for at := range whole {
		for _, v := range append(values, whole[at]^1) {
			check("changed", at, slices.Concat(whole[:at], []byte{v}, whole[at+1:]))
			check("put in", at, slices.Concat(whole[:at], []byte{v}, whole[at:]))
		}
		check("taken out", at, slices.Concat(whole[:at], whole[at+1:]))
	}
	for _, v := range values {
		check("put in", len(whole), slices.Concat(whole, []byte{v}))
	}
	t.Logf("%d edits of %d bytes: %d cut off as lines that have not ended, all others refused", tried, len(whole), cut)
}

// TestLinesCount checks that lines that are removed, moved, repeated or from another file are detected.
func TestLinesCount(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keep.jsonl")
	lines := bytes.SplitAfter(write(t, path, 4), []byte("\n"))
	for name, c := range map[string]struct {
		lines []int
		fault int
	}{
		"removed": {[]int{0, 1, 3, 4}, 3}, "moved": {[]int{0, 2, 1, 3, 4}, 2}, "repeated": {[]int{0, 1, 1, 2}, 3}, "no header": {[]int{1, 2}, 1}, "two headers": {[]int{0, 0, 1}, 2},
	} {
		var text []byte
		for _, i := range c.lines {
			text = append(text, lines[i]...)
		}
		reftest.OK(t, os.WriteFile(path, text, 0o644))
		_, err := read(path)
		if want := fmt.Sprintf("%s:%d: ", path, c.fault); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", name, err, want)
		}
	}
}

// TestGoOn ends a run after every byte: finished lines are kept, and the continued file equals that
// of an uninterrupted run.
func TestGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	whole := write(t, path, 4)
	for size := range len(whole) + 1 {
		put(t, path, whole[:size])
		j, err := journal.Open(path, schema)
		reftest.OK(t, err, "after", size, "bytes:")
		n := 0
		err = errors.Join(j.Records(func(json.RawMessage) error { n++; return nil }), j.Begin(newHeader()))
		for i := n; i < 4; i++ {
			err = errors.Join(err, j.Note(record{i, 1 / float64(i+3), "<once>\n"}))
		}
		err = errors.Join(err, j.Close())
		now, rerr := os.ReadFile(path)
		if err != nil || rerr != nil || !bytes.Equal(now, whole) || n != max(0, bytes.Count(whole[:size], []byte("\n"))-1) {
			t.Fatalf("after %d bytes: %d records, %v, %v: %q", size, n, err, rerr, now)
		}
	}
}

// TestDiffer checks the names of differing fields of headers, at any depth.
func TestDiffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	write(t, path, 1)
	j := reftest.Must(journal.Open(path, schema))(t)
	defer j.Close()
	h := newHeader()
	h.Seed, h.Settings = 8, map[string]any{"draws": 16, "sampler": map[string]any{"steps": 5}, "limit": 3}
	got := journal.Differ(j.Header(), reftest.Must(json.Marshal(h))(t))
	if want := []string{"limit", "sampler.steps", "seed"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestOthersFiles checks that they are rejected and not changed.
func TestOthersFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	for content, want := range map[string]string{
		"once upon a time\n":                    "is not the header",
		"once upon a time":                      "is not the header",
		"{}\n":                                  "is not the header",
		"\n":                                    "is not the header",
		`{"schema":"mdmgen.test/1"}` + "\n":     "another version of mdmgen",
		`{"schema":"mdmgen.test/1`:              "another version of mdmgen",
		`{"schema":"mdmgen.other/2"}` + "\n":    "mdmgen.test/2",
		`{"schema":"mdmgen.test/2"}` + "\n":     "checksum",
		`{"schema":"mdmgen.test/2"}` + "\n{}\n": "checksum",
	} {
		reftest.OK(t, os.WriteFile(path, []byte(content), 0o644))
		_, err := read(path)
		var refused *journal.RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", content, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != content {
			t.Errorf("%q was changed to %q", content, now)
		}
	}
	reftest.Fails(t, reftest.Err(journal.Open(filepath.Dir(path), schema)), "", "a folder is opened")
}

// TestAlone checks that a journal belongs to one run, even if the file did not exist when it was opened.
func TestAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	first := reftest.Must(journal.Open(path, schema))(t)
	defer first.Close()
	late := reftest.Must(journal.Open(path, schema))(t)
	defer late.Close()
	reftest.OK(t, first.Begin(newHeader()))
	if err := late.Begin(newHeader()); !errors.Is(err, lockfile.ErrHeld) {
		t.Errorf("a second run begins: %v", err)
	}
	if _, err := journal.Open(path, schema); !errors.Is(err, lockfile.ErrHeld) {
		t.Errorf("a second run opens: %v", err)
	}
	reftest.OK(t, errors.Join(first.Append(record{}), first.Close(), first.Close()))
	if got, err := read(path); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzOpen reads hostile files: they must be rejected with one line, or read up to the last
// complete line, and never changed.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "keep.jsonl")
	f.Add(write(f, path, 2))
	f.Add([]byte(`{"schema":"mdmgen.test/2","sum":"0123456789abcdef"}` + "\n"))
	f.Add([]byte(`{"sch`))
	f.Fuzz(func(t *testing.T, data []byte) {
		reftest.OK(t, os.WriteFile(path, data, 0o644))
		_, err := read(path)
		var refused *journal.RefusedError
		if err != nil && (!errors.As(err, &refused) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %v", data, err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
			t.Errorf("%q was changed to %q", data, now)
		}
	})
}

// TestAgreeTwice checks that a field and a setting of the same name are different.
func TestAgreeTwice(t *testing.T) {
	t.Parallel()
	header := []byte(`{"seed":0,"settings":{"seed":null},"part":{"shard":"1/2"}}`)
	for range 20 {
		if unlike := journal.Differ(header, []byte(`{"settings":{"seed":null},"seed":0,"part":7}`)); len(unlike) > 0 {
			t.Fatal(unlike)
		}
		if unlike := journal.Differ(header, []byte(`{"seed":1,"settings":{"seed":1}}`)); !slices.Equal(unlike, []string{"seed"}) {
			t.Fatal(unlike)
		}
	}
}

// TestReread reads records again by their offsets, also from a journal that cannot be written.
func TestReread(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keep.jsonl")
	write(t, path, 3)
	j := reftest.Must(journal.OpenReader(path, schema))(t)
	defer j.Close()
	var at []int64
	var want []string
	if err := j.Records(func(r json.RawMessage) error {
		at, want = append(at, j.At()), append(want, string(r))
		return nil
	}); err != nil || len(at) != 3 {
		t.Fatal(at, err)
	}
	for _, i := range []int{2, 0, 1} {
		var got []string
		if err := j.Reread(at[i], func(r json.RawMessage) bool {
			got = append(got, string(r))
			return len(got) < 2
		}); err != nil || !slices.Equal(got, want[i:min(i+2, 3)]) {
			t.Errorf("records from %d on: %s, %v", i, got, err)
		}
	}
	if name, err := journal.SchemaOf(path); name != schema || err != nil {
		t.Errorf("schema %q, %v", name, err)
	}
}
