package ort

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	onnx "github.com/yalue/onnxruntime_go"

	"mdmgen/internal/plainfile"
)

// live counts the native objects that this package holds: environment,
// sessions, options, tensors. It is 0 when all sessions are closed.
var live atomic.Int64

// env is the process's one runtime environment.
var env environment

type environment struct {
	sync.Mutex
	users   int
	library Library
	// pinned means that the library must stay loaded until the process ends.
	pinned bool
}

// InUse is the library that the sessions of this process run with, the zero value where none
// is open.
func InUse() Library {
	env.Lock()
	defer env.Unlock()
	return env.library
}

// keep makes the environment last as long as the process: the libraries of CUDA
// leave threads and handlers behind that do not survive being unloaded.
func (e *environment) keep() {
	e.Lock()
	defer e.Unlock()
	if !e.pinned {
		e.pinned = true
		live.Add(-1) // what is meant to stay is no leak
	}
}

// acquire returns the library of the environment, which it begins if no session
// has done so: with the library that cfg means and accept takes. Each success
// must be followed by a release. Fetching happens only if mayFetch, and other sessions open and
// close meanwhile.
func acquire(ctx context.Context, cfg Config, accept func(Library) error, mayFetch bool) (Library, []Candidate, error) {
	search := func(begin func(Library) error) (*Library, []Candidate, error) {
		return find(ctx, cfg, begin, accept == nil)
	}
	l, tried, err := env.acquire(ctx, cfg, accept, search)
	if err != nil || l.Path != "" || !mayFetch {
		return l, tried, err
	}
	found, err := fetch(ctx, cfg, tried)
	if err != nil {
		return Library{}, tried, err
	}
	l, _, err = env.acquire(ctx, cfg, accept, func(begin func(Library) error) (*Library, []Candidate, error) {
		if err := begin(*found); err != nil {
			return nil, nil, &MissingError{What: "the fetched library cannot be loaded", Err: err, Do: "name one that suits this system with --set runtime=PATH"}
		}
		return found, nil, nil
	})
	return l, tried, err
}

// acquire is [acquire] with the library that search finds and begins, none where it finds none.
func (e *environment) acquire(ctx context.Context, cfg Config, accept func(Library) error, search func(begin func(Library) error) (*Library, []Candidate, error)) (Library, []Candidate, error) {
	e.Lock()
	defer e.Unlock()
	if onnx.IsInitialized() {
		return acquireSame(ctx, cfg, accept)
	}
	found, tried, err := search(func(l Library) error {
		if accept != nil {
			if err := accept(l); err != nil {
				return err
			}
		}
		return beginEnvironment(l)
	})
	if err != nil || found == nil {
		return Library{}, tried, err
	}
	// What the library says of itself is better than what its file says.
	found.Version = onnx.GetVersion()
	e.library = *found
	e.users = 1
	return e.library, tried, nil
}

// acquireSame is acquire where an environment exists. Its library is taken,
// unless another one is asked for by name.
func acquireSame(ctx context.Context, cfg Config, accept func(Library) error) (Library, []Candidate, error) {
	l := env.library
	if path, _ := cfg.named(); path != "" {
		other, tried, err := find(ctx, cfg, nil, false)
		if err != nil {
			return Library{}, tried, err
		}
		if !samePath(other.Path, l.Path) {
			return Library{}, tried, fmt.Errorf("onnx runtime: %s is in use: a process can use one library, so close the sessions before %s is opened", l.Path, other.Path)
		}
	}
	tried := []Candidate{{Library: l}}
	if accept != nil {
		if err := accept(l); err != nil {
			tried[0].Reason, tried[0].cause = oneLine(err.Error()), err
			return Library{}, tried, &MissingError{What: l.Path, Err: err}
		}
	}
	env.users++
	return l, tried, nil
}

// Ahead begins the environment for the CPU while its caller does other work, where a library is found; a
// session that is opened meanwhile waits for it, and has the errors. done waits too, and gives it back: call it
// once the session is open, or none will be.
func Ahead(ctx context.Context, cfg Config) (done func() error) {
	if d, err := cfg.device(); err != nil || d.cuda {
		return func() error { return nil }
	}
	found := make(chan Library, 1)
	go func() {
		l, _, _ := acquire(ctx, cfg, nil, false) // The session tries again.
		found <- l
	}()
	return func() error {
		if l := <-found; l.Path == "" {
			return nil
		}
		return release()
	}
}

func samePath(a, b string) bool { return behindLinks(a) == behindLinks(b) }

// noTelemetry is the variable that keeps the runtime from beginning its
// telemetry. The call that switches it off comes too late: loading the library
// already leaves a device's number, a store of events and a log in the user's
// folders, and opens connections.
const noTelemetry = "ORT_DISABLE_TELEMETRY"

// beginEnvironment loads a library; nothing else does. After an error nothing may
// be asked of the binding but to try again.
func beginEnvironment(l Library) error {
	// In a program with C code this also sets the variable that C sees.
	if err := os.Setenv(noTelemetry, "1"); err != nil {
		return fmt.Errorf("it does not switch telemetry off: %w", err)
	}
	// What was examined is what links lead to.
	path, err := filepath.EvalSymlinks(l.Path)
	if err != nil {
		return fmt.Errorf("it does not load: %w", plainfile.Cause(err))
	}
	onnx.SetSharedLibraryPath(path)
	if err := onnx.InitializeEnvironment(onnx.WithLogLevelFatal()); err != nil {
		if errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		return fmt.Errorf("it does not load: %s", oneLine(err.Error()))
	}
	live.Add(1)
	if err := onnx.DisableTelemetry(); err != nil {
		return errors.Join(fmt.Errorf("it does not switch telemetry off: %w", err), endEnvironment())
	}
	return nil
}

func endEnvironment() error {
	live.Add(-1)
	return onnx.DestroyEnvironment()
}

// release takes back one acquire. The last one ends the environment.
func release() error {
	env.Lock()
	defer env.Unlock()
	env.users--
	if env.users > 0 || env.pinned {
		return nil
	}
	env.library = Library{}
	return endEnvironment()
}
