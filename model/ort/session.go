package ort

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/dustin/go-humanize/english"
	onnx "github.com/yalue/onnxruntime_go"
)

// A Session is a network that is ready to run. Its methods may be called from several goroutines,
// but one Run waits for another; open a session for each goroutine to run in parallel.
type Session struct {
	mu        sync.Mutex
	native    *onnx.DynamicAdvancedSession // nil when closed
	options   *onnx.RunOptions
	info      Description
	library   Library
	provider  string
	gpu       *GPU
	threads   int
	in, out   []slot
	inValues  []onnx.Value
	outValues []onnx.Value
	// firstOnGPU means that there has been no run yet; the first one loads more of CUDA.
	firstOnGPU bool
}

// Open makes a session. It first finds, or fetches, the runtime; ctx can cancel that. The error for
// a missing runtime or device is a [*MissingError].
func Open(ctx context.Context, src Source, cfg Config) (*Session, error) {
	device, err := cfg.device()
	if err != nil {
		return nil, err
	}
	if cfg.Threads < 0 || cfg.Threads > 4096 {
		return nil, fmt.Errorf("onnx session: %d threads: must be 1 to 4096, or 0 for all CPUs", cfg.Threads)
	}
	name, info, err := src.read()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	library, err := device.acquire(ctx, cfg)
	if err != nil {
		return nil, err
	}
	cfg.logThreads()
	if len(info.loops) > 0 {
		cfg.log(fmt.Sprintf("%s: has %s: a call that takes longer than %v plus a second per position is cancelled", name, nodeList(info.loops), loopBase))
	}
	s := &Session{info: info, library: library, threads: cfg.threads()}
	if err := s.open(src, cfg, device); err != nil {
		var missing *MissingError
		if !errors.As(err, &missing) {
			err = fmt.Errorf("onnx session: %s: %w", name, err)
		}
		if e := release(); e != nil {
			err = fmt.Errorf("%w (and then %s)", err, oneLine(e.Error()))
		}
		return nil, err
	}
	// Close a session that was forgotten: its pinned memory would end the process when it is
	// collected.
	runtime.SetFinalizer(s, func(s *Session) { _ = s.Close() })
	return s, nil
}

// open makes the native objects; after an error none are left.
func (s *Session) open(src Source, cfg Config, device device) error {
	err := s.create(src, cfg, device)
	if err == nil {
		if s.options, err = onnx.NewRunOptions(); err == nil {
			live.Add(1)
		}
	}
	if err != nil {
		return errors.Join(err, s.destroy())
	}
	s.in, s.inValues = make([]slot, len(s.info.Inputs)), make([]onnx.Value, len(s.info.Inputs))
	s.out, s.outValues = make([]slot, len(s.info.Outputs)), make([]onnx.Value, len(s.info.Outputs))
	return nil
}

// create makes the native session on the requested device.
func (s *Session) create(src Source, cfg Config, device device) error {
	if !device.cuda {
		s.provider = "cpu"
		return s.createOn(src, nil)
	}
	s.provider = "cuda:" + strconv.Itoa(device.index)
	env.keep()
	err := keepingSignals(func() error { return s.createOn(src, &device) })
	if err == nil {
		err = s.checkPlacement(src, cfg, device)
	}
	if err == nil {
		s.firstOnGPU, s.gpu = true, device.gpu
		return nil
	}
	if !device.auto {
		return err
	}
	cfg.log("device auto: using the CPU, since CUDA fails to open: " + oneLine(err.Error()))
	s.provider = "cpu"
	return errors.Join(s.destroy(), s.createOn(src, nil))
}

// checkPlacement checks that CUDA took all nodes. Those that it left to the CPU are logged, and become
// part of the provider's name, if the device is auto.
func (s *Session) checkPlacement(src Source, cfg Config, device device) error {
	all, err := placement(s.native, s.library.Path)
	if err != nil {
		return err
	}
	var shapes map[operation]bool
	if err := src.with(func(data []byte) (err error) { shapes, err = shapeNodes(data); return err }); err != nil {
		return err
	}
	return s.judge(fallbacks(all, shapes), cfg, device)
}

// judge rejects nodes that were left to the CPU, or records them if the device is auto.
func (s *Session) judge(left []operation, cfg Config, device device) error {
	if len(left) > 0 && !device.auto {
		return &MissingError{
			What: fmt.Sprintf("device %s: it has no kernels for %s of the network, which would run on the CPU: %s", s.provider, english.Plural(len(left), "node", ""), nodeList(left)),
			Do:   "use --device auto or cpu",
		}
	}
	if device.tf32 {
		s.provider += ", TF32"
	}
	if len(left) > 0 {
		cfg.log(fmt.Sprintf("device %s: on the CPU run %s", s.provider, nodeList(left)))
		s.provider += ", " + operators(left) + " on the CPU"
	}
	return nil
}

// createOn makes the native session; cuda is nil for the CPU.
func (s *Session) createOn(src Source, cuda *device) error {
	o, err := onnx.NewSessionOptions()
	if err != nil {
		return err
	}
	live.Add(1)
	defer func() {
		_ = o.Destroy()
		live.Add(-1)
	}()
	if err := s.configure(o, src, cuda == nil && src.Fused); err != nil {
		return err
	}
	if cuda != nil {
		if err := errors.Join(o.AddSessionConfigEntry(recordPlacement, "1"), cuda.appendTo(o, s.library)); err != nil {
			return err
		}
	}
	in, out := Names(s.info.Inputs), Names(s.info.Outputs)
	if src.Path != "" {
		s.native, err = onnx.NewDynamicAdvancedSession(src.Path, in, out, o)
	} else {
		s.native, err = onnx.NewDynamicAdvancedSessionWithONNXData(src.Bytes, in, out, o)
	}
	if err != nil {
		s.native = nil
		return runtimeError(err)
	}
	live.Add(1)
	return nil
}

// configure sets the options that make runs repeatable, quiet and fast.
func (s *Session) configure(o *onnx.SessionOptions, src Source, fused bool) error {
	entries := map[string]string{
		// A network of this kind is a chain of many short operators. Threads that spin between them
		// make it up to twice as fast as threads that sleep. Threads that spin between two runs
		// only take a CPU away from the sampler, and so do those that spin for long while other
		// programs need it: by the runtime's own default, two threads take 1.8 times the processor
		// time of one. BenchmarkRun measures it.
		"session.intra_op.allow_spinning":   "1",
		"session.intra_op.spin_duration_us": "20",
		"session.force_spinning_stop":       "1",
		"session.inter_op.allow_spinning":   "0",
	}
	if src.Bytes != nil && src.ExternalDir != "" {
		// The runtime rejects data whose real path is outside the folder.
		dir, err := filepath.EvalSymlinks(src.ExternalDir)
		if err != nil {
			return fmt.Errorf("folder of external data: %w", err)
		}
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		entries["session.model_external_initializers_file_folder_path"] = dir
	}
	level := onnx.GraphOptimizationLevel(onnx.GraphOptimizationLevelEnableAll)
	if fused {
		level = onnx.GraphOptimizationLevelEnableBasic
	}
	err := errors.Join(
		o.SetIntraOpNumThreads(s.threads),
		o.SetInterOpNumThreads(1),
		o.SetExecutionMode(onnx.ExecutionModeSequential),
		o.SetGraphOptimizationLevel(level),
		o.SetLogSeverityLevel(onnx.LoggingLevelFatal),
		o.SetCpuMemArena(true),
		o.SetMemPattern(true),
	)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		err = errors.Join(err, o.AddSessionConfigEntry(key, entries[key]))
	}
	return err
}

// Description returns the model's description, with the outputs that Run computes. It must not be
// changed.
func (s *Session) Description() Description { return s.info }

// Provider returns where the network runs: "cpu", or "cuda:0" and so on, followed by how that
// differs from all nodes in float32 on the device: "cuda:0, TF32", "cuda:0, Unique on the CPU".
func (s *Session) Provider() string { return s.provider }

// GPUs returns the device where the network runs: none on the CPU, or if it is unknown.
func (s *Session) GPUs() []GPU {
	if s.gpu == nil {
		return nil
	}
	return []GPU{*s.gpu}
}

// Library returns the runtime's library.
func (s *Session) Library() Library { return s.library }

// Threads returns the number of threads that one operator may use.
func (s *Session) Threads() int { return s.threads }

// Close frees everything that the session holds outside Go's memory; the last Close of a process
// ends the environment. It waits for a Run to end. Close may be called twice.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.native == nil {
		return nil
	}
	return errors.Join(s.destroy(), release())
}

// destroy frees the native objects that exist.
func (s *Session) destroy() error {
	var errs []error
	for i := range s.in {
		errs = append(errs, s.in[i].free())
	}
	for i := range s.out {
		errs = append(errs, s.out[i].free())
	}
	if s.options != nil {
		errs = append(errs, s.options.Destroy())
		s.options = nil
		live.Add(-1)
	}
	if s.native != nil {
		errs = append(errs, s.native.Destroy())
		s.native = nil
		live.Add(-1)
	}
	return errors.Join(errs...)
}
