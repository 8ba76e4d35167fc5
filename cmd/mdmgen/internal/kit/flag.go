// Package kit holds what commands share: their flags, where results are printed and written, progress
// and notices for the user, and the provenance of records.
//
// A flag is parsed into a field of its command's struct. Its value comes from the first of these that
// sets it: the command line, the environment, the program's own default.
package kit

import (
	"cmp"
	"flag"
	"regexp"
	"slices"
	"strings"
)

// Categories of flags in the help text.
const (
	CatInput    = "Input"            // what is read
	CatEstimate = "What is computed" // numbers, and how
	CatSample   = "Sampling"         // samplers and their settings
	CatBench    = "Measurement"      // what bench measures
	CatQuality  = "Quality"          // of bench's samples
	CatOutput   = "Output"           // files and formats
	CatGeneral  = "General"          // everything else
)

// Categories lists the categories in the order of the help.
var Categories = []string{CatInput, CatEstimate, CatSample, CatBench, CatQuality, CatOutput, CatGeneral}

// Flag is a flag of a command. It is made by a function that determines which values it takes:
// [Int], [Text], [Words] and so on. It belongs to one run of the program.
type Flag struct {
	Name, Alias string
	Category    string
	// Usage is the help text, with the name of the value in backquotes.
	Usage string
	// Default is the default in the help, if not the flag's initial value.
	Default string
	// Env is the environment variable for the flag. If the flag is Lazy, only a command that uses
	// the value reads the variable.
	Env  string
	Lazy bool
	// Words are the completions of the value. A flag made by [Words] takes nothing else.
	Words []string
	// Common reports whether the flag is in the short help.
	Common bool
	// Rare reports whether the flag is typed as --set NAME=VALUE.
	Rare bool
	// Synonyms are other ways to type the flag. Its help names them.
	Synonyms []Synonym
	// Writes reports whether the value names a file or folder to write.
	Writes bool

	// onOrOff marks a flag that takes no value.
	onOrOff bool
	// set parses a value, and show returns the current one; standard is the default, list the values
	// of a flag that may be repeated.
	set      func(text string) error
	show     func() string
	standard string
	list     *[]string

	// given and inEnv report whether the value comes from the command line or the environment, and
	// typed is the flag as the command line has it.
	given, inEnv bool
	typed        string
	// more marks a command's own --set.
	more bool
}

// Synonym is another name of a flag.
type Synonym struct {
	Name string
	// Value is the value for which the name alone stands, as --json for --format json. A synonym
	// whose Value has %s takes a value, which replaces %s.
	Value string
}

// takes reports whether a value follows the name.
func (s Synonym) takes() bool { return strings.Contains(s.Value, "%s") }

// Names returns the flag's names, the long one first.
func (f *Flag) Names() []string {
	if f.Alias == "" {
		return []string{f.Name}
	}
	return []string{f.Name, f.Alias}
}

// Text returns the current value as typed.
func (f *Flag) Text() string { return f.show() }

// Texts returns the values of a flag that may be repeated, else the single value.
func (f *Flag) Texts() []string {
	if f.list != nil {
		return *f.list
	}
	return []string{f.Text()}
}

// IsSet reports whether the value comes from the command line.
func (f *Flag) IsSet() bool { return f.given }

// InEnvironment reports whether the value comes from the environment.
func (f *Flag) InEnvironment() bool { return f.inEnv }

// Takes reports whether the flag takes a value. Only flags that are on or off do not.
func (f *Flag) Takes() bool { return !f.onOrOff }

// inHelp matches the name of the value in the help.
var inHelp = regexp.MustCompile("`([^`]*)`")

// valueName returns the name of the value in the help: FILE, N, LIST; "" for none.
func (f *Flag) valueName() string {
	if m := inHelp.FindStringSubmatch(f.Usage); m != nil {
		return m[1]
	}
	return ""
}

// IsPath reports whether the value is a file or a folder, IsFolder whether it is a folder.
func (f *Flag) IsPath() bool {
	return f.IsFolder() || slices.Contains([]string{"FILE", "PATH", "REF"}, f.valueName())
}

// IsFolder reports whether the value is a folder.
func (f *Flag) IsFolder() bool { return slices.Contains([]string{"FOLDER", "DIR"}, f.valueName()) }

// ofKind is the name in the help of a value with a kind before a file or a model, such as
// causal:FILE.
const ofKind = "KIND:WHAT"

// File returns the file or folder that the current value names, "" for none.
func (f *Flag) File() string {
	if f.valueName() == ofKind {
		_, path, _ := strings.Cut(f.Text(), ":")
		return path
	}
	if !f.IsPath() {
		return ""
	}
	return f.Text()
}

// IsList reports whether the value is a comma-separated list.
func (f *Flag) IsList() bool {
	return f.valueName() == "LIST" || strings.HasPrefix(f.Usage, "list: ")
}

// Plain returns the help as plain text, with the environment variable.
func (f *Flag) Plain() string {
	text := strings.ReplaceAll(f.Usage, "`", "")
	if f.Env != "" && !strings.Contains(f.Default, f.Env) {
		text += " [$" + f.Env + "]"
	}
	return text
}

// Help returns the help as plain text, with the default if there is one.
func (f *Flag) Help() string {
	if text := cmp.Or(f.Default, f.standard); f.Takes() && text != "" && text != "none" {
		return f.Plain() + " (default: " + text + ")"
	}
	return f.Plain()
}

// Dashed returns a flag's name as a user types it.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// Set sets the value as the command line does.
func (f *Flag) Set(text string) error {
	f.given = true
	return f.set(text)
}

// Typed returns the flag as the user typed it or, if it is not given, would: --steps, -n, --set eta.
func (f *Flag) Typed() string {
	if f.Rare && f.typed == "" {
		return setting + f.Name
	}
	return cmp.Or(f.typed, Dashed(f.Name))
}

// setting begins a flag in the form that all commands take.
const setting = "--" + Settings + " "

// Form returns the flag with the name of its value: --steps N, --set eta=X, --offline.
func (f *Flag) Form() string {
	if !f.Takes() {
		return f.Typed()
	}
	return f.with(cmp.Or(f.valueName(), "VALUE"))
}

// with returns the flag with a value, as a user types both.
func (f *Flag) with(text string) string {
	return valued(f.Typed(), text)
}

// valued returns a flag as typed with a value.
func valued(typed, text string) string {
	if strings.HasPrefix(typed, setting) {
		return typed + "=" + text
	}
	return typed + " " + text
}

// The following methods make a Flag one of the library's.

// Apply registers the flag by its long name.
func (f *Flag) Apply(set *flag.FlagSet) error {
	set.Var(f, f.Name, f.Usage)
	return nil
}

// String returns the form of the flag.
func (f *Flag) String() string { return f.Form() }
