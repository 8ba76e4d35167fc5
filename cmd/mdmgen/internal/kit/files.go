package kit

import (
	"os"
	"path/filepath"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
)

// NamedFile is a file that a flag names.
type NamedFile struct{ Flag, Path string }

// distinct refuses two flags that name one file, whatever they call it.
func distinct(files []NamedFile) error {
	for i, a := range files {
		for _, b := range files[:i] {
			if sameFile(a.Path, b.Path) {
				return exit.Usagef("%s %s: %s writes to the same file: name another", a.Flag, a.Path, b.Flag)
			}
		}
	}
	return nil
}

// Apart is distinct, and refuses to write over a file that the command reads: one that another
// flag names, or an argument; and to write into the folder of a model.
func Apart(command string, args []string, set flags.Set, written ...NamedFile) error {
	if err := distinct(written); err != nil {
		return err
	}
	var inputs []NamedFile
	for _, f := range set {
		// A report that results are compared with is read before they are there.
		if path := f.File(); set.IsSet(f.Name) && path != "" && !f.Writes && f.Name != "compare" {
			inputs = append(inputs, NamedFile{f.Typed(), path})
		}
	}
	for _, path := range args {
		inputs = append(inputs, NamedFile{command, path})
	}
	for _, w := range written {
		for _, in := range inputs {
			if sameFile(w.Path, in.Path) {
				return exit.Usagef("%s %s: %s reads this file: name another", w.Flag, w.Path, in.Flag)
			}
			if (in.Flag == "--model" || in.Flag == "--evaluator") && within(in.Path, w.Path) {
				return exit.Usagef("%s %s: lies in the folder that %s reads: name a file elsewhere", w.Flag, w.Path, in.Flag)
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
