package flags

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/cli/exit"
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

// texts are a value of the config file as it would be typed. The error says what it must be.
func (f *Flag) texts(value any) ([]string, error) {
	form := ""
	switch v := value.(type) {
	case string:
		switch f.value.kind() {
		case aText, manyTexts, duration:
			return []string{fromHome(f, v)}, nil
		}
	case int64:
		switch f.value.kind() {
		case aText:
			if f.IsPath() {
				break
			}
			fallthrough
		case whole, number:
			return []string{strconv.FormatInt(v, 10)}, nil
		}
	case float64:
		switch f.value.kind() {
		case aText:
			if f.IsPath() {
				break
			}
			fallthrough
		case number:
			return []string{strconv.FormatFloat(v, 'g', -1, 64)}, nil
		}
	case bool:
		if f.value.kind() == boolean {
			return []string{strconv.FormatBool(v)}, nil
		}
	case []any:
		var out []string
		for _, item := range v {
			if text, ok := item.(string); ok {
				out = append(out, fromHome(f, text))
			}
		}
		if f.value.kind() == manyTexts && len(out) == len(v) {
			return out, nil
		}
	}
	switch f.value.kind() {
	case aText:
		if form = "a text"; f.IsList() {
			form = "a text, in which commas divide a list"
		}
	case whole:
		form = "a whole number"
	case number:
		form = "a number"
	case boolean:
		form = "true or false"
	case duration:
		form = "a text such as \"90s\" or \"10m\""
	case manyTexts:
		form = "a text or a list of texts"
	}
	return nil, must("%s", cmp.Or(f.form, form))
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
