package ort

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	onnx "github.com/yalue/onnxruntime_go"

	"mdmgen/internal/fault"
)

// A Tensor is an input or output of a run, row-major. Exactly one of the data slices is set; its
// length is the product of Shape, whose dimensions are positive. If a dimension is 0, no slice is
// set. The data are the caller's: inputs are read and outputs written in place. They are pinned and
// kept alive until a run passes another slice for the name, or until the session is closed.
type Tensor struct {
	Name    string
	Shape   []int64
	Int64   []int64
	Float32 []float32
	Float64 []float64
}

// Survey runs a model of bytes, with external data in dir, once on the CPU with one thread: ids [1, n] of
// its input input_ids give its output means [len(means)/width, width].
func (c Config) Survey(ctx context.Context, model []byte, dir string, ids []int64, width int, means []float32) error {
	c.Device, c.Threads, c.Profile = "", 1, ""
	s, err := Open(ctx, Source{Bytes: model, ExternalDir: dir, Fused: true}, c)
	if err != nil {
		return err
	}
	in := Tensor{Name: "input_ids", Shape: []int64{1, int64(len(ids))}, Int64: ids}
	out := Tensor{Name: "means", Shape: []int64{int64(len(means) / width), int64(width)}, Float32: means}
	return errors.Join(s.Run(ctx, []Tensor{in}, []Tensor{out}), s.Close())
}

// Run computes out from in. Each input and output of the network must be given once, in any order,
// with the model's type and shape, except that Int64 also feeds an int32 or bool input, and Float32
// also feeds or receives float16, bfloat16 and, as an input, float64. Passing the slice of the
// previous run again, with the same name and shape, costs nothing.
//
// When ctx is done the run stops at its next operator and Run returns ctx.Err(); outputs are then
// undefined, and the session can still be used.
func (s *Session) Run(ctx context.Context, in, out []Tensor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.native == nil {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.place("input", s.info.Inputs, in, s.in, s.inValues); err != nil {
		return err
	}
	if err := s.place("output", s.info.Outputs, out, s.out, s.outValues); err != nil {
		return err
	}
	for i := range s.in {
		if err := s.in[i].load(); err != nil {
			return fmt.Errorf("onnx session: input %s: %w", s.info.Inputs[i].Name, err)
		}
	}
	bounded, limit := ctx, time.Duration(0)
	if len(s.info.loops) > 0 {
		limit = loopLimit(in)
		var done context.CancelFunc
		bounded, done = context.WithTimeout(ctx, limit)
		defer done()
	}
	run := func() error { return s.runNative(bounded) }
	if s.firstOnGPU {
		s.firstOnGPU = false
		whole := run
		run = func() error { return keepingSignals(whole) }
	}
	if err := run(); err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("onnx session: run: has not ended after %v: node %s may loop forever: export the network without it", limit, nodeList(s.info.loops))
		}
		return err
	}
	for i := range s.out {
		s.out[i].store()
	}
	return nil
}

// A network with loops may run forever, so a call of it has a time limit: loopBase plus a second
// for each id of its largest input, ten times what a network of 8 billion parameters takes on two
// cores.
var loopBase = 30 * time.Second

func loopLimit(in []Tensor) time.Duration {
	most := 0
	for _, t := range in {
		most = max(most, len(t.Int64))
	}
	return loopBase + time.Duration(most)*time.Second
}

// runNative runs with the placed tensors, and stops when ctx is done.
func (s *Session) runNative(ctx context.Context) error {
	if ctx.Done() == nil {
		return s.fault(s.native.RunWithOptions(s.inValues, s.outValues, s.options))
	}
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		_ = s.options.Terminate()
	})
	err := s.native.RunWithOptions(s.inValues, s.outValues, s.options)
	if !stop() {
		// The watcher has begun: it must end before the flag is unset, or it would stop the next
		// run.
		<-finished
		if e := s.options.UnsetTerminate(); e != nil {
			return s.fault(e)
		}
		if err != nil {
			return ctx.Err()
		}
	}
	return s.fault(err)
}

func (s *Session) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("onnx session: run: %w", runtimeError(err))
}

// place puts the tensors of a run into the slots of their names. The runtime itself reports wrong
// shapes.
func (s *Session) place(kind string, ios []IO, tensors []Tensor, slots []slot, values []onnx.Value) error {
	for i, io := range ios {
		at := slices.IndexFunc(tensors, func(t Tensor) bool { return t.Name == io.Name })
		if at < 0 {
			return fmt.Errorf("onnx session: %s %s is not given", kind, io.Name)
		}
		t := &tensors[at]
		if slots[i].holds(t) {
			continue
		}
		err := slots[i].set(kind == "input", io, t)
		values[i] = slots[i].value
		if err != nil {
			return fmt.Errorf("onnx session: %s %s: %w", kind, t.Name, err)
		}
	}
	return nil
}

// runtimeError strips the binding's prefix from the runtime's message and folds it into one line.
// If memory is full the error is a [*MemoryError].
func runtimeError(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	short := errors.New(fault.Line(err.Error()))
	if full.MatchString(err.Error()) {
		return &MemoryError{short}
	}
	return short
}
