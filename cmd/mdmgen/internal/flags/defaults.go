package flags

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
)

// Fill gives the flags of a command that are not given what the environment or the config
// file says.
func Fill(c *cli.Command, given Given, file *Config) error {
	for _, f := range Of(c) {
		if _, ok := given[f]; ok {
			continue
		}
		if text := os.Getenv(f.Env); f.Env != "" && text != "" {
			f.from = Environment
			if !f.Lazy {
				_ = f.value.set(text) // Whoever uses it refuses what it cannot be, and tells the variable.
			}
			continue
		}
		e := file.lookup(c, f)
		if e == nil {
			continue
		}
		list, err := f.texts(e.value)
		for _, text := range list {
			if err == nil {
				err = f.value.set(text)
			}
		}
		if err != nil {
			return exit.Usagef("%s: %s: %w", e.where, e.flag, err)
		}
		if len(list) > 0 { // [] takes away what holds for all commands.
			f.from, f.entry = File, e
		}
	}
	return nil
}

// inFile says, of each kind of flag, what its value must be in the config file, and of which
// kinds such a value is.
var inFile = map[kind]struct {
	form  string
	takes []kind
}{
	aText:     {"a text", []kind{aText, whole, number}},
	whole:     {"a whole number", []kind{whole}},
	number:    {"a number", []kind{whole, number}},
	boolean:   {"true or false", []kind{boolean}},
	duration:  {"a text such as \"90s\" or \"10m\"", []kind{aText}},
	manyTexts: {"a text or a list of texts", []kind{aText, manyTexts}},
}

// texts are a value of the config file as it would be typed. The error says what it must be.
func (f *Flag) texts(value any) ([]string, error) {
	list, is, ok := asTyped(value)
	want := inFile[f.value.kind()]
	if !ok || !slices.Contains(want.takes, is) || f.IsPath() && (is == whole || is == number) {
		if f.value.kind() == aText && f.IsList() {
			want.form += ", in which commas divide a list"
		}
		return nil, must("%s", cmp.Or(f.form, want.form))
	}
	for i := range list {
		list[i] = fromHome(f, list[i])
	}
	return list, nil
}

// asTyped is a TOML value as it would be typed, and of which kind it is; false for one that no
// flag has.
func asTyped(value any) (list []string, is kind, ok bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, aText, true
	case int64:
		return []string{strconv.FormatInt(v, 10)}, whole, true
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}, number, true
	case bool:
		return []string{strconv.FormatBool(v)}, boolean, true
	case []any:
		for _, item := range v {
			text, isText := item.(string)
			if !isText {
				return nil, 0, false
			}
			list = append(list, text)
		}
		return list, manyTexts, true
	}
	return nil, 0, false
}

// takes says whether a flag takes a value of the config file; the error says what it must be.
func (f *Flag) takes(value any) error {
	list, err := f.texts(value)
	for _, text := range list {
		if err == nil {
			err = f.value.check(text)
		}
	}
	return err
}

// Shown is a flag's value before the command runs, and where it comes from, "" for the
// program's own default.
func (f *Flag) Shown(c *cli.Command, file *Config) (value, from string) {
	if text := os.Getenv(f.Env); f.Env != "" && text != "" {
		return text, f.Env
	}
	if e := file.lookup(c, f); e != nil {
		list, _ := f.texts(e.value) // It was checked.
		return strings.Join(list, ", "), e.where
	}
	return f.GetDefaultText(), ""
}

// fromHome puts the home folder in the place of "~", which a shell does on the command line.
func fromHome(f *Flag, path string) string {
	if kind, what, ok := strings.Cut(path, ":~/"); ok && f.ValueName() == ofKind {
		if home, err := os.UserHomeDir(); err == nil {
			return kind + ":" + filepath.Join(home, what)
		}
	}
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil || !f.IsPath() {
		return path
	}
	return filepath.Join(home, rest)
}

// subject finds what an error speaks of first: "--steps 0: …", "generate: floor is 2: …",
// "bound: 0 steps: …".
var subject = regexp.MustCompile(`^(?:[a-z ]+: )?(?:[-+.0-9e]+ )?-{0,2}([A-Za-z][A-Za-z-]*)\b`)

// Locate puts the place in the config file before an error about a value from there.
func (s Set) Locate(err error) error {
	if err == nil {
		return nil
	}
	if m := subject.FindStringSubmatch(err.Error()); m != nil {
		for _, f := range s {
			if f.from == File && (f.Name == m[1] || f.Alias == m[1]) {
				return fmt.Errorf("%s: %w", f.Where(), err)
			}
		}
	}
	return err
}

// otherVariables are those that stand for no flag, or are read elsewhere, and those of the tests.
var otherVariables = []string{EnvConfig, EnvShards, "MDMGEN_CACHE", "MDMGEN_OFFLINE", "MDMGEN_REFERENCE", "MDMGEN_REQUIRE_RUNTIME"}

// UnknownVariables says of each variable of the environment that looks like the program's and is
// not that nothing reads it.
func UnknownVariables(commands []*cli.Command) []string {
	known := slices.Clone(otherVariables)
	var all Set
	for _, c := range commands {
		for _, f := range Of(c) {
			if all = append(all, f); f.Env != "" {
				known = append(known, f.Env)
			}
		}
	}
	var out []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "MDMGEN_") || slices.Contains(known, name) {
			continue
		}
		hint := ""
		flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "MDMGEN_")), "_", "-")
		if f := all.Find(flag); f != nil {
			hint = ": write " + f.Name + " into the config file"
		} else if near := Nearest(name, known); near != "" {
			hint = "; did you mean " + near + "?"
		}
		out = append(out, name+" is set, and nothing reads it"+hint)
	}
	slices.Sort(out)
	return out
}
