package ort

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	onnx "github.com/yalue/onnxruntime_go"

	"mdmgen/internal/fault"
	"mdmgen/model/ort/library"
)

// A device is a parsed Config.Device.
type device struct {
	name             string // as it was given
	cuda, auto, tf32 bool
	index            int
	gpus             []library.GPU // as its driver reports it, once a session is open
}

// device returns the configuration's device with its CUDA settings.
func (c Config) device() (device, error) {
	d, err := parseDevice(c.Device)
	if err == nil && !d.cuda && c.TF32 {
		err = errors.New("onnx session: only device cuda has TF32")
	}
	d.tf32 = c.TF32
	return d, err
}

func parseDevice(s string) (device, error) {
	switch s {
	case "", "cpu":
		return device{name: "cpu"}, nil
	case "cuda":
		return device{name: s, cuda: true}, nil
	case "auto":
		return device{name: s, cuda: true, auto: true}, nil
	}
	if n, ok := strings.CutPrefix(s, "cuda:"); ok {
		if i, err := strconv.ParseUint(n, 10, 8); err == nil {
			return device{name: s, cuda: true, index: int(i)}, nil
		}
	}
	return device{}, fmt.Errorf("onnx session: device %q: must be %s", s, DeviceForms)
}

// DeviceForms lists the forms of Config.Device, for messages.
const DeviceForms = "cpu, cuda, cuda:N or auto"

// CheckDevice returns an error unless s has the form of a device. It does not look for the device.
func CheckDevice(s string) error {
	_, err := parseDevice(s)
	return err
}

// Terms of the advice about devices.
var (
	onCPU    = fault.Term{Name: "device", Value: "cpu"}
	install  = fault.Term{Name: "library.Install"}
	diagnose = fault.Term{Name: "ort.Diagnose"}
)

var needGPU = fault.Advise("%v fetches a build of ONNX Runtime with CUDA, %v names one, such as that of the Python package onnxruntime-gpu, and %v uses the CPU if there is no GPU",
	install, fault.Term{Name: "runtime", Value: "PATH"}, fault.Term{Name: "device", Value: "auto"})

// acquire begins the environment with a library that has the device. A search for CUDA skips
// libraries without it, and never fetches: the library that is fetched has none.
func (d *device) acquire(ctx context.Context, cfg Config) (library.Library, error) {
	if d.auto {
		l, why := d.acquireAuto(ctx, cfg)
		if why == nil {
			return l, nil
		}
		cfg.Notify("device auto: using the CPU: " + fault.Line(fault.Spell(why, cfg.Spell)))
		d.cuda = false
	}
	if !d.cuda {
		l, _, err := acquire(ctx, cfg, nil, true)
		return l, err
	}
	if runtime.GOOS == "darwin" {
		return library.Library{}, &library.MissingError{What: "device " + d.name + ": there is no CUDA on macOS", Do: fault.Advise("use %v", onCPU)}
	}
	l, tried, err := acquire(ctx, cfg, library.Library.CheckCUDA, false)
	if err == nil && l.Path != "" {
		return l, nil
	}
	return library.Library{}, d.without(tried, err)
}

// without returns the error of a failed search for CUDA. The first library that lacks only CUDA is
// the one that the user must hear about.
func (d *device) without(tried []library.Candidate, err error) error {
	for _, c := range tried {
		if c.LacksCUDA() {
			return &library.MissingError{What: fmt.Sprintf("device %s: %s: %s", d.name, c.Path, c.Reason), Do: needGPU}
		}
	}
	if err != nil {
		return err
	}
	return &library.MissingError{What: "device " + d.name + ": " + library.NoneFound(tried), Do: needGPU}
}

// acquireAuto begins the environment with a library that has CUDA if the driver has a device;
// otherwise it returns the reason.
func (d *device) acquireAuto(ctx context.Context, cfg Config) (library.Library, error) {
	if _, err := library.GPUs(ctx); err != nil {
		return library.Library{}, err
	}
	l, _, err := acquire(ctx, cfg, library.Library.CheckCUDA, false)
	if err == nil && l.Path == "" {
		err = fault.Advise("no library with CUDA was found: %v fetches one", install)
	}
	return l, err
}

// appendTo puts the CUDA provider first. If the provider itself fails, that is an error, never a
// switch to the CPU. The nodes that it has no kernels for run on the CPU; see [ReadProfiles].
func (d *device) appendTo(o *onnx.SessionOptions, l library.Library) error {
	report := l.CUDA(context.Background(), d.index)
	report.Load()
	what := fmt.Sprintf("device cuda:%d: %s", d.index, l.Path)
	lacking := func() error {
		return &library.MissingError{What: what, Err: report.Err(), Do: fault.Advise("then run again, or use %v", onCPU)}
	}
	if report.Certain {
		return lacking()
	}
	c, err := onnx.NewCUDAProviderOptions()
	if err == nil {
		live.Add(1)
		defer func() {
			_ = c.Destroy()
			live.Add(-1)
		}()
		err = c.Update(d.options())
	}
	if err == nil {
		err = o.AppendExecutionProviderCUDA(c)
	}
	if err == nil {
		if report.GPU != nil {
			d.gpus = []library.GPU{*report.GPU}
		}
		return nil
	}
	if len(report.Lacks) > 0 {
		return lacking()
	}
	return &library.MissingError{What: what, Err: runtimeError(err), Do: fault.Advise("see what %v says, or use %v", diagnose, onCPU)}
}

// options returns the provider's options. Its own default multiplies float32 as TF32, which changes
// logits by about 1e-2.
func (d *device) options() map[string]string {
	return map[string]string{"device_id": strconv.Itoa(d.index), "use_tf32": map[bool]string{false: "0", true: "1"}[d.tf32]}
}
