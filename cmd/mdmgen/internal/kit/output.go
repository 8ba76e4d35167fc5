package kit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/plainfile"
)

// Unfinished is the suffix of the name of a file that is being written. The next run overwrites
// what a killed run leaves under such a name.
const Unfinished = ".mdmgen.tmp"

// Output is the destination of a command's results: standard output, or a file that appears whole
// when it is committed and does not appear otherwise.
type Output struct {
	*bufio.Writer
	// flag names path in messages: a text or a [fault.Term].
	flag    any
	path    string
	streams Streams
	// file is the file being written, nil for standard output. whole reports whether the file gets
	// its name when it is committed, as regular files do and devices and pipes do not.
	file  *os.File
	whole bool
}

// NewOutput opens the destination of results: path, or s.Out if path is "" or "-". It
// returns an error now if the file cannot be written, before the work is done. flag precedes the
// path in messages.
func NewOutput(ctx context.Context, flag any, path string, s Streams) (o *Output, err error) {
	o = &Output{flag: flag, path: path, streams: s}
	if path == "" || path == "-" {
		o.path, o.Writer = "", bufio.NewWriterSize(s.Out, 1<<16)
		return o, nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fault.Usage("%v %s: is a folder; name a file", flag, path)
	case err == nil && !info.Mode().IsRegular():
		if o.file, err = plainfile.Await(ctx, path, os.O_WRONLY); err != nil {
			return nil, fault.Advise("%v %s: %w", flag, path, err)
		}
	case err == nil && info.Mode().Perm()&0o222 == 0:
		return nil, fault.Advise("%v %s: is read-only: name another file, or make it writable", flag, path)
	default:
		mode := os.FileMode(0o666) // less the umask
		if info != nil {
			mode = info.Mode().Perm()
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			o.path = real // Write to the target of a link.
		}
		o.whole = true
		if o.file, err = lockfile.OpenAlone(o.path+Unfinished, os.O_RDWR|os.O_CREATE, mode); err == nil {
			err = o.file.Truncate(0)
		}
		if err != nil {
			return nil, fault.Advise("%v %s: cannot write there: %w", flag, path, plainfile.Cause(err))
		}
	}
	o.Writer = bufio.NewWriterSize(naming{o}, 1<<16)
	return o, nil
}

// naming writes to the file of an output, and names it in errors.
type naming struct{ o *Output }

func (n naming) Write(b []byte) (int, error) {
	k, err := n.o.file.Write(b)
	return k, n.o.named(err)
}

func (o *Output) named(err error) error {
	if err != nil {
		err = fault.Advise("%v %s: %w", o.flag, o.path, plainfile.Cause(err))
	}
	return err
}

// OutputTerm is the flag -o in messages, spelled as it was typed.
var OutputTerm = fault.Term{Name: "output"}

// OutputFlag returns the flag -o.
func OutputFlag(path *string) *Flag {
	return Name(path, "name a file, or - for standard output", Flag{Name: "output", Alias: "o", Category: CatOutput, Writes: true,
		Usage: "write to `FILE`; FILE.json selects that format (default: standard output)"})
}

// endings maps the extensions of files to formats.
var endings = map[string]string{".md": "text", ".txt": "text", ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".tex": "tex", ".svg": "svg", ".pdf": "pdf", ".html": "html"}

// FormatByEnding sets --format, if it is not given, by the extension of the file of -o; one of another
// format is an error. It leaves a part alone (--shard): its file has the layout of parts.
func FormatByEnding(all Set) error {
	format, output := all.Find("format"), all.Find("output")
	if format == nil || output == nil || all.Given("format") || all.Given("shard") {
		return nil
	}
	switch word := endings[strings.ToLower(filepath.Ext(output.File()))]; {
	case word == "":
		return nil
	case slices.Contains(format.Words, word):
		return format.Set(word)
	case all.Find(word) != nil:
		return exit.Usagef("%s: has the format of --format: --%s FILE writes this one", output.with(output.File()), word)
	}
	return exit.Usagef("%s: is none of the formats %s: name a file of one, or give --format", output.with(output.File()), strings.Join(format.Words, ", "))
}

// Streaming reports whether flushed results can be read immediately.
func (o *Output) Streaming() bool { return !o.whole }

// Path returns where the results go, "" for standard output.
func (o *Output) Path() string { return o.path }

// Put ends the results with what write writes, or with nothing if write fails. See [Output.Finish].
func (o *Output) Put(interrupted bool, write func(w io.Writer) error) error {
	defer o.Discard()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	o.Write(b.Bytes()) // An error is kept until Commit.
	return o.Finish(interrupted)
}

// Commit flushes the results and moves a file to its place.
func (o *Output) Commit() error {
	defer o.Discard()
	err := o.Flush()
	switch {
	case err != nil || o.file == nil:
	case o.whole:
		if err = o.named(o.file.Sync()); err == nil {
			err = o.named(lockfile.Rename(o.file, o.path))
			o.file = nil
		}
	default:
		err = o.named(o.file.Close())
	}
	return err
}

// Finish ends the results. The file of an interrupted run is named so, FILE.partial.json for
// FILE.json, and an old FILE.json stays as it is.
func (o *Output) Finish(interrupted bool) error {
	partial := interrupted && o.whole
	if partial {
		ending := filepath.Ext(o.path)
		o.path = strings.TrimSuffix(o.path, ending) + ".partial" + ending
	}
	err := o.Commit()
	if partial && err == nil {
		o.streams.Notice("incomplete results are in " + o.path)
	}
	return err
}

// Ended returns the error of a run: the one that ended it, if any, joined with another one of
// printing what was finished. An interrupt gives way to it.
func Ended(err, printing error) error {
	switch {
	case printing == nil || errors.Is(err, printing):
		return err
	case err == nil || errors.Is(err, context.Canceled):
		return printing
	}
	return errors.Join(printing, err)
}

// Discard removes uncommitted results. It may be called after Commit.
func (o *Output) Discard() {
	switch {
	case o.file != nil && o.whole:
		lockfile.Remove(o.file)
	case o.file != nil:
		o.file.Close()
	}
	o.file = nil
}

// NamedFile is a file with the flag that names it.
type NamedFile struct{ Flag, Path string }

// Apart returns an error if two files would be written under one name, over a file that the command
// reads (named by another flag or an argument), or into the folder of a model.
func (s Set) Apart(command string, args []string, written ...NamedFile) error {
	var inputs []NamedFile
	for _, f := range s {
		switch path := f.File(); {
		case path != "" && f.Writes:
			written = append(written, NamedFile{f.Typed(), path})
		case path != "" && f.given:
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
			if (strings.HasSuffix(in.Flag, "model") || strings.HasSuffix(in.Flag, "evaluator")) && within(in.Path, w.Path) {
				return exit.Usagef("%s %s: lies in the folder that %s reads: name a file elsewhere", w.Flag, w.Path, in.Flag)
			}
		}
	}
	return nil
}

// sameFile reports whether two names refer to one regular file, or would once it is created.
// Standard output and devices may be written twice.
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

// place returns the absolute path of a file, with the links of its folder resolved.
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
