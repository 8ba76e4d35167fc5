// Package fatal ends tools by errors, which package log writes.
package fatal

import "log"

// Check ends the program with an error, if there is one.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must returns a value that comes with no error, else it ends the program.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
