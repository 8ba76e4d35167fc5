//go:build unix

package torture

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// state is the content of a folder.
type state struct {
	// files maps the names of the final files, with slashes, to their digests without times.
	files map[string]string
	// temporaries lists files and folders with temporary names.
	temporaries []string
}

// temporary matches temporary names.
var temporary = regexp.MustCompile(`\.tmp$|\.mdmgen-lock$|\.incomplete$|\.partial-|\.fetch-`)

// unread matches names whose content is not a result: locks, digests remembered by the times of
// files, and incomplete results that are named so.
var unread = regexp.MustCompile(`(^|/)[^/]*\.lock$|(^|/)stamps(/|$)|\.partial\.[a-z]+$`)

// look reads a folder. It does not read journals: only the next run's use of them matters.
func look(dir string, journals []string) (state, error) {
	s := state{files: make(map[string]string)}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case temporary.MatchString(d.Name()):
			s.temporaries = append(s.temporaries, name)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || slices.Contains(journals, name) || unread.MatchString(name):
			return nil
		}
		s.files[name], err = digest(at)
		return err
	})
	return s, err
}

// digest returns the SHA-256 of a file, for JSON without its times.
func digest(path string) (string, error) {
	data, err := os.ReadFile(path)
	if ext := filepath.Ext(path); ext == ".json" || ext == ".jsonl" {
		data = timeless(data)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}

// ofTheRun matches the fields that belong to a run, not to its result: times, memory and counts of
// this run alone. sum is the checksum of all fields.
var ofTheRun = regexp.MustCompile(`seconds?$|^(started|peak_bytes|total_over_network|totals|resumed|sum)$`)

// timeless returns a JSON text, or one per line, without those of ofTheRun, and any other text
// unchanged.
func timeless(data []byte) []byte {
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return out.Bytes()
		} else if err != nil {
			return data
		}
		line, err := json.Marshal(without(v))
		if err != nil {
			return data
		}
		out.Write(append(line, '\n'))
	}
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if ofTheRun.MatchString(k) {
				delete(v, k)
			} else {
				v[k] = without(x)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

// faults returns the differences from the wanted files, and the temporaries.
func (s *state) faults(want map[string]string) (out []string) {
	for name, digest := range want {
		if got, ok := s.files[name]; !ok {
			out = append(out, name+" is missing")
		} else if got != digest {
			out = append(out, name+" is another")
		}
	}
	for name := range s.files {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is left over")
		}
	}
	for _, name := range s.temporaries {
		out = append(out, name+" is left")
	}
	slices.Sort(out)
	return out
}

func TestTimeless(t *testing.T) {
	a := `{"rows":1,"seconds":{"total":0.5},"windows":[{"nats":1.25,"started":"x"}],"totals":{"windows":1}}`
	for _, c := range []struct {
		why, b string
		same   bool
	}{
		{"another time", `{"rows":1,"seconds":{"total":7},"windows":[{"nats":1.25,"started":"y"}],"resumed":3,"tokens_per_second":{"mean":8}}`, true},
		{"another number", strings.Replace(a, "1.25", "1.250000000000000001", 1), false},
		{"a field less", strings.Replace(a, `"rows":1,`, "", 1), false},
		{"a line more", a + "\n" + a, false},
		{"cut off", a[:len(a)-1], false},
	} {
		if got := string(timeless([]byte(a))) == string(timeless([]byte(c.b))); got != c.same {
			t.Errorf("%s: same is %v", c.why, got)
		}
	}
}
