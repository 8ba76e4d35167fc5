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

// ConfigFlag names the flag, and EnvConfig the variable, that name the config file.
const (
	ConfigFlag = "config"
	EnvConfig  = "MDMGEN_CONFIG"
)

// maxConfig bounds the config file, in bytes.
const maxConfig = 1 << 20

// Config holds the defaults of a config file: for all commands that have the flag or, in a
// table, for one.
type Config struct {
	entries []entry
}

// entry is a key of the file.
type entry struct {
	command string // "" for all that have the flag
	flag    string
	value   any // as TOML has it
	where   string
}

// ConfigPath is the file to read: the one that --config or the environment names, else the
// user's own. A named one must be there.
func ConfigPath(given string) (path string, named bool) {
	if path = cmp.Or(given, os.Getenv(EnvConfig)); path != "" {
		return path, true
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false // No home folder, no file.
	}
	return filepath.Join(dir, "mdmgen", "config.toml"), false
}

// ReadConfig reads the config file and checks it against the flags of all commands. Where
// there is none, and none was named, it is empty.
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
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // Editors on Windows write one.
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
		line := cmp.Or(lines[key], lines[command]) // In {…} it is the table's.
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

// keyLines has the line on which a key of the document first stands, by its path with 0 bytes
// between. The document has been read without an error.
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

// check refuses a key that no command knows, and a value that no command takes.
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
		return fmt.Errorf("%s: cannot stand in a config file", e.flag)
	case read && (err == nil || word && e.command == ""): // a word of one command, such as jsonl
		return nil
	case read:
		return fmt.Errorf("%s: %w", e.flag, err)
	case known:
		return fmt.Errorf("%s: names a file to write, and would be that of every command: write it into the table of one", e.flag)
	case e.command == "" && isCommand(commands, e.flag):
		return fmt.Errorf("%s: is a command: write its defaults into the table [%[1]s]", e.flag)
	}
	hint := Suggested(e.flag, all.Names())
	if f := all.Named(e.flag); f != nil { // by its short name, which is no key
		hint = "; did you mean " + f.Name + "?"
	}
	if e.command != "" {
		return fmt.Errorf("%s: %s does not have such a flag%s", e.flag, e.command, hint)
	}
	return fmt.Errorf("%s: no command has such a flag%s", e.flag, hint)
}

// of is the flag of a command that an entry is about, nil for none, and its value. A synonym
// without a value of its own, such as json, is true for what it stands for.
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
			return f, []any{} // as without the key
		}
		return f, e.value // refused
	}
	return nil, nil
}

// CommandNames are the names of commands.
func CommandNames(commands []*cli.Command) (names []string) {
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

func isCommand(commands []*cli.Command, name string) bool {
	return slices.Contains(CommandNames(commands), name)
}

// lookup is the default that the file has for a flag, nil for none. The table of the command
// comes before what holds for all; of that, a value that the flag cannot have is for others.
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
