package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Term is a setting or an operation of a package, as a message names it. A program that has flags
// calls it otherwise, see [Spell].
type Term struct {
	Name string
	// Value is the value of a setting, "" for none.
	Value string
}

// String returns NAME=VALUE, or NAME.
func (t Term) String() string { return strings.TrimSuffix(t.Name+"="+t.Value, "=") }

// Advise is like [fmt.Errorf] for a message that contains Terms, with the verb %v or %s.
func Advise(format string, args ...any) error {
	return &advice{fmt.Errorf(format, args...), format, args}
}

// advice is an error whose terms can be spelled again.
type advice struct {
	error
	format string
	args   []any
}

func (a *advice) Unwrap() error { return errors.Unwrap(a.error) }

// spelled returns the message with its terms written by spell.
func (a *advice) spelled(spell func(Term) string) string {
	args := slices.Clone(a.args)
	for i, arg := range args {
		switch x := arg.(type) {
		case Term:
			args[i] = spell(x)
		case error:
			args[i] = errors.New(Spell(x, spell))
		}
	}
	return fmt.Errorf(a.format, args...).Error()
}

// Spell returns the message of an error with the Terms in it, and in the errors that it wraps,
// written by spell; nil leaves them as they are.
func Spell(err error, spell func(Term) string) string {
	if spell == nil {
		return err.Error()
	}
	return respell(err.Error(), err, spell)
}

// respell replaces the messages of the advice in err, which are parts of a text.
func respell(text string, err error, spell func(Term) string) string {
	switch x := err.(type) {
	case *advice:
		return strings.Replace(text, x.Error(), x.spelled(spell), 1)
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			text = respell(text, e, spell)
		}
	case interface{ Unwrap() error }:
		text = respell(text, x.Unwrap(), spell)
	}
	return text
}

// Spelled returns an error whose message is [Spell] of err, and which wraps err.
func Spelled(err error, spell func(Term) string) error {
	if err == nil {
		return nil
	}
	return As(err, Spell(err, spell))
}

// As returns an error with a message of its own, which wraps err.
func As(err error, message string) error { return &spelled{err, message} }

// Unused returns the error "what: leave out t" for a setting that does not apply.
func Unused(what string, t Term) error { return Usage("%s: leave out %v", what, t) }

// Usage is [Advise] for an error of the settings, not of files: its exit status is that of usage.
func Usage(format string, args ...any) error { return &usage{Advise(format, args...)} }

type usage struct{ error }

func (e *usage) Unwrap() error { return e.error }

// Usage marks the error for exit statuses.
func (*usage) Usage() {}

type spelled struct {
	err  error
	text string
}

func (e *spelled) Error() string { return e.text }
func (e *spelled) Unwrap() error { return e.err }
