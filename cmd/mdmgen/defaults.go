package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/samplers"

	"github.com/urfave/cli/v2"
)

// A flag's value is the one that is given on the command line, else that of its environment
// variable, else the config file's, else its own default. A value of the file is for the
// flag's readers as good as given, [cli.Context.IsSet] says so, with one difference: where
// the command has no use for it, or another flag excludes it, it is left out silently and not
// refused ([leaveOut]).

// configured are the values of a run that come from the config file, by flag.
type configured struct {
	file   *configFile
	values map[cli.Flag]*configValued
}

// configValued is a flag's value that comes from the file.
type configValued struct {
	entry *configEntry
	// drop gives the flag its own default back, as if the file had none.
	drop func()
}

// configuredKey is where a run keeps them.
const configuredKey = "configured"

// readDefaults reads the config file and puts what it and the environment say into the flags
// of the command that runs.
func readDefaults(app *cli.App, c *cli.Command, given map[cli.Flag]string) (*configured, error) {
	flag, ok := given[flagNamed(c, configFlag)]
	if ok && flag == "" {
		return nil, usagef("--%s: name a file, or %s for none", configFlag, os.DevNull)
	}
	path, named := configPath(flag)
	file, err := readConfig(path, named, app.Commands)
	if err != nil {
		return nil, err
	}
	values, err := configure(c, given, file)
	app.Metadata = map[string]any{configuredKey: values}
	return values, err
}

// configure puts the environment's and the file's values into the flags of a command that
// are not given, before they are read.
func configure(c *cli.Command, given map[cli.Flag]string, file *configFile) (*configured, error) {
	out := &configured{file, make(map[cli.Flag]*configValued)}
	for _, f := range c.Flags {
		if _, ok := given[f]; ok {
			continue
		}
		if name := environment(f); name != "" && os.Getenv(name) != "" {
			// Most variables are read where they are needed; two are plain defaults.
			if s, ok := f.(*cli.StringFlag); ok && (name == envModel || name == envDevice) {
				s.Value = os.Getenv(name)
			}
			continue
		}
		e := file.lookup(c, f)
		if e == nil {
			continue
		}
		value, err := configValue(f, e.value)
		if err != nil {
			return nil, usagef("%s: %s: must be %w", file.where(e), e.flag, err)
		}
		out.values[f] = &configValued{e, setDefault(f, value)}
	}
	return out, nil
}

// variable finds the environment variable in a flag's help.
var variable = regexp.MustCompile(`\$(MDMGEN_[A-Z]+)`)

// environment is the variable that stands for a flag, as its help says; "" for none.
func environment(f cli.Flag) string {
	d := f.(cli.DocGenerationFlag)
	if m := variable.FindStringSubmatch(d.GetUsage() + d.GetDefaultText()); m != nil {
		return m[1]
	}
	return ""
}

// configValue is a value of the file as the flag has it. The error says what it must be.
func configValue(f cli.Flag, value any) (any, error) {
	n, whole := value.(int64)
	text, isText := value.(string)
	switch f := f.(type) {
	case *optionFlag:
		text, err := configValue(f.StringFlag, value)
		if err == nil {
			err = f.option.Set(new(samplers.Options), text.(string))
		}
		if err != nil {
			return nil, errors.New(f.option.Form())
		}
		return text, nil
	case *cli.StringFlag:
		number, isFloat := value.(float64)
		switch {
		case isText:
			return fromHome(f, text), nil
		case isList(f) && !whole && !isFloat:
			return nil, fmt.Errorf("a text, in which commas divide a list")
		case takesPath(f) || !whole && !isFloat:
			return nil, fmt.Errorf("a text")
		case whole:
			return strconv.FormatInt(n, 10), nil
		}
		return strconv.FormatFloat(number, 'g', -1, 64), nil
	case *cli.IntFlag:
		if whole && n >= math.MinInt && n <= math.MaxInt {
			return int(n), nil
		}
		return nil, fmt.Errorf("a whole number")
	case *cli.Uint64Flag:
		if whole && n >= 0 {
			return uint64(n), nil
		}
		return nil, fmt.Errorf("a whole number of at least 0")
	case *cli.Float64Flag:
		if x, ok := value.(float64); ok {
			return x, nil
		}
		if whole {
			return float64(n), nil
		}
		return nil, fmt.Errorf("a number")
	case *cli.BoolFlag:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, fmt.Errorf("true or false")
	case *cli.DurationFlag:
		if d, err := time.ParseDuration(text); isText && err == nil {
			return d, nil
		}
		return nil, fmt.Errorf("a text such as \"90s\" or \"10m\"")
	case *cli.StringSliceFlag:
		if isText {
			return []string{text}, nil
		}
		list, ok := value.([]any)
		var out []string
		for _, item := range list {
			text, isText := item.(string)
			ok = ok && isText
			out = append(out, text)
		}
		if ok {
			return out, nil
		}
		return nil, fmt.Errorf("a text or a list of texts")
	}
	panic(fmt.Sprintf("flag %s is of a kind that no config file has: %T", f.Names()[0], f))
}

// fromHome puts the home folder in the place of "~", which a shell does on the command line.
func fromHome(f cli.Flag, path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil || !takesPath(f) {
		return path
	}
	return filepath.Join(home, rest)
}

// setDefault gives the flag a value, and returns what takes it away again.
func setDefault(f cli.Flag, value any) (drop func()) {
	switch f := f.(type) {
	case *optionFlag:
		return setDefault(f.StringFlag, value)
	case *cli.StringFlag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(string))
	case *cli.IntFlag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(int))
	case *cli.Uint64Flag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(uint64))
	case *cli.Float64Flag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(float64))
	case *cli.BoolFlag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(bool))
	case *cli.DurationFlag:
		return put(&f.Value, &f.Destination, &f.HasBeenSet, value.(time.Duration))
	case *cli.StringSliceFlag:
		f.Value = cli.NewStringSlice(value.([]string)...)
		f.Destination, f.HasBeenSet = cli.NewStringSlice(), true
		return func() { *f.Destination, f.HasBeenSet = *cli.NewStringSlice(), false }
	}
	panic(fmt.Sprintf("flag %s is of a kind that no config file has: %T", f.Names()[0], f))
}

// put is setDefault for one kind of flag. The library reads the flag's value from where
// destination points.
func put[T any](value *T, destination **T, set *bool, to T) func() {
	was, now := *value, new(T)
	*value, *destination, *set = to, now, true
	return func() { *now, *set = was, false }
}

// valued is the value of a flag that comes from the config file, nil where it does not.
func valued(c *cli.Context, flag string) *configValued {
	all, _ := c.App.Metadata[configuredKey].(*configured)
	if all == nil {
		return nil
	}
	return all.values[flagNamed(c.Command, flag)]
}

// given says that a flag stands on the command line.
func given(c *cli.Context, flag string) bool { return c.IsSet(flag) && valued(c, flag) == nil }

// leaveOut is for flags that exclude each other, or one that has no meaning here: err, where
// all stand on the command line, or all in the config file and there are several. Else those
// of the file are left out, and there is no error.
func leaveOut(c *cli.Context, err error, flags ...string) error {
	var drop []*configValued
	for _, flag := range flags {
		if v := valued(c, flag); v != nil {
			drop = append(drop, v)
		}
	}
	if len(drop) == 0 || len(drop) == len(flags) && len(flags) > 1 {
		return err
	}
	for _, v := range drop {
		v.drop()
	}
	all := c.App.Metadata[configuredKey].(*configured)
	for _, flag := range flags {
		delete(all.values, flagNamed(c.Command, flag))
	}
	return nil
}

// apartFlags is the fault of two flags that exclude each other.
func apartFlags(a, b string) error { return usagef("--%s and --%s do not go together", a, b) }

// exclude refuses pairs of flags that do not go together, by what says so of a pair.
func exclude(c *cli.Context, pairs [][2]string, fault func(a, b string) error) error {
	for _, pair := range pairs {
		if c.IsSet(pair[0]) && c.IsSet(pair[1]) {
			if err := leaveOut(c, fault(pair[0], pair[1]), pair[:]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// subject finds what an error speaks of first: "--steps 0: …", "generate: floor is 2: …",
// "bound: 0 steps: …".
var subject = regexp.MustCompile(`^(?:[a-z ]+: )?(?:[-+.0-9e]+ )?-{0,2}([A-Za-z][A-Za-z-]*)\b`)

// locate puts the place in the config file before an error that is about a value from there.
func (all *configured) locate(err error) error {
	if err == nil {
		return nil
	}
	if m := subject.FindStringSubmatch(err.Error()); m != nil {
		for f, v := range all.values {
			if slices.Contains(f.Names(), m[1]) {
				return fmt.Errorf("%s: %w", all.file.where(v.entry), err)
			}
		}
	}
	return err
}
