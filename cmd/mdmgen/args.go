package main

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mdmgen/samplers"
)

// arrange puts the flags of a command line before its arguments, so that flags
// work in any position: the flag package stops at the first argument. What
// follows "--" is an argument, and so is "-". It refuses flags that the command
// does not have, a flag without its value, and a flag that is given twice. given are the
// flags with their last values.
func arrange(cmd *cli.Command, args []string) (arranged []string, given map[cli.Flag]string, err error) {
	known := make(map[string]cli.Flag)
	for _, f := range cmd.Flags {
		for _, name := range f.Names() {
			known[name] = f
		}
	}
	var flags, rest []string
	given = make(map[cli.Flag]string)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			rest = append(rest, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "help" || name == "h" {
			return []string{"--help"}, nil, nil
		}
		f, ok := known[name]
		if !ok {
			hint := ""
			if s := cli.SuggestFlag(cmd.Flags, name, true); s != "" {
				hint = "; did you mean " + s + "?"
			}
			return nil, nil, usagef("%s: unknown flag %s%s", cmd.Name, strings.SplitN(arg, "=", 2)[0], hint)
		}
		_, twice := given[f]
		if _, slice := f.(*cli.StringSliceFlag); twice && !slice {
			return nil, nil, usagef("%s: %s is given twice", cmd.Name, dashed(name))
		}
		given[f] = value
		if _, boolean := f.(*cli.BoolFlag); boolean && !inline {
			flags = append(flags, arg)
			continue
		}
		if !inline {
			if i+1 == len(args) {
				return nil, nil, usagef("%s: %s needs a value", cmd.Name, dashed(name))
			}
			i++
			value = args[i]
			given[f] = value
		}
		value, err := readable(dashed(name), f, value)
		if err != nil {
			return nil, nil, err
		}
		if inline {
			flags = append(flags, dashed(name)+"="+value)
		} else {
			flags = append(flags, arg, value)
		}
	}
	return append(append(flags, "--"), rest...), given, nil
}

// What numbers have in forms that are not decimal, or not whole.
const (
	oddNumber = "xX_"
	oddWhole  = oddNumber + "bBoO.eE"
)

// readable is a flag's value as the flag reads it, and as a person does: 010 is ten, where
// package flag would read eight, and a number in another base, or with underscores, is none.
// The error says what the value must be.
func readable(name string, f cli.Flag, value string) (text string, err error) {
	form, odd := "", ""
	text = value
	switch f := f.(type) {
	case *optionFlag:
		form, err = f.option.Form(), f.option.Set(new(samplers.Options), value)
		if f.option.Whole {
			odd = oddWhole
		} else if f.option.Most > 0 {
			odd = oddNumber
		}
	case *cli.IntFlag:
		var n int
		n, err = strconv.Atoi(value)
		form, odd, text = "a whole number below 2^63", oddWhole, strconv.Itoa(n)
	case *cli.Uint64Flag:
		var n uint64
		n, err = strconv.ParseUint(value, 10, 64)
		form, odd, text = "a whole number in 0..2^64-1", oddWhole, strconv.FormatUint(n, 10)
	case *cli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
		form, odd = "a number", oddNumber
	case *cli.DurationFlag:
		_, err = time.ParseDuration(value)
		form = "a time, such as 90s or 10m"
	case *cli.BoolFlag:
		_, err = strconv.ParseBool(value)
		form = "true or false"
	}
	switch {
	case form != "" && value == "":
		return "", usagef("%s: the value is empty", name)
	case strings.ContainsAny(value, odd) && strings.ContainsAny(value[:1], "+-0123456789"):
		return "", usagef("%s %s: write the number in decimal, as %s", name, value, form)
	case err != nil:
		return "", usagef("%s %s: must be %s", name, value, form)
	}
	return text, nil
}

// inOrder goes through a map by its keys, so that of several faults the same is told
// every time.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// dashed is a flag as a user types it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
