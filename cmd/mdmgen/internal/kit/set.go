package kit

import (
	"os"
	"slices"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
)

// Set holds the flags of a command.
type Set []*Flag

// Fill sets the flags that are not on the command line to the values of the environment.
func (s Set) Fill() {
	for _, f := range s {
		if text := os.Getenv(f.Env); !f.given && f.Env != "" && text != "" {
			f.inEnv = true
			if !f.Lazy {
				_ = f.set(text) // The command rejects an invalid value, and names the variable.
			}
		}
	}
}

// Common puts the named flags into the short help. It returns all flags.
func (s Set) Common(names ...string) Set { return s.mark(names, func(f *Flag) { f.Common = true }) }

// Rare makes the named flags rare. It returns all flags.
func (s Set) Rare(names ...string) Set { return s.mark(names, func(f *Flag) { f.Rare = true }) }

func (s Set) mark(names []string, as func(*Flag)) Set {
	for _, name := range names {
		as(s.Find(name))
	}
	return s
}

// Typed returns a flag as a user types it, even if the command does not have it. flag may include a
// value, as "grid paper" does.
func (s Set) Typed(flag string) string {
	name, value, _ := strings.Cut(flag, " ")
	if s.Find(name) == nil {
		return Dashed(flag)
	}
	return s.Spell(fault.Term{Name: name, Value: value})
}

// Find returns the flag with a long name, nil for none.
func (s Set) Find(name string) *Flag {
	for _, f := range s {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Without returns the flags except the named ones.
func (s Set) Without(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return slices.Contains(names, f.Name) })
}

// Only returns the named flags.
func (s Set) Only(names ...string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(f *Flag) bool { return !slices.Contains(names, f.Name) })
}

// Names returns the long names.
func (s Set) Names() []string {
	var out []string
	for _, f := range s {
		out = append(out, f.Name)
	}
	return out
}

// Given reports whether a flag is on the command line.
func (s Set) Given(name string) bool { f := s.Find(name); return f != nil && f.given }

// Text returns a flag's value as typed.
func (s Set) Text(name string) string { return s.Find(name).Text() }

// Unused returns an error if one of the named flags is set. what describes when they have no
// meaning.
func (s Set) Unused(what string, names ...string) error {
	for _, name := range names {
		if s.Given(name) {
			return exit.Usagef("%s: does not apply %s", s.Typed(name), what)
		}
	}
	return nil
}

// asked reports whether a flag is set, and not to false.
func (s Set) asked(name string) bool {
	return s.Given(name) && (s.Find(name).Takes() || s.Text(name) == "true")
}

// Exclude returns an error if both flags of a pair are set.
func (s Set) Exclude(pairs ...[2]string) error {
	return s.ExcludeAs("%s and %s exclude each other", pairs...)
}

// ExcludeAs is Exclude with its own message, a format of both flags.
func (s Set) ExcludeAs(message string, pairs ...[2]string) error {
	for _, p := range pairs {
		if s.asked(p[0]) && s.asked(p[1]) {
			return exit.Usagef(message, s.Typed(p[0]), s.Typed(p[1]))
		}
	}
	return nil
}
