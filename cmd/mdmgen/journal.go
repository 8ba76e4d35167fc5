package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/journal"
)

// identity is all that decides the bits of a result: the header of a journal.
type identity struct {
	Schema string `json:"schema"`
	// provenance is without the time at which the run began, and without the name by which
	// the user calls the model.
	provenance
	Seed uint64 `json:"seed"`
	// Settings are the command's.
	Settings any `json:"settings"`
}

// newIdentity is what a run is, by what its records say of it.
func newIdentity(schema string, p provenance, seed uint64, settings any) identity {
	p.Started = ""
	if p.Model != nil {
		o := *p.Model
		o.Reference = ""
		p.Model = &o
	}
	return identity{schema, p, seed, settings}
}

// openJournal opens the file of --resume.
func openJournal(c *cli.Context, schema string) (*journal.Journal, error) {
	path := c.String("resume")
	if path == "" {
		return nil, usagef("--resume: name a file")
	}
	j, err := journal.Open(path, schema)
	return j, resumeError(err)
}

// resumeError puts the flag before an error of the journal; a file that is another's is a
// command line that cannot be obeyed.
func resumeError(err error) error {
	var refused *journal.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return usagef("--resume %w", err)
	}
	return fmt.Errorf("--resume %w", err)
}

// seedOf is the seed of a journal, false where it has none yet.
func seedOf(j *journal.Journal) (uint64, bool) {
	var was struct{ Seed *uint64 }
	if json.Unmarshal(j.Header(), &was) != nil || was.Seed == nil {
		return 0, false
	}
	return *was.Seed, true
}

// namedFile is a file that a flag names.
type namedFile struct{ flag, path string }

// distinct refuses two flags that name one file, whatever they call it.
func distinct(files []namedFile) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if sameFile(a.path, b.path) {
				return usagef("%s %s: %s writes to the same file: name another", a.flag, a.path, b.flag)
			}
		}
	}
	return nil
}

// inputFlags are the flags that name a file which is read.
var inputFlags = []string{"input", "model", "sidecar", "tokenizer", "profile", "context", "golden", "evaluator", "evaluator-tokenizer"}

// apart is distinct, and refuses to write over a file that the command reads: one that another
// flag names, or an argument; and to write into the folder of a model.
func apart(c *cli.Context, written ...namedFile) error {
	if err := distinct(written); err != nil {
		return err
	}
	var inputs []namedFile
	for _, name := range inputFlags {
		flag := dashed(name)
		if path, ok := c.Value(name).(string); ok && c.IsSet(name) && !slices.ContainsFunc(written, func(w namedFile) bool { return w.flag == flag }) {
			inputs = append(inputs, namedFile{flag, path})
		}
	}
	for _, path := range c.Args().Slice() {
		inputs = append(inputs, namedFile{c.Command.Name, path})
	}
	for _, w := range written {
		for _, in := range inputs {
			if sameFile(w.path, in.path) {
				return usagef("%s %s: %s reads this file: name another", w.flag, w.path, in.flag)
			}
			if (in.flag == "--model" || in.flag == "--evaluator") && within(in.path, w.path) {
				return usagef("%s %s: lies in the folder that %s reads: name a file elsewhere", w.flag, w.path, in.flag)
			}
		}
	}
	return nil
}

// sameFile says whether two names lead to one regular file, or would where there is none yet.
// What is printed on standard output, or written to a device, may be written twice.
func sameFile(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" {
		return false
	}
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	if xerr == nil && yerr == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return xerr != nil && yerr != nil && leadsTo(a) == leadsTo(b)
}

// within says whether a file would be written below a folder.
func within(dir, path string) bool {
	if path == "" || path == "-" {
		return false
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, leadsTo(path))
	return err == nil && filepath.IsLocal(rel)
}

// leadsTo is where a file would be made that is not there: links are followed, also one that
// leads to no file.
func leadsTo(path string) string {
	for range 40 { // as many links as systems follow
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}
