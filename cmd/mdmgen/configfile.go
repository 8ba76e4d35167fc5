package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/plainfile"
)

// envConfig names the config file, as --config does.
const envConfig = "MDMGEN_CONFIG"

// maxConfig bounds the config file, in bytes.
const maxConfig = 1 << 20

// configFile is what a config file says: defaults of flags, for all commands that have the
// flag or, in a table, for one.
type configFile struct {
	path    string
	entries []configEntry
}

// configEntry is a key of the file.
type configEntry struct {
	command string // "" for all that have the flag
	flag    string
	value   any // as TOML has it
	line    int
}

// configPath is the file to read: the one that --config or the environment names, else the
// user's own. named says that it must be there.
func configPath(given string) (path string, named bool) {
	for _, path := range []string{given, os.Getenv(envConfig)} {
		if path != "" {
			return path, true
		}
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false // No home folder, no file.
	}
	return filepath.Join(dir, "mdmgen", "config.toml"), false
}

// readConfig reads the config file and checks it against the flags of all commands. Where
// there is none, and none was named, it is empty.
func readConfig(path string, named bool, commands []*cli.Command) (*configFile, error) {
	f := &configFile{path: path}
	if path == "" || path == os.DevNull {
		return f, nil
	}
	data, err := plainfile.Read(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return f, nil
	case err != nil:
		return nil, usagef("config file %s: %w", path, err)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // Editors on Windows write one.
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		line := 1
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		return nil, usagef("%s:%d: %s", path, line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	lines := keyLines(data)
	for key, value := range inOrder(tree) {
		table, ok := value.(map[string]any)
		if !ok {
			f.entries = append(f.entries, configEntry{"", key, value, lines[key]})
			continue
		}
		if !isCommand(commands, key) {
			hint := ""
			if s := suggestion(commands, key); isCommand(commands, s) {
				hint = "; did you mean [" + s + "]?"
			}
			return nil, usagef("%s:%d: no command is called %q%s", path, lines[key], key, hint)
		}
		for name, value := range inOrder(table) {
			f.entries = append(f.entries, configEntry{key, name, value, cmp.Or(lines[key+"\x00"+name], lines[key])})
		}
	}
	slices.SortStableFunc(f.entries, func(a, b configEntry) int { return a.line - b.line })
	for _, e := range f.entries {
		if err := e.check(commands); err != nil {
			return nil, usagef("%s:%d: %s", path, e.line, err)
		}
	}
	return f, nil
}

// keyLines tells on which line a key of the document stands first, by its path with 0 bytes
// between; keys in {…} stand where that does. The document has been read without an error.
func keyLines(data []byte) map[string]int {
	lines := make(map[string]int)
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		var path []string
		if e.Kind == unstable.KeyValue {
			path = table
		}
		line := 0
		for it := e.Key(); it.Next(); {
			if line == 0 {
				line = p.Shape(it.Node().Raw).Start.Line
			}
			path = append(path[:len(path):len(path)], string(it.Node().Data))
			if key := strings.Join(path, "\x00"); lines[key] == 0 {
				lines[key] = line
			}
		}
		if e.Kind != unstable.KeyValue {
			table = path
		}
	}
	return lines
}

// check refuses a key that no command knows and a value that a command cannot take.
func (e configEntry) check(commands []*cli.Command) error {
	var all []cli.Flag
	known, read, takes := false, false, ""
	var wrong error
	for _, c := range commands {
		if e.command != "" && c.Name != e.command {
			continue
		}
		all = append(all, c.Flags...)
		f := flagNamed(c, e.flag)
		if f == nil {
			continue
		}
		known = true
		if !e.holds(c, f) {
			continue
		}
		read = true
		_, err := configValue(f, e.value)
		switch {
		case err == nil:
			takes = c.Name
		case wrong == nil && e.command == "":
			wrong = fmt.Errorf("%s: %s takes %w", e.flag, c.Name, err)
		case wrong == nil:
			wrong = fmt.Errorf("%s: must be %w", e.flag, err)
		}
	}
	switch {
	case !known && isCommand(commands, e.flag) && e.command == "":
		return fmt.Errorf("%s: is a command: write its defaults into the table [%s]", e.flag, e.flag)
	case e.flag == configFlag:
		return fmt.Errorf("%s: names this file, and cannot stand in it", e.flag)
	case wrong != nil && takes != "":
		return fmt.Errorf("%w: write it into the tables of the commands that are meant, such as [%s]", wrong, takes)
	case wrong != nil:
		return wrong
	case !known:
		where := "no command has"
		if e.command != "" {
			where = e.command + " does not have"
		}
		hint := ""
		s := strings.TrimLeft(cli.SuggestFlag(all, e.flag, true), "-")
		for _, f := range all { // by its long name, the key
			if slices.Contains(f.Names(), s) {
				hint = "; did you mean " + f.Names()[0] + "?"
				break
			}
		}
		return fmt.Errorf("%s: %s such a flag%s", e.flag, where, hint)
	case !read:
		return fmt.Errorf("%s: names a file to write, and would be that of every command: write it into the table of one", e.flag)
	}
	return nil
}

// isCommand says that a command has the name.
func isCommand(commands []*cli.Command, name string) bool {
	return slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.Name == name })
}

// holds says whether the entry is a default of the command's flag. A file to write is one
// command's own.
func (e configEntry) holds(c *cli.Command, f cli.Flag) bool {
	return e.command == c.Name || e.command == "" && !writesFile(c.Name, f.Names()[0])
}

// lookup is the default that the file has for a flag, nil for none. The table of the command
// comes before what holds for all.
func (f *configFile) lookup(c *cli.Command, flag cli.Flag) *configEntry {
	var found *configEntry
	for i, e := range f.entries {
		if e.flag == flag.Names()[0] && e.holds(c, flag) && (found == nil || e.command != "") {
			found = &f.entries[i]
		}
	}
	return found
}

// where is the place of an entry, as FILE:LINE.
func (f *configFile) where(e *configEntry) string { return fmt.Sprintf("%s:%d", f.path, e.line) }

// flagNamed is a command's flag by its first name, which is the key in the file, nil for
// none.
func flagNamed(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		if f.Names()[0] == name {
			return f
		}
	}
	return nil
}
