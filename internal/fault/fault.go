// Package fault provides errors that begin with the name of their package, for Go programs, and
// that can be printed without it, for users of the command line.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is an error of a package.
type Error struct {
	Package string
	Err     error
}

// Error implements error.
func (e *Error) Error() string { return e.Package + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is like [fmt.Errorf] with the package's name in front.
func Errorf(pkg, format string, args ...any) error {
	return &Error{pkg, fmt.Errorf(format, args...)}
}

// Join returns one error of a package, in one line, for the non-nil errs, which it wraps; nil if
// there are none.
func Join(pkg string, errs ...error) error {
	if err := List(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })).Err(); err != nil {
		return &Error{pkg, err}
	}
	return nil
}

// A List collects faults, all of which a user should hear of at once.
type List []error

// If adds an error like [Advise]'s if something is wrong.
func (l *List) If(wrong bool, format string, args ...any) {
	if wrong {
		*l = append(*l, Advise(format, args...))
	}
}

// Err returns one error, in one line, that wraps those of the list; nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return joined(l)
}

type joined []error

func (errs joined) Error() string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = Plain(err)
	}
	return strings.Join(lines, "; ")
}

func (errs joined) Unwrap() []error { return errs }

// Plain returns the message of an error without the names of packages, including those in the
// wrapped errors that its message ends with.
func Plain(err error) string {
	if named, ok := err.(*Error); ok {
		return Plain(named.Err)
	}
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		if outer, ok := strings.CutSuffix(text, inner.Error()); ok {
			return outer + Plain(inner)
		}
	}
	return text
}

// WithoutName returns an error whose message is [Plain] of err, and which wraps err.
func WithoutName(err error) error { return As(err, Plain(err)) }

// Line folds a foreign message into one line of bounded length.
func Line(s string) string { return fmt.Sprintf("%.400s", strings.Join(strings.Fields(s), " ")) }
