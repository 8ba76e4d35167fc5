package stamp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"mdmgen/internal/plainfile"
)

// several is what is remembered of a digest over several files.
type several struct {
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
	Marks []mark   `json:"marks"`
	// SHA256 is in hexadecimal.
	SHA256 string `json:"sha256"`
}

// Digest returns what work makes of some regular files, a SHA-256 in hexadecimal, from the
// store where all of them are unchanged. kind names how the digest is made of the files.
// Errors, work's own apart, are one line without the path.
func (s Store) Digest(ctx context.Context, kind string, paths []string, work func(context.Context) (string, error)) (string, error) {
	e := several{Kind: kind}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return "", err
		}
		e.Paths = append(e.Paths, abs)
	}
	// The name of an entry of several files cannot be that of a path.
	key, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	if e.Marks, err = marksOf(e.Paths); err != nil {
		return "", err
	}
	name := s.file(string(key))
	if !s.Full {
		var was several
		if s.get(name, &was) && was.Kind == e.Kind && slices.Equal(was.Paths, e.Paths) && slices.Equal(was.Marks, e.Marks) && sha256Hex.MatchString(was.SHA256) {
			return was.SHA256, nil
		}
	}
	if e.SHA256, err = work(ctx); err != nil {
		return "", err
	}
	after, err := marksOf(e.Paths)
	if err != nil {
		return "", err
	}
	if !slices.Equal(after, e.Marks) {
		return "", errChanged
	}
	if !slices.ContainsFunc(after, mark.young) {
		s.put(name, e)
	}
	return e.SHA256, nil
}

var errChanged = errors.New("the file is changed while it is read")

// marksOf asks the system about files.
func marksOf(paths []string) ([]mark, error) {
	var marks []mark
	for _, p := range paths {
		f, err := plainfile.Open(p)
		if err != nil {
			return nil, err
		}
		m, err := markOf(f)
		f.Close()
		if err != nil {
			return nil, plainfile.Cause(err)
		}
		marks = append(marks, m)
	}
	return marks, nil
}

// young says that a write within the clock's own step could leave the times as they are.
func (m mark) young() bool { return time.Since(time.Unix(0, max(m.ModTime, m.Change))) <= young }
