package flags

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// ConfigFlag is the flag, and EnvConfig the variable, that names the config file.
const (
	ConfigFlag = "config"
	EnvConfig  = "MDMGEN_CONFIG"
)

// maxConfig is the maximum size of the config file, in bytes.
const maxConfig = 1 << 20

// Config holds the defaults of a config file. A key applies to all commands with the flag or, in a
// command's table, to that command.
type Config struct {
	entries []entry
}

// entry is a key of the file.
type entry struct {
	command string // "" for all commands with the flag
	flag    string
	value   any // as decoded from TOML
	where   string
}

// ConfigPath returns the file to read: the one that --config or the environment names, else the
// user's own. named reports whether it was named; a named file must exist.
func ConfigPath(given string) (path string, named bool) {
	if path = cmp.Or(given, os.Getenv(EnvConfig)); path != "" {
		return path, true
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false // There is no home folder.
	}
	return filepath.Join(dir, "mdmgen", "config.toml"), false
}

// ReadConfig reads the config file and checks it against the flags of all commands. The result is
// empty if the file does not exist and was not named.
func ReadConfig(path string, named bool, commands []*cli.Command) (*Config, error) {
	c := &Config{}
	if path == "" || path == os.DevNull {
		return c, nil
	}
	data, err := plainfile.Read(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return c, nil
	case err != nil:
		return nil, exit.Usagef("config file %s: %w", path, err)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // Editors on Windows write a byte order mark.
	var tree map[string]any
	if err := toml.Unmarshal(data, &tree); err != nil {
		line := 1
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ = at.Position()
		}
		return nil, exit.Usagef("%s:%d: %w", path, line, err)
	}
	lines := keyLines(data)
	add := func(command, flag string, value any, key string) error {
		line := cmp.Or(lines[key], lines[command]) // the line of the table, for a key in {…}
		e := entry{command, flag, value, fmt.Sprintf("%s:%d", path, line)}
		if err := e.check(commands); err != nil {
			return exit.Usagef("%s: %w", e.where, err)
		}
		c.entries = append(c.entries, e)
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		table, ok := tree[key].(map[string]any)
		if !ok {
			if err := add("", key, tree[key], key); err != nil {
				return nil, err
			}
			continue
		}
		if !isCommand(commands, key) {
			return nil, exit.Usagef("%s:%d: no command is called %q%s", path, lines[key], key, Suggested(key, CommandNames(commands)))
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if err := add(key, name, table[name], key+"\x00"+name); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// keyLines maps each key of the document, its path joined by 0 bytes, to the line of its first
// occurrence. The document has been parsed without an error.
func keyLines(data []byte) map[string]int {
	lines := make(map[string]int)
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		path := ""
		if e.Kind == unstable.KeyValue {
			path = table
		}
		for it := e.Key(); it.Next(); {
			path = strings.TrimPrefix(path+"\x00"+string(it.Node().Data), "\x00")
			if lines[path] == 0 {
				lines[path] = p.Shape(it.Node().Raw).Start.Line
			}
		}
		if e.Kind != unstable.KeyValue {
			table = path
		}
	}
	return lines
}

// check returns an error for a key that no command knows or a value that no command takes.
func (e *entry) check(commands []*cli.Command) (err error) {
	var all Set
	known, read, word := false, false, false
	for _, c := range commands {
		if e.command != "" && c.Name != e.command {
			continue
		}
		set := Of(c)
		all = append(all, set...)
		f, text := e.of(set)
		if f == nil {
			continue
		}
		known = true
		if e.command == "" && f.Writes {
			continue
		}
		read = true
		if _, wrong := f.texts(text); wrong != nil && err == nil {
			err = fmt.Errorf("%s: %w", c.Name, wrong)
		}
		is, _ := e.value.(string)
		word = word || slices.Contains(f.Words, is)
	}
	switch {
	case e.flag == ConfigFlag, e.flag == Settings:
		return fmt.Errorf("%s: is not allowed in a config file", e.flag)
	case read && (err == nil || word && e.command == ""): // a word of one command, such as jsonl
		return nil
	case read:
		return fmt.Errorf("%s: %w", e.flag, err)
	case known:
		return fmt.Errorf("%s: names an output file, and would apply to every command: put it into the table of one command", e.flag)
	case e.command == "" && isCommand(commands, e.flag):
		return fmt.Errorf("%s: is a command: write its defaults into the table [%[1]s]", e.flag)
	}
	hint := Suggested(e.flag, all.Names())
	if f := all.Named(e.flag); f != nil { // a short name, which is not a key
		hint = "; did you mean " + f.Name + "?"
	}
	if e.command != "" {
		return fmt.Errorf("%s: %s does not have such a flag%s", e.flag, e.command, hint)
	}
	return fmt.Errorf("%s: no command has such a flag%s", e.flag, hint)
}

// of returns the flag of a command that an entry sets, nil for none, and its value. A synonym
// without a value, such as json, is set by true.
func (e *entry) of(set Set) (*Flag, any) {
	if f := set.Find(e.flag); f != nil && f.Name != ConfigFlag && f.Name != Settings {
		return f, e.value
	}
	if f, s := set.typed(e.flag); s != nil {
		on, isSwitch := e.value.(bool)
		switch {
		case s.takes():
			return f, strings.ReplaceAll(s.Value, "%s", fmt.Sprint(e.value))
		case on:
			return f, s.Value
		case isSwitch:
			return f, []any{} // as if the key were missing
		}
		return f, e.value // an error
	}
	return nil, nil
}

// CommandNames returns the names of commands.
func CommandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

func isCommand(commands []*cli.Command, name string) bool {
	return slices.Contains(CommandNames(commands), name)
}

// lookup returns the file's default for a flag, nil for none. The command's table takes precedence
// over the keys for all commands, which are ignored if the flag cannot have their value.
func (c *Config) lookup(cmd *cli.Command, flag *Flag) (found *entry, texts []string) {
	for i := range c.entries {
		e := &c.entries[i]
		all := e.command == ""
		f, value := e.of(Set{flag})
		if f == nil || !all && e.command != cmd.Name || all && (f.Writes || found != nil) {
			continue
		}
		if list, err := f.texts(value); err == nil {
			found, texts = e, list
		}
	}
	return found, texts
}
