package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/cachedir"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
)

// warm is a network that this program wrote. After a run in this process it becomes idle instead of
// being closed, because opening it takes longer than most runs. Processes of scripts open their
// own.
type warm struct {
	full
	rest func() // once
}

// full has all methods of a network with heads.
type full interface {
	model.Model
	model.LogProber
	model.Describer
	samplers.Drawer
	samplers.Keeper
}

var (
	idle   = map[string][]full{}
	idling sync.Mutex
)

// Close makes the network idle. A run that uses it afterwards fails, as with a closed one.
func (w *warm) Close() error {
	w.rest()
	w.full = nil
	return nil
}

func keepWarm(f full, key string) *warm {
	return &warm{f, sync.OnceFunc(func() {
		idling.Lock()
		defer idling.Unlock()
		idle[key] = append(idle[key], f)
	})}
}

// openWarm is model.Open, but returns an idle network if one was opened from the same files of the
// repository with the same options, none of which sets where to search.
func openWarm(ctx context.Context, ref string, o model.Options) (model.Model, error) {
	path, err := filepath.Abs(ref)
	if ref == setup.BuiltinName {
		path = filepath.Join(ours, ref) // no file, whatever the folder
	}
	cache, cerr := cachedir.Path()
	r := o.Runtime
	if !strings.HasPrefix(path, ours+string(filepath.Separator)) || err != nil || cerr != nil || cache != cacheAtFirst ||
		r.Threads > 1 || r.Device != "" && r.Device != "cpu" || r.Library+r.Profile+o.Sidecar+o.Path != "" || r.VerifyDigest ||
		os.Getenv("MDMGEN_RUNTIME") != runtimeAtFirst {
		return model.Open(ctx, ref, o)
	}
	key := fmt.Sprint(ref, path, r.Threads, o.Override, o.Known, o.Weights, o.Dtype, r.Offline, r.Online, r.TF32)
	idling.Lock()
	if n := len(idle[key]); n > 0 && ctx.Err() == nil {
		m := idle[key][n-1]
		idle[key] = idle[key][:n-1]
		idling.Unlock()
		return keepWarm(m, key), nil
	}
	idling.Unlock()
	m, err := model.Open(ctx, ref, o)
	if f, ok := m.(full); ok && err == nil {
		return keepWarm(f, key), nil
	}
	return m, err
}

// cool closes the idle networks, and with the last one the library of this process.
func cool(t *testing.T) {
	idling.Lock()
	defer idling.Unlock()
	for _, list := range idle {
		for _, m := range list {
			reftest.OK(t, m.Close())
		}
	}
	clear(idle)
}

// The state at the start of the process; ours is the folder of the repository.
var (
	cacheAtFirst, _ = cachedir.Path()
	runtimeAtFirst  = os.Getenv("MDMGEN_RUNTIME")
	ours, _         = filepath.Abs(filepath.Join("..", "..", ".."))
)

// tests are the tests of this package, whose process need not save memory.
type tests struct{ *testing.M }

func (t tests) Run() int {
	debug.SetGCPercent(400)
	openModel = openWarm
	os.Unsetenv("MDMGEN_MODEL") // only of this process: scripts set it for others
	return t.M.Run()
}
