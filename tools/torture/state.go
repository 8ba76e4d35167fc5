package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// state is what stands in a folder.
type state struct {
	// files are the digests of the final files, apart from times, by name with slashes.
	files map[string]string
	// temporaries are files and folders with a name of those that do not last.
	temporaries []string
	// records counts the whole lines of journals after their headers.
	records int
}

// temporary names end in .tmp, .mdmgen-lock or .incomplete, or have .partial- or .fetch- in them.
var temporary = regexp.MustCompile(`\.tmp$|\.mdmgen-lock$|\.incomplete$|\.partial-|\.fetch-`)

// unread are names whose content is no result: locks, and digests remembered by the times of
// files.
var unread = regexp.MustCompile(`(^|/)[^/]*\.lock$|(^|/)stamps(/|$)`)

// look reads a folder. Journals are not read: what counts is what the next run makes of them.
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
		case slices.Contains(journals, name):
			data, err := os.ReadFile(at)
			s.records += max(bytes.Count(data, []byte("\n"))-1, 0)
			return err
		case d.IsDir() || unread.MatchString(name):
			return nil
		}
		s.files[name], err = digest(at)
		return err
	})
	return s, err
}

// digest is the SHA-256 of a file, of JSON without its times.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	switch filepath.Ext(path) {
	case ".json", ".jsonl":
		data, err := io.ReadAll(f)
		if err != nil {
			return "", err
		}
		h.Write(timeless(data))
	default:
		if _, err := io.Copy(h, f); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// passing are the fields that tell of a run and not of its result: when and how long, how much
// memory, and what was counted in this run alone; sum is the checksum of all that.
var passing = regexp.MustCompile(`seconds?$|^(started|peak_bytes|total_over_network|totals|resumed|sum)$`)

// timeless is a JSON text, or one a line, without passing fields; any other text as it is.
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
			if passing.MatchString(k) {
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

// differences tells what files have that the wanted ones have not, and the other way.
func differences(files, want map[string]string) (out []string) {
	for name, digest := range want {
		if got, ok := files[name]; !ok {
			out = append(out, name+" is missing")
		} else if got != digest {
			out = append(out, name+" is another")
		}
	}
	for name := range files {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is left over")
		}
	}
	slices.Sort(out)
	return out
}

// halfFolders names the wanted files that are missing from folders of which others stand.
func halfFolders(files, want map[string]string, folders []string) (out []string) {
	in := func(name string) string {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			for _, pattern := range folders {
				if ok, _ := path.Match(pattern, dir); ok {
					return dir
				}
			}
		}
		return ""
	}
	for name := range want {
		dir := in(name)
		if _, ok := files[name]; ok || dir == "" {
			continue
		}
		for other := range files {
			if strings.HasPrefix(other, dir+"/") {
				out = append(out, name)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}
