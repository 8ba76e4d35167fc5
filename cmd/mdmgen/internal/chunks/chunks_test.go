package chunks

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/journal"
	"mdmgen/internal/reftest"
)

// TestRanges checks that the parts of a run have each of its chunks once, in order, with sizes as
// equal as possible, even if there are more parts than chunks.
func TestRanges(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 7, 100, 1 << 26} {
		for _, parts := range []int{1, 2, 3, 7, 101, maxShards} {
			if n > 1000 && parts > 1000 {
				continue
			}
			next, least, most := 0, n, 0
			for i := 1; i <= parts; i++ {
				from, to := (Shard{i, parts}).Of(n)
				if from != next || to < from {
					t.Fatalf("%d chunks, part %d of %d: %d..%d after %d", n, i, parts, from, to, next)
				}
				next, least, most = to, min(least, to-from), max(most, to-from)
			}
			if next != n || most-least > 1 {
				t.Errorf("%d chunks in %d parts: %d are done, %d to %d each", n, parts, next, least, most)
			}
		}
	}
}

// part returns a complete part of a run of two chunks.
func part(t testing.TB, path string) []byte {
	t.Helper()
	f := Flags{Shard: Shard{1, 1}}
	s := kit.Streams{Err: &bytes.Buffer{}}
	k := reftest.Must(f.Open(s, Header{Identity: kit.Identity{Schema: "mdmgen.test-resume/4"}, Chunks: 2}, path))(t)
	defer k.Close()
	work := Work[int]{Compute: func(i int) (int, error) { return 10 * i, nil }, Count: func(int, int, bool) int { return 0 }}
	reftest.OK(t, Do(t.Context(), k, s, &kit.Progress{}, work))
	return reftest.Must(os.ReadFile(path))(t)
}

// FuzzPart gives the reader hostile parts with valid checksums. It must reject them in one line, or
// read each chunk once.
func FuzzPart(f *testing.F) {
	path := filepath.Join(f.TempDir(), "part.jsonl")
	for _, line := range bytes.Split(bytes.TrimSpace(part(f, path)), []byte("\n"))[1:] {
		at := bytes.LastIndex(line, []byte(`,"sum":`))
		f.Add(string(line[:at]) + "}")
	}
	f.Add(`{"chunk":2,"result":1}`)
	f.Add(`{"chunk":-1,"result":1}`)
	f.Add(`{"chunk":0,"piece":{"sample":1}}`)
	f.Add(`{"chunk":1,"piece":2,"result":3}`)
	f.Add(`{"mixed":["executable"]}`)
	f.Add(`{"end":{"from":0,"to":9}}`)
	f.Add(`{"schema":"mdmgen.test-resume/4","chunks":99999999999,"part":{"flags":{"draws":["2"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		os.Remove(path)
		record := []byte(strings.ReplaceAll(text, "\n", " "))
		j, err := journal.Open(path, "mdmgen.test-resume/4")
		reftest.OK(t, err)
		if len(record) < 2 || record[0] != '{' || record[len(record)-1] != '}' {
			return
		}
		header := any(Header{Identity: kit.Identity{Schema: "mdmgen.test-resume/4"}, Chunks: 2, Part: Part{To: 2}})
		if strings.HasPrefix(text, `{"schema"`) {
			header = raw(record)
		}
		err = j.Begin(header)
		if err == nil {
			err = errors.Join(j.Append(raw(`{"chunk":1,"result":7}`)), j.Append(raw(record)), j.Append(raw(`{"end":{"from":0,"to":2}}`)))
		}
		j.Close()
		if err != nil {
			return // Such a line cannot be written.
		}
		p, err := Read(kit.Streams{Err: &bytes.Buffer{}}, []string{path}, true)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		defer p.Close()
		n := 0
		_ = EachOf(p, func(int, any) error { n++; return nil })
		if n != len(p.where) {
			t.Errorf("%d chunks of %d", n, len(p.where))
		}
	})
}

// raw is an encoded record.
type raw []byte

func (r raw) MarshalJSON() ([]byte, error) { return r, nil }
