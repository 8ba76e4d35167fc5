package flags

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/internal/exit"
)

// Set are the flags of a command.
type Set []*Flag

// Of are the flags of one of the library's commands, without its --help.
func Of(c *cli.Command) Set {
	var out Set
	for _, f := range c.Flags {
		if f, ok := f.(*Flag); ok {
			out = append(out, f)
		}
	}
	return out
}

// CLI are the flags as the library takes them.
func (s Set) CLI() []cli.Flag {
	var out []cli.Flag
	for _, f := range s {
		out = append(out, f)
	}
	return out
}

// Common marks the flags of the short help, and returns all.
func (s Set) Common(names ...string) Set {
	for _, name := range names {
		s.Find(name).Common = true
	}
	return s
}

// Rare makes --set NAME=VALUE of flags, and returns all.
func (s Set) Rare(names ...string) Set {
	for _, name := range names {
		s.Find(name).Rare = true
	}
	return s
}

// Typed is a flag as a user types it, also one that the command does not have. "grid paper" has
// a value.
func (s Set) Typed(flag string) string {
	name, value, valued := strings.Cut(flag, " ")
	f := s.Find(name)
	switch {
	case f == nil:
		return Dashed(flag)
	case valued:
		return f.with(value)
	}
	return f.Typed()
}

// Find is the flag of a long name, nil for none.
func (s Set) Find(name string) *Flag {
	for _, f := range s {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Without are the flags but for some.
func (s Set) Without(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return slices.Contains(names, f.Name) })
}

// Only are some of the flags.
func (s Set) Only(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return !slices.Contains(names, f.Name) })
}

// Names are the long names.
func (s Set) Names() []string {
	var out []string
	for _, f := range s {
		out = append(out, f.Name)
	}
	return out
}

// Given reports whether a flag stands on the command line, IsSet that it does or that the config
// file has it. A value of the file is as good as given, with one difference: where the command
// has no use for it, or another flag excludes it, it is left out silently and not refused.
func (s Set) Given(name string) bool { f := s.Find(name); return f != nil && f.from == Line }

func (s Set) IsSet(name string) bool {
	f := s.Find(name)
	return f != nil && (f.from == Line || f.from == File)
}

// Text is a flag's value as it is typed.
func (s Set) Text(name string) string { return s.Find(name).Text() }

// LeaveOut is for flags that exclude each other, or one that has no meaning here: err, where
// all stand on the command line, or several in one part of the config file and nowhere else.
// Else those of the file are left out, before the command's table what holds for all commands,
// and there is no error.
func (s Set) LeaveOut(err error, names ...string) error {
	var drop []*Flag
	for _, name := range names {
		if f := s.Find(name); f.from == File {
			drop = append(drop, f)
		}
	}
	if len(names) > 1 && len(drop) == len(names) {
		if drop = slices.DeleteFunc(drop, func(f *Flag) bool { return f.entry.command != "" }); len(drop) == len(names) {
			return err
		}
	}
	if len(drop) == 0 {
		return err
	}
	for _, f := range drop {
		f.from = Default
		f.reset()
	}
	return nil
}

// Unused refuses those of some flags that are set, which mean nothing with what.
func (s Set) Unused(what string, names ...string) error {
	for _, name := range names {
		if s.IsSet(name) {
			if err := s.LeaveOut(exit.Usagef("%s: has no meaning %s", s.Typed(name), what), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// asked reports whether a flag is set, and is no switch that is off.
func (s Set) asked(name string) bool {
	return s.IsSet(name) && (s.Find(name).Takes() || s.Text(name) == "true")
}

// Exclude refuses pairs of flags that do not go together.
func (s Set) Exclude(pairs ...[2]string) error {
	return s.ExcludeAs("%s and %s do not go together", pairs...)
}

// ExcludeAs is Exclude with a message of its own, a format for both flags.
func (s Set) ExcludeAs(message string, pairs ...[2]string) error {
	for _, p := range pairs {
		if s.asked(p[0]) && s.asked(p[1]) {
			if err := s.LeaveOut(exit.Usagef(message, s.Typed(p[0]), s.Typed(p[1])), p[:]...); err != nil {
				return err
			}
		}
	}
	return nil
}

// refused is the error of a text that a flag cannot have.
func (f *Flag) refused(text string, err error) error {
	if text == "" {
		return exit.Usagef("%s: %w", f.Typed(), err)
	}
	return exit.Usagef("%s: %w", f.with(text), err)
}
