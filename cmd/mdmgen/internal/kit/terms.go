package kit

import (
	"cmp"
	"errors"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/requests"
)

// commands maps what packages call their operations in errors to what a user types.
var commands = map[string]string{"library.Install": "`mdmgen runtime install --cuda`", "ort.Diagnose": "`mdmgen doctor --device cuda`"}

// Spell returns the flag or command line of a term: see [fault.Spell].
func (s Set) Spell(t fault.Term) string {
	f := s.Find(t.Name)
	switch {
	case f == nil:
		return cmp.Or(commands[t.Name], t.String())
	case t.Value == "":
		return f.Typed()
	}
	return f.with(t.Value)
}

// Refuse returns a usage error for an error of a request or of a sampler's options. Its message begins
// with the flag that err begins with, or whose field it carries; with the command if it is not given.
func (s Set) Refuse(command string, err error) error {
	text := fault.Plain(err)
	name := strings.ReplaceAll(text[:strings.IndexAny(text+" ", " :")], "_", "-")
	var field *requests.Error
	f := s.Find(name)
	if f == nil && errors.As(err, &field) {
		f = s.Find(strings.Replace(strings.ReplaceAll(field.Field, "_", "-"), "messages", "chat", 1))
	}
	rest := text[len(name):]
	same := f != nil && name == f.Name && strings.HasSuffix(f.Typed(), name)
	switch {
	case f == nil || !f.given:
		text = command + ": " + text
	case same && strings.HasPrefix(rest, ":"):
		text = f.Typed() + rest
	case same && len(rest) > 1 && strings.IndexByte(`"+-0123456789`, rest[1]) >= 0: // a value
		text = f.with(rest[1:])
	default:
		text = f.Typed() + ": " + text
	}
	return &exit.Error{Code: exit.Usage, Err: fault.As(err, text)}
}
