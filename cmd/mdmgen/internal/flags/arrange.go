package flags

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
)

// Given are the flags of a command line with their last values.
type Given map[*Flag]string

// Arrange puts the flags of a command line before its arguments, so that flags work in any
// position: the library stops at the first argument. What follows "--" is an argument, and so
// is "-". It refuses flags that the command does not have, a flag without its value, a value
// that a flag cannot have, and a flag that is given twice. given is nil where help is asked
// for.
func Arrange(cmd *cli.Command, args []string) (arranged []string, given Given, err error) {
	set := Of(cmd)
	var flags, rest []string
	given = make(Given)
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
		if name == "help" || name == "h" || name == "help-all" {
			return []string{arg}, nil, nil
		}
		f := set.Named(name)
		if f == nil {
			return nil, nil, unknown(cmd, strings.SplitN(arg, "=", 2)[0], name)
		}
		if _, twice := given[f]; twice && !f.Repeats() {
			return nil, nil, exit.Usagef("%s: %s is given twice", cmd.Name, Dashed(name))
		}
		switch {
		case inline:
		case !f.Takes():
			value = "true"
		case i+1 == len(args):
			return nil, nil, exit.Usagef("%s: %s needs a value: %[2]s %[3]s", cmd.Name, Dashed(name), cmp.Or(f.ValueName(), "VALUE"))
		default:
			i++
			value = args[i]
		}
		given[f] = value
		if fault := f.value.check(value); fault != nil && err == nil {
			err = refused(Dashed(name), shownAs(f, value), fault)
		}
		flags = append(flags, Dashed(f.Name)+"="+value)
	}
	if err != nil {
		return nil, nil, err
	}
	if set.both(given, "format", "json") {
		return nil, nil, exit.Usagef("%s: --json is short for --format json: leave one out", cmd.Name)
	}
	return append(append(flags, "--"), rest...), given, nil
}

// both says that two flags are given.
func (s Set) both(given Given, a, b string) bool {
	_, one := given[s.Find(a)]
	_, other := given[s.Find(b)]
	return one && other
}

// Named is the flag of a name, long or short.
func (s Set) Named(name string) *Flag {
	i := slices.IndexFunc(s, func(f *Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return s[i]
}

// unknown is the error of a flag that a command does not have.
func unknown(cmd *cli.Command, typed, name string) error {
	hint := "; `mdmgen " + cmd.Name + " --help` lists the flags"
	if now := renamed(cmd.Name, name); now != "" {
		hint = ": it is " + now + " now"
	} else if s := Nearest(name, append(Of(cmd).Names(), "help", "help-all")); s != "" {
		hint = "; did you mean " + Dashed(s) + "?"
	}
	return exit.Usagef("%s: unknown flag %s%s", cmd.Name, typed, hint)
}
