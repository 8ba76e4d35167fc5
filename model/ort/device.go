package ort

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	onnx "github.com/yalue/onnxruntime_go"
)

// A device is a parsed Config.Device.
type device struct {
	cuda, auto bool
	index      int
}

func parseDevice(s string) (device, error) {
	switch s {
	case "", "cpu":
		return device{}, nil
	case "cuda":
		return device{cuda: true}, nil
	case "auto":
		return device{cuda: true, auto: true}, nil
	}
	if n, ok := strings.CutPrefix(s, "cuda:"); ok {
		if i, err := strconv.ParseUint(n, 10, 8); err == nil {
			return device{cuda: true, index: int(i)}, nil
		}
	}
	return device{}, fmt.Errorf("onnx session: device %q: must be cpu, cuda, cuda:N or auto", s)
}

const noCUDA = "it has no CUDA"

const needGPU = "point --runtime at a build of ONNX Runtime with CUDA, such as the library in the Python package onnxruntime-gpu"

// acquire begins the environment with a library that has the device. A search
// for CUDA passes libraries without it, and never fetches: the fetched library
// has none.
func (d *device) acquire(ctx context.Context, cfg Config) (Library, error) {
	if !d.cuda || d.auto {
		l, _, err := acquire(ctx, cfg, nil, true)
		if err == nil && d.auto && missingCUDA(l) != nil {
			d.cuda = false
		}
		return l, err
	}
	if runtime.GOOS == "darwin" {
		return Library{}, &MissingError{What: "device cuda: there is no CUDA on macOS", Do: "use --device cpu"}
	}
	l, tried, err := acquire(ctx, cfg, missingCUDA, false)
	if err == nil && l.Path != "" {
		return l, nil
	}
	// What speaks against the first library that would do otherwise is what the
	// user must hear.
	for _, c := range tried {
		if strings.HasPrefix(c.Reason, noCUDA) {
			return Library{}, &MissingError{What: fmt.Sprintf("device cuda: %s: %s", c.Path, c.Reason), Do: needGPU}
		}
	}
	if err != nil {
		return Library{}, err
	}
	return Library{}, &MissingError{What: "device cuda: " + noneFound(tried), Do: needGPU}
}

// missingCUDA says which file of the CUDA provider is not beside a library.
func missingCUDA(l Library) error {
	path := l.Path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	for _, name := range []string{providerFile("cuda"), providerFile("shared")} {
		beside := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(beside); err != nil {
			return fmt.Errorf(noCUDA+": %s is not beside it", name)
		}
		if err := trusted(beside); err != nil {
			return fmt.Errorf(noCUDA+" that can be used: %w", err)
		}
	}
	return nil
}

// appendTo puts the CUDA provider first. An operator that CUDA lacks still runs
// on the CPU, as the few do that compute shapes; forbidding that
// (session.disable_cpu_ep_fallback) would refuse every network. That the
// provider itself fails is an error here, never a change to the CPU.
func (d *device) appendTo(o *onnx.SessionOptions, l Library) error {
	c, err := onnx.NewCUDAProviderOptions()
	if err == nil {
		live.Add(1)
		defer func() {
			_ = c.Destroy()
			live.Add(-1)
		}()
		err = c.Update(map[string]string{"device_id": strconv.Itoa(d.index)})
	}
	if err == nil {
		err = o.AppendExecutionProviderCUDA(c)
	}
	if err != nil {
		return &MissingError{What: fmt.Sprintf("device cuda:%d: %s", d.index, l.Path), Err: runtimeError(err), Do: "see that the driver, CUDA and cuDNN of that build are installed, or use --device cpu"}
	}
	return nil
}

// CheckDevice tells whether s is a value of Config.Device, without looking for
// the device.
func CheckDevice(s string) error {
	_, err := parseDevice(s)
	return err
}
