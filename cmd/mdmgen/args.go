package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
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
		if _, boolean := f.(*cli.BoolFlag); boolean {
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
		if value, ok = decimal(f, value); !ok {
			return nil, nil, usagef("%s %s: write the number in decimal, as in 16 or 0.5", dashed(name), value)
		}
		if inline {
			flags = append(flags, dashed(name)+"="+value)
		} else {
			flags = append(flags, arg, value)
		}
	}
	return append(append(flags, "--"), rest...), given, nil
}

// decimal is a flag's value as a person reads it: 010 is ten, and a number that is
// written in another base, or with underscores, is none. Package flag would read 010 as
// eight.
func decimal(f cli.Flag, value string) (string, bool) {
	switch f.(type) {
	case *cli.IntFlag, *cli.Uint64Flag:
		digits := strings.TrimLeft(value, "+-")
		if digits == "" || digits[0] < '0' || digits[0] > '9' {
			return value, true // no number, which its flag refuses
		}
		if strings.Trim(digits, "0123456789") != "" {
			return value, false
		}
		return value[:len(value)-len(digits)] + cmp.Or(strings.TrimLeft(digits, "0"), "0"), true
	case *cli.Float64Flag:
		return value, !strings.ContainsAny(value, "xX_")
	}
	return value, true
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

// wrongValue is what package flag says of a value that it cannot read.
var wrongValue = regexp.MustCompile(`^invalid (?:boolean )?value (".*") for (?:flag )?-(\S+): (?:parse error|value out of range)$`)

// flagError is an error of reading flags, which names the flag as it is written.
func flagError(err error) string {
	if m := wrongValue.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s %s: is no value of this flag, whose form --help tells", dashed(m[2]), m[1])
	}
	return err.Error()
}
