package ort

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/dustin/go-humanize/english"
	"github.com/edsrzf/mmap-go"

	"mdmgen/internal/plainfile"
	"mdmgen/model/internal/onnxpb"
	"mdmgen/model/ort/library"
)

// Config sets which runtime to use, and how. The zero value means the CPU, all threads, and a
// library that is searched for and fetched if necessary.
type Config struct {
	library.Search
	// Threads is the number of threads that one operator may use; 0 means all CPUs that the process
	// may use, and so does any greater number, with a notice. [Session.Threads] returns the number
	// in use.
	Threads int
	// Device is "cpu", "cuda", "cuda:N" or "auto"; "" is "cpu". "auto" uses the first CUDA device
	// if the runtime has its provider and the network opens on it, else the CPU; see
	// [Session.Provider]. Nodes that CUDA has no kernels for are an error, or only logged with
	// "auto".
	Device string
	// TF32 lets CUDA multiply float32 numbers with 10 bits of their mantissas.
	TF32 bool
	// Profile is a folder to which each session, once it is closed, writes where its nodes ran; see
	// [ReadProfiles]. "" is for none.
	Profile string
}

// threads returns the number of threads to use.
func (c Config) threads() int {
	cpus := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	if c.Threads > 0 {
		return min(c.Threads, cpus)
	}
	return cpus
}

// loggedThreads means that the notice of too many threads was logged: a process opens several
// sessions with one configuration.
var loggedThreads atomic.Bool

// logThreads logs, once, that there are more threads than CPUs.
func (c Config) logThreads() {
	if used := c.threads(); c.Threads > used && c.Log != nil && loggedThreads.CompareAndSwap(false, true) {
		c.Log(fmt.Sprintf("%d threads are asked for, but the program may use %s: using %d", c.Threads, english.Plural(used, "CPU", ""), used))
	}
}

// A Source is a network in ONNX form: a file, or its bytes.
type Source struct {
	// Path is the .onnx file. Its external data are next to it.
	Path string
	// Bytes is the model itself, if Path is empty. Open does not use it once it has returned.
	Bytes []byte
	// ExternalDir is the folder of the external data of Bytes, if it has any.
	ExternalDir string
	// Outputs names the outputs that Run computes; nil means all. A large output that nobody wants
	// costs as much as the others.
	Outputs []string
	// Fused means that the graph already has the runtime's fused operators. On the CPU the runtime
	// then folds constants but does not look for operators to fuse, which takes a fifth of opening.
	Fused bool
	// Unsigned makes the session multiply integers as on a processor on which they saturate.
	Unsigned bool
}

// An IO is an input or output of a network.
type IO = onnxpb.Value

// read returns the model's name for messages and its description.
func (src Source) read() (name string, info Description, err error) {
	if src.Path != "" && src.Bytes != nil {
		return "", info, errors.New("onnx session: the model is given both as a file and as bytes: give one")
	}
	name = cmp.Or(src.Path, "model")
	err = src.with(func(data []byte) (err error) {
		info, err = readModel(data)
		return err
	})
	if err != nil {
		return name, info, fmt.Errorf("onnx session: %s: %w", name, err)
	}
	if src.Outputs == nil {
		return name, info, nil
	}
	if len(src.Outputs) == 0 {
		return name, info, fmt.Errorf("onnx session: %s: no output is named: name one", name)
	}
	var outputs []IO
	for _, want := range src.Outputs {
		out, ok := info.Output(want)
		if !ok {
			return name, info, fmt.Errorf("onnx session: %s: no output %q: it has %s", name, want, Names(info.Outputs))
		}
		outputs = append(outputs, out)
	}
	info.Outputs = outputs
	return name, info, nil
}

// with calls f with the model's bytes; a file is mapped, so that its weights are not read twice.
func (src Source) with(f func([]byte) error) error {
	if src.Path == "" {
		return f(src.Bytes)
	}
	return mapped(src.Path, f)
}

// mapped calls f with the content of a file, which is mapped until f returns.
func mapped(path string, f func([]byte) error) error {
	file, err := plainfile.Open(path)
	if errors.Is(err, plainfile.ErrNotRegular) {
		return onnxpb.ErrNoModel
	}
	if err != nil {
		return plainfile.Cause(err)
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return plainfile.Cause(err)
	}
	if stat.Size() == 0 {
		return onnxpb.ErrNoModel
	}
	data, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		return fmt.Errorf("map the file: %w", err)
	}
	return errors.Join(f(data), data.Unmap())
}

// Names returns the names of inputs or outputs.
func Names(ios []IO) []string {
	out := make([]string, len(ios))
	for i, io := range ios {
		out[i] = io.Name
	}
	return out
}
