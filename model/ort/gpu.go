package ort

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// A GPU is a device as its driver tells of it.
type GPU struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	// Capability is the compute capability, such as 9.0.
	Capability string `json:"compute_capability"`
	MemoryMiB  int64  `json:"memory_mib"`
	// Driver is the version of the driver.
	Driver string `json:"driver"`
	// ClockMHz and MemoryMHz are the greatest clocks, PowerW what the device may draw, in watts; 0
	// where it does not tell.
	ClockMHz  float64 `json:"clock_mhz,omitempty"`
	MemoryMHz float64 `json:"memory_mhz,omitempty"`
	PowerW    float64 `json:"power_w,omitempty"`
}

// String is the device in a line.
func (g GPU) String() string {
	s := fmt.Sprintf("%s, compute capability %s, %s, driver %s", g.Name, g.Capability, humanize.IBytes(uint64(g.MemoryMiB)<<20), g.Driver)
	if g.ClockMHz > 0 {
		s += fmt.Sprintf(", clocks to %g MHz, of memory %g MHz", g.ClockMHz, g.MemoryMHz)
	}
	if g.PowerW > 0 {
		s += fmt.Sprintf(", %g W", g.PowerW)
	}
	return s
}

// smi is what is asked of the program nvidia-smi that comes with the driver.
var smi = []string{"--query-gpu=index,name,compute_cap,memory.total,driver_version,clocks.max.sm,clocks.max.mem,power.limit", "--format=csv,noheader,nounits"}

// askDriver asks NVIDIA's driver for its devices. There is at least one where the error is nil.
func askDriver(ctx context.Context) ([]GPU, error) {
	program, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, errors.New("no NVIDIA driver is here: the search path has no nvidia-smi")
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := helper(ctx, quietFolder(), append([]string{program}, smi...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("no NVIDIA driver answers: nvidia-smi: %s", complaint(string(out), err))
	}
	var all []GPU
	for line := range strings.Lines(string(out)) {
		field := strings.Split(strings.TrimSpace(line), ", ")
		if len(field) != 8 {
			return nil, fmt.Errorf("nvidia-smi: %q is not what was asked for", oneLine(line))
		}
		g := GPU{Name: field[1], Capability: field[2], Driver: field[4], ClockMHz: number(field[5]), MemoryMHz: number(field[6]), PowerW: number(field[7])}
		g.Index, _ = strconv.Atoi(field[0])
		g.MemoryMiB, _ = strconv.ParseInt(field[3], 10, 64)
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil, errors.New("the NVIDIA driver has no device")
	}
	return all, nil
}

// CUDA is what the provider of a library needs, and what there is of it.
type CUDA struct {
	// Version is the major version of CUDA that the provider is built with, "" where its file does not tell.
	Version string `json:"version,omitempty"`
	GPUs    []GPU  `json:"gpus"`
	// Libraries are those that the provider is linked with, of CUDA and cuDNN.
	Libraries []CUDALibrary `json:"libraries"`
	// Lacks are lines that say what is missing and what brings it.
	Lacks []string `json:"lacks"`
	// gpu is the device that was asked for, nil where it is not there.
	gpu *GPU
	// certain says that without some of it no network runs, whatever the runtime itself says.
	certain bool
}

// A CUDALibrary is a library of CUDA or cuDNN; Path is "" where it was not found, and no more than its
// name where the system's loader finds it.
type CUDALibrary struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
}

// toolkits are what the major versions of CUDA ask of a machine, as NVIDIA says it: the oldest driver of
// Linux, and the least compute capability that the compiler makes code for; and the cuDNN that the runtime
// opens by its name, for attention.
var toolkits = map[string]struct {
	driver     int
	capability float64
	cudnn      string
}{"11": {450, 3.5, "libcudnn.so.8"}, "12": {525, 5, "libcudnn.so.9"}, "13": {580, 7.5, "libcudnn.so.9"}}

// packages are the Python packages that hold a library, after nvidia-.
var packages = map[string]string{
	"libcudart": "cuda-runtime", "libcublas": "cublas", "libcublasLt": "cublas", "libcufft": "cufft", "libcurand": "curand",
	"libcusparse": "cusparse", "libnvrtc": "cuda-nvrtc", "libnvJitLink": "nvjitlink", "libcudnn": "cudnn",
}

// nvidia are the names of CUDA's libraries. The driver's own is not one of them.
var nvidia = regexp.MustCompile(`^(lib(?:cu(?:dart|blas|fft|rand|sparse|dnn)|nv)\w*)\.so\.(\d+)$`)

// cuda says what the CUDA provider beside a library needs and has, on the device of an index.
func (l Library) cuda(ctx context.Context, index int) CUDA {
	r := CUDA{GPUs: []GPU{}, Libraries: []CUDALibrary{}, Lacks: []string{}}
	var names []string
	if path, err := filepath.EvalSymlinks(l.Path); err == nil && l.Path != "" {
		names = imported(filepath.Join(filepath.Dir(path), providerFile("cuda")))
	}
	for _, name := range names {
		if m := nvidia.FindStringSubmatch(name); m != nil && m[1] == "libcudart" {
			r.Version = m[2]
		}
	}
	need, told := toolkits[r.Version]
	if told && !slices.Contains(names, need.cudnn) {
		names = append(names, need.cudnn)
	}
	gpus, err := askDriver(ctx)
	r.GPUs = append(r.GPUs, gpus...)
	switch at := slices.IndexFunc(gpus, func(g GPU) bool { return g.Index == index }); {
	case err != nil:
		driver := "NVIDIA's driver"
		if told {
			driver += fmt.Sprintf(" of version %d or newer", need.driver)
		}
		r.lack("%v: install %s", err, driver)
	case at < 0:
		r.lack("there is no GPU %d: the driver has %s", index, english.Plural(len(gpus), "device", ""))
		r.certain = true
	default:
		r.gpu = &gpus[at]
	}
	if g := r.gpu; g != nil && told {
		if major, _, _ := strings.Cut(g.Driver, "."); number(major) < float64(need.driver) {
			r.lack("driver %s is too old for CUDA %s: install %d or newer", g.Driver, r.Version, need.driver)
		}
		if number(g.Capability) < need.capability {
			r.lack("GPU %d, %s, has compute capability %s, and what is built with CUDA %s has code for %.1f and newer: use a build with an older CUDA", g.Index, g.Name, g.Capability, r.Version, need.capability)
			r.certain = true
		}
	}
	r.find(ctx, names)
	return r
}

// lacks are Lacks as errors.
func (r CUDA) lacks() (errs []error) {
	for _, line := range r.Lacks {
		errs = append(errs, errors.New(line))
	}
	return errs
}

func (r *CUDA) lack(format string, args ...any) {
	r.Lacks = append(r.Lacks, fmt.Sprintf(format, args...))
}

// find looks for libraries of CUDA and cuDNN in the system's folders, in the nvidia-* packages of the
// active Python environment, and where the system's loader does.
func (r *CUDA) find(ctx context.Context, names []string) {
	var folders []string
	for _, name := range names {
		m := nvidia.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if folders == nil {
			folders = cudaFolders(ctx)
		}
		one := CUDALibrary{Name: name}
		var refused error
		for _, dir := range folders {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			if refused = trusted(path); refused == nil {
				one.Path = path
				break
			}
		}
		if one.Path == "" && refused == nil && loads(name) {
			one.Path = name
		}
		if r.Libraries = append(r.Libraries, one); one.Path != "" {
			continue
		}
		r.certain = true
		if refused != nil {
			r.lack("%s: %v", name, refused)
			continue
		}
		// The packages of CUDA 13 have no suffix, but for cuDNN's.
		bring := "install CUDA " + r.Version
		if p := packages[m[1]]; p != "" {
			bring = "pip install nvidia-" + p
			if p == "cudnn" || r.Version == "11" || r.Version == "12" {
				bring += "-cu" + r.Version
			}
		}
		r.lack("%s was not found: %s", name, bring)
	}
}

// cudaFolders are where libraries of CUDA may be.
func cudaFolders(ctx context.Context) []string {
	dirs := append(systemFolders(), "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib")
	for _, dir := range packageFolders(ctx, "nvidia") {
		found, _ := fsGlob(dir, "*/lib")
		dirs = append(dirs, found...)
	}
	return dirs
}

// imported are the names of the libraries that a library is linked with; none where the file does not tell.
func imported(path string) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.ImportedLibraries()
	slices.Sort(names)
	return names
}

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64)
	return x
}
