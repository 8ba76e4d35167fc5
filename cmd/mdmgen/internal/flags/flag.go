// Package flags are the flags of commands: what values a flag takes, where its value comes
// from, and which flags go together. A flag is read once, into a field of its command's
// struct, from the first of these that has it: the command line, the environment, the config
// file, the program's own default.
package flags

import (
	"cmp"
	"flag"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
)

// Categories of flags in the help text.
const (
	CatInput    = "Input"
	CatEstimate = "What is computed"
	CatSample   = "Sampling"
	CatBench    = "Measurement"
	CatQuality  = "Quality"
	CatOutput   = "Output"
	CatModel    = "Model"
	CatGeneral  = "General"
)

// Categories are in the order of the help.
var Categories = []string{CatInput, CatEstimate, CatSample, CatBench, CatQuality, CatOutput, CatModel, CatGeneral}

// Source says where a flag's value comes from.
type Source int

const (
	Default Source = iota
	Environment
	File
	Line
)

// Flag is a flag of a command. It is made by a function that says what values it takes:
// [Int], [Text], [Words] and so on. It belongs to one run of the program.
type Flag struct {
	Name, Alias string
	Category    string
	// Usage is the help, the name of the value between backquotes.
	Usage string
	// Default is what the help says in the place of the value that the flag has by itself.
	Default string
	// Env is the environment variable that stands for the flag. Where the flag is Lazy the command
	// that uses it reads the variable, and another one does not look at it.
	Env  string
	Lazy bool
	// Words are what completion offers, and Words flags take nothing else.
	Words []string
	// Common flags are in the short help.
	Common bool
	// Rare flags are typed as --set NAME=VALUE. Config files have their names as keys, as they
	// have those of others.
	Rare bool
	// Synonyms are other ways to type the flag. The help of the flag names them.
	Synonyms []Synonym
	// Writes reports whether the value names a file or folder which is written.
	Writes bool

	kind kind
	// check says what is wrong with a text, set reads it, reset is back to the default, and show is the
	// value in force; standard is the default, list the values of a flag that repeats.
	check, set func(text string) error
	reset      func()
	show       func() string
	standard   string
	list       *[]string

	from Source
	// more marks a command's own --set.
	more  bool
	entry *entry
}

// Synonym is another name of a flag.
type Synonym struct {
	Name string
	// Value is the value that the name alone stands for, as json is --format json; one with %s
	// takes a value and puts it there.
	Value string
}

// takes reports whether the name is followed by a value.
func (s Synonym) takes() bool { return strings.Contains(s.Value, "%s") }

// Names are the flag's names, the long one first.
func (f *Flag) Names() []string {
	if f.Alias == "" {
		return []string{f.Name}
	}
	return []string{f.Name, f.Alias}
}

// Text is the value in force, as it is typed.
func (f *Flag) Text() string { return f.show() }

// Texts are the values of a flag that repeats, and the one of any other.
func (f *Flag) Texts() []string {
	if f.list != nil {
		return *f.list
	}
	return []string{f.Text()}
}

// Check says what is wrong with a text as the flag's value.
func (f *Flag) Check(text string) error { return f.check(text) }

// From says where the value comes from.
func (f *Flag) From() Source { return f.from }

// Takes reports whether the flag has a value, as all have but those that are on or off.
func (f *Flag) Takes() bool { return f.kind != onOrOff }

// Repeats reports whether the flag may be given several times.
func (f *Flag) Repeats() bool { return f.kind == repeated }

// inHelp finds what a flag's help calls its value.
var inHelp = regexp.MustCompile("`([^`]*)`")

// ValueName is what the help calls the value: FILE, N, LIST; "" for nothing.
func (f *Flag) ValueName() string {
	if m := inHelp.FindStringSubmatch(f.Usage); m != nil {
		return m[1]
	}
	return ""
}

// IsPath reports whether the value is a file or a folder, IsFolder whether it is a folder.
func (f *Flag) IsPath() bool {
	return f.IsFolder() || slices.Contains([]string{"FILE", "PATH", "REF"}, f.ValueName())
}

func (f *Flag) IsFolder() bool { return slices.Contains([]string{"FOLDER", "DIR"}, f.ValueName()) }

// ofKind is what the help calls a value that names a file, or a model, behind its kind:
// causal:FILE.
const ofKind = "KIND:WHAT"

// File is the file or folder that the value in force names, "" for none.
func (f *Flag) File() string {
	if f.ValueName() == ofKind {
		_, path, _ := strings.Cut(f.Text(), ":")
		return path
	}
	if !f.IsPath() {
		return ""
	}
	return f.Text()
}

// IsList reports whether the value is a list with commas.
func (f *Flag) IsList() bool {
	return f.ValueName() == "LIST" || strings.HasPrefix(f.Usage, "list: ")
}

// Plain is the help as plain text.
func (f *Flag) Plain() string { return strings.ReplaceAll(f.GetUsage(), "`", "") }

// Dashed is a flag as a user types it.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Set gives the flag a value, as the command line does.
func (f *Flag) Set(text string) error {
	f.from = Line
	return f.set(text)
}

// Replace puts a text in the place of the value, which comes from where that came.
func (f *Flag) Replace(text string) error { return f.set(text) }

// Typed is the flag as a user types it: --steps, -n, --set eta.
func (f *Flag) Typed() string {
	if f.Rare {
		return "--set " + f.Name
	}
	return Dashed(f.Name)
}

// Form is the flag with the name of its value: --steps N, --set eta=X, --offline.
func (f *Flag) Form() string {
	if !f.Takes() {
		return f.Typed()
	}
	return f.with(cmp.Or(f.ValueName(), "VALUE"))
}

// with is the flag with a value, as a user types both.
func (f *Flag) with(text string) string {
	if f.Rare {
		return f.Typed() + "=" + text
	}
	return f.Typed() + " " + text
}

// What follows makes a Flag one of the library's.

// Apply registers the flag by its long name.
func (f *Flag) Apply(set *flag.FlagSet) error {
	set.Var(f, f.Name, f.Usage)
	return nil
}

func (f *Flag) String() string { return cli.FlagStringer(f) }
func (f *Flag) IsSet() bool    { return f.from == Line }

// GetUsage is the help with the environment's variable.
func (f *Flag) GetUsage() string {
	if f.Env == "" || strings.Contains(f.Default, f.Env) {
		return f.Usage
	}
	return f.Usage + " [$" + f.Env + "]"
}

// GetDefaultText is what the help says of the default.
func (f *Flag) GetDefaultText() string {
	if f.Default != "" || !f.Takes() {
		return f.Default
	}
	return f.standard
}

// Set are the flags of a command.
type Set []*Flag

// Of are the flags of one of the library's commands, without its --help.
func Of(c *cli.Command) Set {
	var out Set
	for _, f := range c.Flags {
		if f, ok := f.(*Flag); ok {
			out = append(out, f)
		}
	}
	return out
}

// CLI are the flags as the library takes them.
func (s Set) CLI() []cli.Flag {
	var out []cli.Flag
	for _, f := range s {
		out = append(out, f)
	}
	return out
}

// Common marks the flags of the short help, and returns all.
func (s Set) Common(names ...string) Set {
	for _, name := range names {
		s.Find(name).Common = true
	}
	return s
}

// Rare makes --set NAME=VALUE of flags, and returns all.
func (s Set) Rare(names ...string) Set {
	for _, name := range names {
		s.Find(name).Rare = true
	}
	return s
}

// Typed is a flag as a user types it, also one that the command does not have. "grid paper" has
// a value.
func (s Set) Typed(flag string) string {
	name, value, valued := strings.Cut(flag, " ")
	f := s.Find(name)
	switch {
	case f == nil:
		return Dashed(flag)
	case valued:
		return f.with(value)
	}
	return f.Typed()
}

// Find is the flag of a long name, nil for none.
func (s Set) Find(name string) *Flag {
	for _, f := range s {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Without are the flags but for some.
func (s Set) Without(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return slices.Contains(names, f.Name) })
}

// Only are some of the flags.
func (s Set) Only(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return !slices.Contains(names, f.Name) })
}

// Names are the long names.
func (s Set) Names() []string {
	var out []string
	for _, f := range s {
		out = append(out, f.Name)
	}
	return out
}

// Given reports whether a flag stands on the command line, IsSet that it does or that the config
// file has it. A value of the file is as good as given, with one difference: where the command
// has no use for it, or another flag excludes it, it is left out silently and not refused.
func (s Set) Given(name string) bool { f := s.Find(name); return f != nil && f.from == Line }

func (s Set) IsSet(name string) bool {
	f := s.Find(name)
	return f != nil && (f.from == Line || f.from == File)
}

// Text is a flag's value as it is typed.
func (s Set) Text(name string) string { return s.Find(name).Text() }

// LeaveOut is for flags that exclude each other, or one that has no meaning here: err, where
// all stand on the command line, or several in one part of the config file and nowhere else.
// Else those of the file are left out, before the command's table what holds for all commands,
// and there is no error.
func (s Set) LeaveOut(err error, names ...string) error {
	var drop []*Flag
	for _, name := range names {
		if f := s.Find(name); f.from == File {
			drop = append(drop, f)
		}
	}
	if len(names) > 1 && len(drop) == len(names) {
		if drop = slices.DeleteFunc(drop, func(f *Flag) bool { return f.entry.command != "" }); len(drop) == len(names) {
			return err
		}
	}
	if len(drop) == 0 {
		return err
	}
	for _, f := range drop {
		f.from = Default
		f.reset()
	}
	return nil
}

// Unused refuses those of some flags that are set, which mean nothing with what.
func (s Set) Unused(what string, names ...string) error {
	for _, name := range names {
		if s.IsSet(name) {
			if err := s.LeaveOut(exit.Usagef("%s: has no meaning %s", s.Typed(name), what), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// asked reports whether a flag is set, and is no switch that is off.
func (s Set) asked(name string) bool {
	return s.IsSet(name) && (s.Find(name).Takes() || s.Text(name) == "true")
}

// Exclude refuses pairs of flags that do not go together.
func (s Set) Exclude(pairs ...[2]string) error {
	return s.ExcludeAs("%s and %s do not go together", pairs...)
}

// ExcludeAs is Exclude with a message of its own, a format for both flags.
func (s Set) ExcludeAs(message string, pairs ...[2]string) error {
	for _, p := range pairs {
		if s.asked(p[0]) && s.asked(p[1]) {
			if err := s.LeaveOut(exit.Usagef(message, s.Typed(p[0]), s.Typed(p[1])), p[:]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused is the error of a text that a flag cannot have.
func (f *Flag) refused(text string, err error) error {
	if text == "" {
		return exit.Usagef("%s: %w", f.Typed(), err)
	}
	return exit.Usagef("%s: %w", f.with(text), err)
}
