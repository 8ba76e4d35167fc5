package ort

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/fault"
	"mdmgen/internal/sysinfo"
	"mdmgen/model/ort/library"
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
	Candidates []library.Candidate `json:"candidates"`
	// Providers are the devices that the library can run on.
	Providers []string `json:"providers"`
	// CUDA describes the machine's support for the library's CUDA provider, if the library has one
	// or --device asks for it.
	CUDA *library.CUDA `json:"cuda,omitempty"`
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
	r := Report{Threads: cfg.threads(), Offline: cfg.IsOffline(), Candidates: []library.Candidate{}, Providers: []string{}, Problems: []string{}}
	problem := func(err error) {
		if err != nil {
			r.Problems = append(r.Problems, fault.Line(fault.Spell(err, cfg.Spell)))
		}
	}
	device, err := parseDevice(cfg.Device)
	problem(err)
	writable := r.diagnoseCache(problem)

	// Like Open, a search for CUDA skips libraries without it.
	var accept func(library.Library) error
	if device.cuda && !device.auto {
		accept = library.Library.CheckCUDA
	}
	found, tried, err := acquire(ctx, cfg, accept, false)
	r.Candidates = append(r.Candidates, tried...)
	if accept != nil && found.Path == "" {
		err = device.without(tried, err)
	}
	problem(err)
	if device.cuda || found.Path != "" && found.CheckCUDA() == nil {
		cuda := found.CUDA(ctx, device.index)
		r.CUDA = &cuda
	}
	lacking := device.cuda && !device.auto && len(r.CUDA.Lacks) > 0
	if lacking {
		r.Problems = append(r.Problems, r.CUDA.Lacks...)
	}
	if err != nil {
		return r
	}
	if found.Path == "" {
		err := cfg.Fetchable(tried)
		problem(err)
		if c := library.Damaged(tried); c != nil && err == nil {
			problem(fmt.Errorf("onnx runtime: %s: %s: the next run fetches it again", c.Path, c.Reason))
		}
		if err == nil {
			r.Fetch, r.Usable = "pip", writable
		}
		return r
	}
	r.Library, r.Version, r.Source = found.Path, found.Version, found.Source
	r.SHA256 = found.SHA256
	r.Providers = append(r.Providers, "cpu") // in every build
	if found.CheckCUDA() == nil {
		r.Providers = append(r.Providers, "cuda")
	}
	err = release()
	problem(err)
	r.Usable = err == nil && !lacking
	return r
}

// diagnoseCache fills in the cache's fields and reports whether the cache can be written.
func (r *Report) diagnoseCache(problem func(error)) bool {
	dir, err := cachedir.Path()
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

// folderBytes returns the size of all files under a folder, in bytes, without those that cannot be
// read.
func folderBytes(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}
