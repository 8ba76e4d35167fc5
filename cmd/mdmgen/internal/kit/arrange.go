package kit

import (
	"cmp"
	"slices"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/suggest"
)

// Arrange parses the flags of a command line. They may be before, between and after its arguments,
// whereas the library stops at the first argument. What follows "--" is an argument, and so is "-".
// A command without rare flags takes --set NAME=VALUE for any flag, so that messages can name a
// flag in one form for all commands. Arrange returns an error for an unknown flag, a missing or
// invalid value, and a flag given twice. rest are the arguments; help is the flag that asks for
// help, "" for none.
func Arrange(cmd *Command, args []string) (rest []string, help string, err error) {
	set, names := cmd.Flags, make(map[*Flag]string)
	// If the arguments are models, --model names one as well.
	models := strings.HasPrefix(cmd.Arguments, "MODEL") || strings.HasPrefix(cmd.Arguments, "OWNER/NAME")
	for len(args) > 0 {
		arg := args[0]
		if args = args[1:]; arg == "--" {
			rest = append(rest, args...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			rest = append(rest, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "help" || name == "h" || name == "help-all" {
			return nil, name, nil
		}
		f, s := set.typed(name)
		none := f == nil && name == Settings
		if none {
			f = Texts(new([]string), Flag{Name: Settings})
		}
		if w, _ := suggest.Elsewhere(name); f == nil && (name == "model" || w.Name == "model") && models {
			if !inline && len(args) > 0 {
				value, args = args[0], args[1:]
			}
			rest = append(rest, value)
			continue
		}
		if f == nil {
			return nil, "", unknown(cmd, arg, name, args)
		}
		typed, takes := Dashed(name), f.Takes() && (s == nil || s.takes())
		if !inline && takes {
			if len(args) == 0 {
				return nil, "", exit.Usagef("%s: %s needs a value: %[2]s %[3]s", cmd.Name, typed, cmp.Or(f.valueName(), "VALUE"))
			}
			value, args = args[0], args[1:]
		}
		if f.Name == Settings {
			key, text, valued := strings.Cut(value, "=")
			g := set.Find(key)
			if g != nil && !valued && !g.Takes() {
				text, valued = "true", true
			}
			if g != nil && valued && (g.Rare || none) {
				f, value, typed = g, text, setting+key
			} else if !f.more {
				return nil, "", unknownSetting(cmd, key, valued)
			}
		} else if !inline && !takes {
			value = "true"
		}
		text := value
		if s != nil {
			if inline && !takes {
				return nil, "", exit.Usagef("--%s: takes no value: it is %s", name, f.with(s.Value))
			}
			value = strings.ReplaceAll(s.Value, "%s", value)
		}
		switch {
		case !f.given || f.list != nil:
		case names[f] == typed:
			return nil, "", exit.Usagef("%s: %s is given twice", cmd.Name, typed)
		default:
			return nil, "", exit.Usagef("%s: %s and %s exclude each other", cmd.Name, names[f], typed)
		}
		if names[f] = typed; takes || !f.Takes() {
			f.typed = typed
		}
		if fault := f.Set(value); fault != nil && err == nil {
			if text != "" {
				typed = valued(typed, text)
			}
			err = exit.Usagef("%s: %w", typed, fault)
		}
	}
	return rest, "", err
}

// typed returns the flag with a name as typed, in which _ may stand for -, and the synonym used, nil for
// none. The name may be that of another program, if it means one thing here.
func (s Set) typed(name string) (*Flag, *Synonym) {
	name = strings.ReplaceAll(name, "_", "-")
	for _, f := range s {
		for i, also := range f.Synonyms {
			if also.Name == name {
				return f, &f.Synonyms[i]
			}
		}
		if !f.Rare && slices.Contains(f.Names(), name) {
			return f, nil
		}
	}
	if w, ok := suggest.Elsewhere(name); ok {
		if f := s.Find(w.Name); f != nil && !f.Rare && (w.Value[0] != '+' || strings.Contains(f.Usage, "+N")) {
			return f, &Synonym{name, w.Value}
		}
	}
	return nil, nil
}

// Named returns the flag with a name, long or short.
func (s Set) Named(name string) *Flag {
	f, _ := s.typed(name)
	return f
}

// unknown returns the error for an unknown flag.
func unknown(cmd *Command, arg, name string, after []string) error {
	typed, _, _ := strings.Cut(arg, "=")
	set := cmd.Flags
	hint := "; `mdmgen " + cmd.Name + " --help` lists the flags"
	if takes := strings.TrimSpace(cmd.Arguments); takes != "" {
		hint = "; it takes " + takes + hint
	}
	if words := foreign(arg, after, set); words != "" {
		hint = ": write " + words
	} else if f := set.Find(name); f != nil { // a rare one
		hint = "; did you mean " + f.Form() + "?"
	} else if s := suggest.Nearest(name, append(set.names(false), "help", "help-all")); s != "" {
		hint = "; did you mean " + Dashed(s) + "?"
	} else if s := suggest.Nearest(name, set.names(true)); s != "" {
		hint = "; did you mean --" + Settings + " " + s + "?"
	}
	return exit.Usagef("%s: unknown flag %s%s", cmd.Name, typed, hint)
}

// names returns the long names and the synonyms of the rare flags, or of the others.
func (s Set) names(rare bool) (out []string) {
	for _, f := range s {
		if f.Rare == rare {
			out = append(out, f.Name)
			for _, also := range f.Synonyms {
				out = append(out, also.Name)
			}
		}
	}
	return out
}

// Settings is the flag that sets rare flags.
const Settings = "set"

// WithSettings adds --set if flags are rare. A command's own --set gets the keys that are no flags.
func (s Set) WithSettings() Set {
	if own := s.Find(Settings); own != nil {
		own.more = true
		return s
	}
	if len(s.names(true)) == 0 {
		return s
	}
	return append(s, Texts(new([]string), Flag{Name: Settings, Category: CatSample, Usage: "set a rarer option, `KEY=VALUE` (mdmgen samplers NAME); may be repeated"}))
}

// unknownSetting returns the error for --set with an unknown key or without a value.
func unknownSetting(cmd *Command, name string, inline bool) error {
	set := cmd.Flags
	f := set.Find(name)
	switch {
	case name == "":
		return exit.Usagef("--set: write KEY=VALUE")
	case f != nil && !f.Rare:
		return exit.Usagef("--set %s: is a flag: write %s", name, f.Form())
	case f != nil && !inline:
		return exit.Usagef("--set %s: write %s", name, f.Form())
	}
	return exit.Usagef("--set %s: %s has no such setting%s", name, cmd.Name, suggest.Ending(name, set.names(true)))
}
