package main

import (
	"context"
	"io"
)

// interruptible reads from a reader until the context ends: a program that waits
// for its user's next line must not wait to be interrupted. It belongs to one
// goroutine. A read that is under way when the context ends is abandoned.
type interruptible struct {
	ctx     context.Context
	r       io.Reader
	buf     [1 << 16]byte
	pending []byte
	results chan readResult
}

type readResult struct {
	n   int
	err error
}

func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.pending) > 0 {
		n := copy(p, i.pending)
		i.pending = i.pending[n:]
		return n, nil
	}
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	if i.results == nil {
		i.results = make(chan readResult, 1)
	}
	go func() {
		n, err := i.r.Read(i.buf[:])
		i.results <- readResult{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case res := <-i.results:
		n := copy(p, i.buf[:res.n])
		i.pending = i.buf[n:res.n]
		if len(i.pending) > 0 {
			return n, nil // The error, if there is one, comes again.
		}
		return n, res.err
	}
}
