package flags

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// Fill sets the flags that are not on the command line to the values of the environment or the
// config file.
func Fill(c *cli.Command, file *Config) {
	for _, f := range Of(c) {
		if f.from == Line {
			continue
		}
		if text := os.Getenv(f.Env); f.Env != "" && text != "" {
			f.from = Environment
			if !f.Lazy {
				_ = f.set(text) // The command rejects an invalid value, and names the variable.
			}
			continue
		}
		e, texts := file.lookup(c, f)
		for _, text := range texts { // [] removes a value for all commands.
			_ = f.set(text) // It has been checked.
			f.from, f.entry = File, e
		}
	}
}

// texts returns a value of the config file as it would be typed, checked. Only a flag that may be
// repeated takes a list.
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

// wrongKind returns the error for a table, a date, or a list instead of one value.
func (f *Flag) wrongKind() error {
	switch {
	case f.Repeats():
		return errors.New("must be a text or a list of texts")
	case f.IsList():
		return errors.New("must be a text, in which commas divide a list")
	}
	return errors.New("must be one value")
}

// typedAs returns a TOML value as it would be typed; false unless it is a string, a number or a
// boolean.
func typedAs(value any) (string, bool) {
	switch value.(type) {
	case string, int64, float64, bool:
		return fmt.Sprint(value), true
	}
	return "", false
}

// Shown returns a flag's value before the command runs, and its source, "" for the program's own
// default.
func (f *Flag) Shown(c *cli.Command, file *Config) (value, from string) {
	if text := os.Getenv(f.Env); f.Env != "" && text != "" {
		return text, f.Env
	}
	if e, texts := file.lookup(c, f); e != nil {
		return strings.Join(texts, ", "), e.where
	}
	return f.GetDefaultText(), ""
}

// fromHome expands a leading "~" to the home folder, as a shell does on the command line.
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

// FromFile returns the names of the flags whose values come from the config file.
func (s Set) FromFile() (names []string) {
	for _, f := range s {
		if f.from == File {
			names = append(names, f.Name)
		}
	}
	return names
}
