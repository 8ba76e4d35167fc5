package ort

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"

	onnx "github.com/yalue/onnxruntime_go"
	"golang.org/x/sys/cpu"

	"mdmgen/internal/fault"
	"mdmgen/model/ort/library"
)

// A Session is a network that is ready to run. Its methods may be called from several goroutines,
// but one Run waits for another; open a session for each goroutine to run in parallel.
type Session struct {
	mu        sync.Mutex
	native    *onnx.DynamicAdvancedSession // nil when closed
	options   *onnx.RunOptions
	info      Description
	library   library.Library
	provider  string
	gpus      []library.GPU // none on the CPU, or if it is unknown
	threads   int
	in, out   []slot
	inValues  []onnx.Value
	outValues []onnx.Value
	// firstOnGPU means that there has been no run yet; the first one loads more of CUDA.
	firstOnGPU bool
}

// Open makes a session. It first finds, or fetches, the runtime; ctx can cancel that. The error for
// a missing runtime or device is a [*library.MissingError].
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
	lib, err := device.acquire(ctx, cfg)
	if err != nil {
		return nil, err
	}
	cfg.logThreads()
	if len(info.loops) > 0 {
		cfg.Notify(fmt.Sprintf("%s: has %s: a call that takes longer than %v plus a second per position is cancelled", name, nodeList(info.loops), loopBase))
	}
	if info.Apart != "" && src.Outputs != nil { // of another tool: our own networks are described
		cfg.Notify(name + ": " + info.Apart + ", so each text is asked by itself")
	}
	s := &Session{info: info, library: lib, threads: cfg.threads()}
	if err := s.open(src, cfg, device); err != nil {
		var missing *library.MissingError
		if !errors.As(err, &missing) {
			err = fmt.Errorf("onnx session: %s: %w", name, err)
		}
		if e := release(); e != nil {
			err = fmt.Errorf("%w (and then %s)", err, fault.Line(e.Error()))
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
		return s.createOn(src, cfg, nil)
	}
	s.provider = "cuda:" + strconv.Itoa(device.index)
	env.keep()
	err := keepingSignals(func() error { return s.createOn(src, cfg, &device) })
	if err == nil {
		if device.tf32 {
			s.provider += ", TF32"
		}
		s.firstOnGPU, s.gpus = true, device.gpus
		return nil
	}
	if !device.auto {
		return err
	}
	cfg.Notify("device auto: using the CPU, since CUDA fails to open: " + fault.Line(fault.Spell(err, cfg.Spell)))
	s.provider = "cpu"
	return errors.Join(s.destroy(), s.createOn(src, cfg, nil))
}

// createOn makes the native session; cuda is nil for the CPU.
func (s *Session) createOn(src Source, cfg Config, cuda *device) error {
	o, err := onnx.NewSessionOptions()
	if err != nil {
		return err
	}
	live.Add(1)
	defer func() {
		_ = o.Destroy()
		live.Add(-1)
	}()
	if err := s.configure(o, src, cfg.Profile, cuda == nil && src.Fused); err != nil {
		return err
	}
	if cuda != nil {
		if err := cuda.appendTo(o, s.library); err != nil {
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
		return unfit(runtimeError(err), s.library.Version)
	}
	live.Add(1)
	return nil
}

// saturates means that this processor adds products of unsigned and signed bytes in 16 bits, which
// overflow (2·255·127 > 2¹⁵): x86 without VNNI. There the runtime can store such weights as unsigned
// bytes, plus 128, whose products it adds exactly, at less speed.
var saturates = runtime.GOARCH == "amd64" && !cpu.X86.HasAVX512VNNI && !cpu.X86.HasAVXVNNI

// configure sets the options that make runs repeatable, quiet and fast.
func (s *Session) configure(o *onnx.SessionOptions, src Source, profile string, fused bool) error {
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
		// The product with a matrix of int8 or int4, if the graph does not say how, is in float32.
		// The runtime's default rounds the other factor to 8 bits, with logits off by 0.05.
		"session.qdq_matmulnbits_accuracy_level": "0",
	}
	if src.Unsigned || saturates {
		entries["session.x64quantprecision"] = "1"
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
	if profile == "" || err != nil {
		return err
	}
	// The name of a file has its second, in which another session may begin.
	folder, err := os.MkdirTemp(profile, "")
	if err != nil {
		return err
	}
	return o.EnableProfiling(filepath.Join(folder, "run"))
}

// Description returns the model's description, with the outputs that Run computes. It must not be
// changed.
func (s *Session) Description() Description { return s.info }

// Provider returns where the network runs: "cpu", or "cuda:0" and so on, followed by how its
// numbers differ from float32: "cuda:0, TF32".
func (s *Session) Provider() string { return s.provider }

// GPUs returns the device where the network runs: none on the CPU, or if it is unknown.
func (s *Session) GPUs() []library.GPU { return s.gpus }

// Library returns the runtime's library.
func (s *Session) Library() library.Library { return s.library }

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
