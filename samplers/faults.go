package samplers

import (
	"fmt"
	"runtime/debug"
)

// SequenceError is what a sequence failed of.
type SequenceError struct {
	// Index is that of the job.
	Index uint64
	Err   error
}

func (e *SequenceError) Error() string { return fmt.Sprintf("sequence %d: %v", e.Index, e.Err) }
func (e *SequenceError) Unwrap() error { return e.Err }

// caught makes an error of the panic of a method where it is not the caller's own goroutine
// that runs it.
func (e *engine) caught(err *error) {
	if !e.shared {
		return
	}
	if value := recover(); value != nil {
		*err = &panicked{value, debug.Stack()}
	}
}

// panicked is a panic of a method.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	return fmt.Sprintf("the method panicked: %v\n\n%s", p.value, p.stack)
}
