package reftest

import (
	"strings"
	"testing"
)

// OK ends a test if err is not nil, and prints about with the error.
func OK(t testing.TB, err error, about ...any) {
	t.Helper()
	if err != nil {
		t.Fatal(append(about, err)...)
	}
}

// Must returns the value of a call that must not fail: data := Must(os.ReadFile(path))(t).
func Must[T any](value T, err error) func(t testing.TB, about ...any) T {
	return func(t testing.TB, about ...any) T {
		t.Helper()
		OK(t, err, about...)
		return value
	}
}

// Err returns the error of a call.
func Err[T any](_ T, err error) error { return err }

// Fails reports a test error if err is nil or does not contain want, and prints about with it.
func Fails(t testing.TB, err error, want string, about ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v: error is %v, want %q", about, err, want)
	}
}

// FailsInLine is like Fails for an error that users read: it must be one line.
func FailsInLine(t testing.TB, err error, want string, about ...any) {
	t.Helper()
	if Fails(t, err, want, about...); err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%v: %q has several lines", about, err)
	}
}
