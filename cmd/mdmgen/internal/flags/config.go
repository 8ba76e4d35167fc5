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
	// EnvShards tells --shard auto the number of parts where a scheduler does not.
	EnvShards = "MDMGEN_SHARDS"
)

// maxConfig bounds the config file, in bytes.
const maxConfig = 1 << 20

// Config is what a config file says: defaults of flags, for all commands that have the flag
// or, in a table, for one.
type Config struct {
	// Path is the file, which need not be there.
	Path    string
	entries []entry
}

// entry is a key of the file.
type entry struct {
	command string // "" for all that have the flag
	flag    string
	value   any // as TOML has it
	line    int
	where   string // FILE:LINE
}

// ConfigPath is the file to read: the one that --config or the environment names, else the
// user's own. named says that it must be there.
func ConfigPath(given string) (path string, named bool) {
	for _, path := range []string{given, os.Getenv(EnvConfig)} {
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

// ReadConfig reads the config file and checks it against the flags of all commands. Where
// there is none, and none was named, it is empty.
func ReadConfig(path string, named bool, commands []*cli.Command) (*Config, error) {
	f := &Config{Path: path}
	if path == "" || path == os.DevNull {
		return f, nil
	}
	data, err := plainfile.Read(path, maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return f, nil
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
		return nil, exit.Usagef("%s:%d: %s", path, line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	lines := keyLines(data)
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		value := tree[key]
		table, ok := value.(map[string]any)
		if !ok {
			f.entries = append(f.entries, entry{"", key, value, lines[key], ""})
			continue
		}
		if !isCommand(commands, key) {
			hint := ""
			if s := Suggestion(commands, key); isCommand(commands, s) {
				hint = "; did you mean [" + s + "]?"
			}
			return nil, exit.Usagef("%s:%d: no command is called %q%s", path, lines[key], key, hint)
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			f.entries = append(f.entries, entry{key, name, table[name], cmp.Or(lines[key+"\x00"+name], lines[key]), ""})
		}
	}
	slices.SortStableFunc(f.entries, func(a, b entry) int { return a.line - b.line })
	for i := range f.entries {
		e := &f.entries[i]
		e.where = fmt.Sprintf("%s:%d", path, e.line)
		if err := e.check(commands); err != nil {
			return nil, exit.Usagef("%s: %s", e.where, err)
		}
		if e.flag == "json" && e.value == true {
			e.flag, e.value = "format", "json" // so that the table comes before what holds for all
		}
		if slices.ContainsFunc(f.entries[:i], func(b entry) bool { return b.command == e.command && b.flag == e.flag }) {
			return nil, exit.Usagef("%s: json is short for format = \"json\": leave one out", e.where)
		}
	}
	// What is left says false, as all commands do by themselves.
	f.entries = slices.DeleteFunc(f.entries, func(e entry) bool { return e.flag == "json" && e.command == "" })
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
func (e *entry) check(commands []*cli.Command) error {
	var all Set
	known, read, takes, became := false, false, "", ""
	var wrong error
	for _, c := range commands {
		if e.command != "" && c.Name != e.command {
			continue
		}
		set := Of(c)
		all = append(all, set...)
		f := set.Find(e.flag)
		if f == nil {
			became = cmp.Or(became, renamed(c.Name, e.flag))
			continue
		}
		known = true
		if !e.holds(c, f) {
			continue
		}
		read = true
		err := f.takes(e.value)
		r, _ := err.(*refusal)
		switch {
		case err == nil:
			takes = c.Name
		case f.Words != nil && e.anothers(commands):
		case wrong == nil && e.command == "":
			wrong = fmt.Errorf("%s: %s takes %s", e.flag, c.Name, r.form)
		case wrong == nil:
			wrong = fmt.Errorf("%s: must be %s", e.flag, r.form)
		}
	}
	switch {
	case !known && isCommand(commands, e.flag) && e.command == "":
		return fmt.Errorf("%s: is a command: write its defaults into the table [%s]", e.flag, e.flag)
	case e.flag == ConfigFlag:
		return fmt.Errorf("%s: names this file, and cannot stand in it", e.flag)
	case wrong != nil && takes != "":
		return fmt.Errorf("%w: write it into the tables of the commands that are meant, such as [%s]", wrong, takes)
	case wrong != nil:
		return wrong
	case !known && became != "":
		return fmt.Errorf("%s: is %s now", e.flag, strings.TrimLeft(became, "-"))
	case !known:
		where := "no command has"
		if e.command != "" {
			where = e.command + " does not have"
		}
		hint := ""
		name := Nearest(e.flag, all.Names())
		if f := all.Named(e.flag); f != nil { // by its short name, which is no key
			name = f.Name
		}
		if name != "" {
			hint = "; did you mean " + name + "?"
		}
		return fmt.Errorf("%s: %s such a flag%s", e.flag, where, hint)
	case !read:
		return fmt.Errorf("%s: names a file to write, and would be that of every command: write it into the table of one", e.flag)
	}
	return nil
}

// anothers says that a value for all commands is a word of a command's flag. Commands whose
// flag of that name has other words do without it: --format jsonl, say.
func (e *entry) anothers(commands []*cli.Command) bool {
	return e.command == "" && slices.ContainsFunc(commands, func(c *cli.Command) bool {
		f := Of(c).Find(e.flag)
		word, ok := e.value.(string)
		return f != nil && ok && slices.Contains(f.Words, word)
	})
}

// Suggestion is the name of the command that is most like name, "" where none is near.
func Suggestion(commands []*cli.Command, name string) string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return Nearest(name, names)
}

// isCommand says that a command has the name.
func isCommand(commands []*cli.Command, name string) bool {
	return slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.Name == name })
}

// holds says whether the entry is a default of the command's flag. A file to write is one
// command's own.
func (e *entry) holds(c *cli.Command, f *Flag) bool {
	return e.command == c.Name || e.command == "" && !f.Writes
}

// lookup is the default that the file has for a flag, nil for none. The table of the command
// comes before what holds for all.
func (f *Config) lookup(c *cli.Command, flag *Flag) *entry {
	var found *entry
	for i := range f.entries {
		e := &f.entries[i]
		if e.flag != flag.Name || !e.holds(c, flag) || e.command == "" && found != nil {
			continue
		}
		if e.command == "" && flag.Words != nil && flag.takes(e.value) != nil {
			continue // another command's word
		}
		found = e
	}
	return found
}
