package flags

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// Fill gives the flags of a command that are not given the values of the environment or of the
// config file.
func Fill(c *cli.Command, file *Config) {
	for _, f := range Of(c) {
		if f.from == Line {
			continue
		}
		if text := os.Getenv(f.Env); f.Env != "" && text != "" {
			f.from = Environment
			if !f.Lazy {
				_ = f.set(text) // The command refuses what it cannot be, and names the variable.
			}
			continue
		}
		e, texts := file.lookup(c, f)
		for _, text := range texts { // [] takes away what holds for all commands.
			_ = f.set(text) // It was checked.
			f.from, f.entry = File, e
		}
	}
}

// texts are a value of the config file as it would be typed, checked. A flag that may be repeated
// takes a list.
func (f *Flag) texts(value any) (list []string, err error) {
	values, many := value.([]any)
	if !many {
		values = []any{value}
	}
	for _, v := range values {
		text, ok := typedAs(v)
		if !ok || many && !f.Repeats() {
			return nil, f.wrongKind()
		}
		text = fromHome(f, text)
		if err := f.check(text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// wrongKind is the error of a table, a date, or a list where one value is wanted.
func (f *Flag) wrongKind() error {
	switch {
	case f.Repeats():
		return errors.New("must be a text or a list of texts")
	case f.IsList():
		return errors.New("must be a text, in which commas divide a list")
	}
	return errors.New("must be one value")
}

// typedAs is a TOML value as it would be typed; false for one that is no text, number or truth.
func typedAs(value any) (string, bool) {
	switch value.(type) {
	case string, int64, float64, bool:
		return fmt.Sprint(value), true
	}
	return "", false
}

// Shown is a flag's value before the command runs, and where it comes from, "" for the
// program's own default.
func (f *Flag) Shown(c *cli.Command, file *Config) (value, from string) {
	if text := os.Getenv(f.Env); f.Env != "" && text != "" {
		return text, f.Env
	}
	if e, texts := file.lookup(c, f); e != nil {
		return strings.Join(texts, ", "), e.where
	}
	return f.GetDefaultText(), ""
}

// fromHome puts the home folder in the place of "~", which a shell does on the command line.
func fromHome(f *Flag, path string) string {
	prefix := ""
	if f.ValueName() == ofKind {
		if at := strings.Index(path, ":"); at >= 0 {
			prefix, path = path[:at+1], path[at+1:]
		}
	} else if !f.IsPath() {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	return prefix + path
}

// FromFile are the flags that have their values from the config file.
func (s Set) FromFile() (names []string) {
	for _, f := range s {
		if f.from == File {
			names = append(names, f.Name)
		}
	}
	return names
}
