package library

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

	"mdmgen/internal/cachedir"
	"mdmgen/internal/fault"
)

// A GPU is a device as its driver reports it.
type GPU struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	// Capability is the compute capability, such as 9.0.
	Capability string `json:"compute_capability"`
	MemoryMiB  int64  `json:"memory_mib"`
	// Driver is the driver's version.
	Driver string `json:"driver"`
	// ClockMHz and MemoryMHz are the maximum clocks, PowerW is the power limit in watts; 0 if
	// unknown.
	ClockMHz  float64 `json:"clock_mhz,omitempty"`
	MemoryMHz float64 `json:"memory_mhz,omitempty"`
	PowerW    float64 `json:"power_w,omitempty"`
}

// String describes the device in one line.
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

// smi holds the arguments for nvidia-smi, the program that comes with the driver.
var smi = []string{"--query-gpu=index,name,compute_cap,memory.total,driver_version,clocks.max.sm,clocks.max.mem,power.limit", "--format=csv,noheader,nounits"}

// GPUs returns the devices that NVIDIA's driver reports. There is at least one if the error is
// nil.
func GPUs(ctx context.Context) ([]GPU, error) {
	program, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, errors.New("no NVIDIA driver found: nvidia-smi is not in the search path")
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
			return nil, fmt.Errorf("nvidia-smi: unexpected output %q", fault.Line(line))
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

// CUDA describes a machine's support for the CUDA provider of a library.
type CUDA struct {
	GPUs []GPU `json:"gpus"`
	// Lacks holds lines that name what is missing.
	Lacks []string `json:"lacks"`
	// GPU is the requested device, nil if it does not exist.
	GPU *GPU `json:"-"`
	// Certain means that no network runs without what is missing, whatever the runtime reports.
	Certain bool `json:"-"`
	// libraries are the paths of the CUDA and cuDNN libraries that the provider is linked with.
	libraries []string
}

var errNoCUDA = errors.New("it lacks CUDA")

// CheckCUDA returns an error if a file of the CUDA provider is not next to the library, or cannot
// be used.
func (l Library) CheckCUDA() error {
	path := resolveLinks(l.Path)
	for _, name := range []string{providerFile("cuda"), providerFile("shared")} {
		beside := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(beside); err != nil {
			return fmt.Errorf("%w: %s is missing next to it", errNoCUDA, name)
		}
		err := trusted(beside)
		if err == nil && l.Source == sourceCache {
			_, err = publishedSum(context.Background(), beside, cachedir.Stamps(false))
		}
		if err != nil {
			return fmt.Errorf("%w: %s cannot be used: %w", errNoCUDA, name, err)
		}
	}
	return nil
}

// nvidia matches the names of CUDA's libraries, except the driver's own.
var nvidia = regexp.MustCompile(`^lib(?:cu(?:dart|blas|fft|rand|sparse|dnn)|nv)\w*\.so\.\d+$`)

// cudnn is the library that the runtime opens by name, for attention.
const cudnn = "libcudnn.so.9"

// CUDA looks for the device with an index and for the libraries of l's CUDA provider. A driver or
// device that is too old for them is reported by CUDA itself.
func (l Library) CUDA(ctx context.Context, index int) CUDA {
	r := CUDA{GPUs: []GPU{}, Lacks: []string{}}
	gpus, err := GPUs(ctx)
	r.GPUs = append(r.GPUs, gpus...)
	switch at := slices.IndexFunc(gpus, func(g GPU) bool { return g.Index == index }); {
	case err != nil:
		r.lack("%v: install NVIDIA's driver", err)
	case at < 0:
		r.lack("there is no GPU %d: the driver has %s", index, english.Plural(len(gpus), "device", ""))
		r.Certain = true
	default:
		r.GPU = &gpus[at]
	}
	path, err := filepath.EvalSymlinks(l.Path)
	if err != nil || l.Path == "" {
		return r
	}
	names := slices.DeleteFunc(imported(filepath.Join(filepath.Dir(path), providerFile("cuda"))), func(name string) bool { return !nvidia.MatchString(name) })
	if len(names) > 0 && !slices.Contains(names, cudnn) {
		names = append(names, cudnn)
	}
	r.find(ctx, names)
	return r
}

// Err returns Lacks as joined errors.
func (r CUDA) Err() error {
	var errs []error
	for _, line := range r.Lacks {
		errs = append(errs, errors.New(line))
	}
	return errors.Join(errs...)
}

func (r *CUDA) lack(format string, args ...any) {
	r.Lacks = append(r.Lacks, fmt.Sprintf(format, args...))
}

// find looks for libraries of CUDA and cuDNN in the system's folders, in the nvidia-* packages of
// the active Python environment, and with the system's loader.
func (r *CUDA) find(ctx context.Context, names []string) {
	if len(names) == 0 {
		return
	}
	folders := cudaFolders(ctx)
	var missing []string
	for _, name := range names {
		found := false
		var refused error
		for _, dir := range folders {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			if refused = trusted(path); refused == nil {
				r.libraries, found = append(r.libraries, path), true
				break
			}
		}
		switch {
		case refused != nil:
			r.lack("%s: %v", name, refused)
			r.Certain = true
		case !found && !loads(name):
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		r.lack("not found: %s: install CUDA and cuDNN of these versions, or the Python packages nvidia-* that hold them", strings.Join(missing, ", "))
		r.Certain = true
	}
}

// cudaFolders returns the folders that may hold CUDA's libraries.
func cudaFolders(ctx context.Context) []string {
	dirs := append(systemFolders(), "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib")
	for _, dir := range packageFolders(ctx, "nvidia") {
		found, _ := fsGlob(dir, "*/lib")
		dirs = append(dirs, found...)
	}
	return dirs
}

// imported returns the names of the libraries that a library is linked with, none if the file
// cannot be read.
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
