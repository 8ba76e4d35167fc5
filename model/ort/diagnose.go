package ort

import (
	"context"
	"fmt"
	"mdmgen/internal/sysinfo"
	"os"
	"runtime"
	"time"
)

// A Report describes the runtime that this machine would use, and its problems.
type Report struct {
	// Library, Version and Source describe the library that a session would use. They are empty if
	// none was found.
	Library string `json:"library"`
	Version string `json:"version"`
	Source  string `json:"source"`
	// SHA256 is the digest of a library in the cache, which was read again and is a published one;
	// "" for others.
	SHA256 string `json:"sha256,omitempty"`
	// Candidates are the libraries found by the search, up to the one chosen, each of the others
	// with the reason against it.
	Candidates []Candidate `json:"candidates"`
	// Providers are the devices that the library can run on.
	Providers []string `json:"providers"`
	// CUDA describes the machine's support for the library's CUDA provider, if the library has one
	// or --device asks for it.
	CUDA *CUDA `json:"cuda,omitempty"`
	// Threads is the number of threads that one operator would use, at most the number of CPUs.
	Threads int `json:"threads"`
	// CacheDir is mdmgen's cache and CacheBytes its size in bytes.
	CacheDir   string `json:"cache_dir"`
	CacheBytes int64  `json:"cache_bytes"`
	// Offline means that fetching is forbidden.
	Offline bool `json:"offline"`
	// Fetch names the client that would fetch a library at first use, if none was found.
	Fetch string `json:"fetch,omitempty"`
	// Usable means that a network could be opened: a library with the device exists, or it would be
	// fetched.
	Usable bool `json:"usable"`
	// Problems are lines that state what is wrong and what to do.
	Problems []string `json:"problems"`
}

// Diagnose looks for the runtime as [Open] does and loads it briefly. It fetches nothing and takes
// at most about 20 seconds.
func Diagnose(cfg Config) Report {
	cfg.VerifyDigest = true
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r := Report{Threads: cfg.threads(), Offline: cfg.IsOffline(), Candidates: []Candidate{}, Providers: []string{}, Problems: []string{}}
	problem := func(err error) {
		if err != nil {
			r.Problems = append(r.Problems, oneLine(err.Error()))
		}
	}
	device, err := parseDevice(cfg.Device)
	problem(err)
	writable := r.diagnoseCache(problem)

	// Like Open, a search for CUDA skips libraries without it.
	var accept func(Library) error
	if device.cuda && !device.auto {
		accept = missingCUDA
	}
	library, tried, err := acquire(ctx, cfg, accept, false)
	r.Candidates = append(r.Candidates, tried...)
	if accept != nil && library.Path == "" {
		err = device.without(tried, err)
	}
	problem(err)
	if device.cuda || library.Path != "" && missingCUDA(library) == nil {
		cuda := library.cuda(ctx, device.index)
		r.CUDA = &cuda
	}
	lacking := device.cuda && !device.auto && len(r.CUDA.Lacks) > 0
	if lacking {
		r.Problems = append(r.Problems, r.CUDA.Lacks...)
	}
	if err != nil {
		return r
	}
	if library.Path == "" {
		b, err := buildFor(runtime.GOOS, runtime.GOARCH, false)
		if err == nil {
			err = b.fetchable(cfg, tried)
		}
		problem(err)
		if c := damaged(tried); c != nil && err == nil {
			problem(fmt.Errorf("onnx runtime: %s: %s: the next run fetches it again", c.Path, c.Reason))
		}
		if err == nil {
			r.Fetch, r.Usable = "pip", writable
		}
		return r
	}
	r.Library, r.Version, r.Source = library.Path, library.Version, library.Source
	r.SHA256 = library.SHA256
	r.Providers = append(r.Providers, "cpu") // in every build
	if missingCUDA(library) == nil {
		r.Providers = append(r.Providers, "cuda")
	}
	err = release()
	problem(err)
	r.Usable = err == nil && !lacking
	return r
}

// diagnoseCache fills in the cache's fields and reports whether the cache can be written.
func (r *Report) diagnoseCache(problem func(error)) bool {
	dir, err := CacheDir()
	if err != nil {
		problem(err)
		return false
	}
	r.CacheDir, r.CacheBytes = dir, folderBytes(dir)
	f, err := os.CreateTemp(sysinfo.Existing(dir), ".mdmgen-*")
	if err != nil {
		problem(fmt.Errorf("cache %s: cannot be written: set MDMGEN_CACHE to another folder", dir))
		return false
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return true
}
