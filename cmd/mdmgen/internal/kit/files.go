package kit

import (
	"os"
	"path/filepath"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
)

// NamedFile is a file that a flag names.
type NamedFile struct{ Flag, Path string }

// Apart refuses to write two files under one name, over a file that the command reads, which another
// flag or an argument names, and into the folder of a model.
func Apart(command string, args []string, set flags.Set, written ...NamedFile) error {
	var inputs []NamedFile
	for _, f := range set {
		if path := f.File(); set.IsSet(f.Name) && path != "" && !f.Writes {
			inputs = append(inputs, NamedFile{f.Typed(), path})
		}
	}
	for _, path := range args {
		inputs = append(inputs, NamedFile{command, path})
	}
	for i, w := range written {
		for _, other := range written[:i] {
			if sameFile(w.Path, other.Path) {
				return exit.Usagef("%s %s: %s writes to the same file: name another", w.Flag, w.Path, other.Flag)
			}
		}
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

// sameFile reports whether two names lead to one regular file, or would where there is none yet.
// Standard output and devices may be written to twice.
func sameFile(a, b string) bool {
	if a == "" || b == "" || a == "-" || b == "-" {
		return false
	}
	x, xerr := os.Stat(a)
	y, yerr := os.Stat(b)
	if xerr == nil && yerr == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return xerr != nil && yerr != nil && place(a) == place(b)
}

// within reports whether a file would be written below a folder.
func within(dir, path string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || path == "" || path == "-" {
		return false
	}
	rel, err := filepath.Rel(filepath.Dir(place(filepath.Join(dir, "x"))), place(path))
	return err == nil && filepath.IsLocal(rel)
}

// place is the absolute name of a file in a folder without links.
func place(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.Base(path))
}
