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

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model/ort/library"
)

// live counts the native objects that this package holds: environment,
// sessions, options, tensors. It is 0 when all sessions are closed.
var live atomic.Int64

// env is the process's one runtime environment.
var env environment

type environment struct {
	sync.Mutex
	users   int
	library library.Library
	// pinned means that the library must stay loaded until the process ends.
	pinned bool
}

// InUse returns the library of this process's open sessions, the zero value if none is open.
func InUse() library.Library {
	env.Lock()
	defer env.Unlock()
	return env.library
}

// keep makes the environment last as long as the process: the CUDA libraries leave threads and
// handlers behind that do not survive unloading.
func (e *environment) keep() {
	e.Lock()
	defer e.Unlock()
	if !e.pinned {
		e.pinned = true
		live.Add(-1) // it is meant to stay, so it is no leak
	}
}

// acquire returns the library of the environment. If no session has begun the environment, acquire
// does so, with a library that matches cfg and that accept takes. Each success must be followed by
// a release. It fetches a library only if mayFetch is set; other sessions can open and close
// meanwhile.
func acquire(ctx context.Context, cfg Config, accept func(library.Library) error, mayFetch bool) (library.Library, []library.Candidate, error) {
	l, tried, err := env.begin(ctx, cfg, accept, nil)
	if err != nil || l.Path != "" || !mayFetch {
		return l, tried, err
	}
	fetched, err := cfg.Fetch(ctx, tried)
	if err != nil {
		return library.Library{}, tried, err
	}
	l, _, err = env.begin(ctx, cfg, accept, fetched)
	return l, tried, err
}

// begin begins the environment with a library that was fetched, or with nil with the one that a search
// finds, unless there is an environment already. If the search finds none, it returns the zero Library.
func (e *environment) begin(ctx context.Context, cfg Config, accept func(library.Library) error, found *library.Library) (_ library.Library, tried []library.Candidate, err error) {
	e.Lock()
	defer e.Unlock()
	if onnx.IsInitialized() {
		return acquireSame(ctx, cfg, accept)
	}
	if found == nil {
		found, tried, err = cfg.Find(ctx, func(l library.Library) error {
			if accept != nil {
				if err := accept(l); err != nil {
					return err
				}
			}
			return beginEnvironment(l)
		}, accept == nil)
	} else if berr := beginEnvironment(*found); berr != nil {
		err = &library.MissingError{What: "the fetched library cannot be loaded", Err: berr, Do: fault.Advise("name one for this system with %v", fault.Term{Name: "runtime", Value: "PATH"})}
	}
	if err != nil || found == nil {
		return library.Library{}, tried, err
	}
	// The library's own report is more reliable than its file name.
	found.Version = onnx.GetVersion()
	e.library = *found
	e.users = 1
	return e.library, tried, nil
}

// acquireSame is begin for an existing environment. It returns that environment's library, unless
// cfg names a different one.
func acquireSame(ctx context.Context, cfg Config, accept func(library.Library) error) (library.Library, []library.Candidate, error) {
	l := env.library
	if path, _ := cfg.Named(); path != "" {
		other, tried, err := cfg.Find(ctx, nil, false)
		if err != nil {
			return library.Library{}, tried, err
		}
		if !library.Same(other.Path, l.Path) {
			return library.Library{}, tried, fmt.Errorf("onnx runtime: %s is in use: a process can use one library, so close the sessions before %s is opened", l.Path, other.Path)
		}
	}
	tried := []library.Candidate{{Library: l}}
	if accept != nil {
		if err := accept(l); err != nil {
			tried[0].Reject(err)
			return library.Library{}, tried, &library.MissingError{What: l.Path, Err: err}
		}
	}
	env.users++
	return l, tried, nil
}

// Ahead begins the environment for the CPU while its caller does other work, if a library is found.
// A session opened meanwhile waits for it and reports the errors. done also waits, then releases
// the environment: call it once the session is open or will not be opened.
func Ahead(ctx context.Context, cfg Config) (done func() error) {
	if d, err := cfg.device(); err != nil || d.cuda {
		return func() error { return nil }
	}
	found := make(chan library.Library, 1)
	go func() {
		l, _, _ := acquire(ctx, cfg, nil, false) // The session retries.
		found <- l
	}()
	return func() error {
		if l := <-found; l.Path == "" {
			return nil
		}
		return release()
	}
}

// noTelemetry is the variable that keeps the runtime from starting its telemetry. The call that
// switches it off comes too late: loading the library already leaves a device number, a store of
// events and a log in the user's folders, and opens connections.
const noTelemetry = "ORT_DISABLE_TELEMETRY"

// beginEnvironment loads a library; nothing else does. After an error the binding may only be used
// to try again.
func beginEnvironment(l library.Library) error {
	// In a program with C code this also sets the variable for C.
	if err := os.Setenv(noTelemetry, "1"); err != nil {
		return fmt.Errorf("telemetry cannot be switched off: %w", err)
	}
	// The checks examined the target of the links.
	path, err := filepath.EvalSymlinks(l.Path)
	if err != nil {
		return fmt.Errorf("it cannot be loaded: %w", plainfile.Cause(err))
	}
	onnx.SetSharedLibraryPath(path)
	if err := onnx.InitializeEnvironment(onnx.WithLogLevelFatal()); err != nil {
		if errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		return fmt.Errorf("it cannot be loaded: %s", fault.Line(err.Error()))
	}
	live.Add(1)
	if err := onnx.DisableTelemetry(); err != nil {
		return errors.Join(fmt.Errorf("telemetry cannot be switched off: %w", err), endEnvironment())
	}
	return nil
}

func endEnvironment() error {
	live.Add(-1)
	return onnx.DestroyEnvironment()
}

// release undoes one acquire. The last one ends the environment.
func release() error {
	env.Lock()
	defer env.Unlock()
	env.users--
	if env.users > 0 || env.pinned {
		return nil
	}
	env.library = library.Library{}
	return endEnvironment()
}
