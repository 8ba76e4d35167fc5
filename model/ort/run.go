package ort

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	onnx "github.com/yalue/onnxruntime_go"
)

// A Tensor is an input or output of a run, row-major. Exactly one of the data
// slices is set, and its length is the product of Shape, whose dimensions are
// positive; one may be 0, and then none is set. The data are the caller's: inputs are read and outputs written in
// place. They are kept in place, and alive, until a run gives the name another
// slice, or until the session is closed.
type Tensor struct {
	Name    string
	Shape   []int64
	Int64   []int64
	Float32 []float32
	Float64 []float64
}

// Run computes out from in. Each input of the network, and each output, must be
// there once, in any order; types and shapes must be those that the model tells,
// with these liberties: Int64 feeds an int32 or bool input, and Float32 feeds or receives
// float16, bfloat16 and, as an input, float64. A slice that a run before had
// for the same name and shape costs nothing to pass again.
//
// When ctx ends the run stops at its next operator and Run returns ctx.Err();
// outputs are then undefined, and the session can go on.
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
	run := func() error { return s.runNative(ctx) }
	if s.firstOnGPU {
		s.firstOnGPU = false
		whole := run
		run = func() error { return keepingSignals(whole) }
	}
	if err := run(); err != nil {
		return err
	}
	for i := range s.out {
		s.out[i].store()
	}
	return nil
}

// runNative runs with the placed tensors, watched by the context.
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
		// The watcher has begun: it must have ended before the flag is taken back,
		// or it would stop the next run.
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

// place checks the tensors of a run against the model and puts them into the
// slots of their names.
func (s *Session) place(kind string, ios []IO, tensors []Tensor, slots []slot, values []onnx.Value) error {
	for i := range ios {
		t, err := pick(kind, ios[i].Name, tensors)
		if err != nil {
			return err
		}
		if slots[i].holds(t) {
			continue
		}
		err = slots[i].set(kind == "input", ios[i], t)
		values[i] = slots[i].value
		if err != nil {
			return fmt.Errorf("onnx session: %s %s: %w", kind, t.Name, err)
		}
	}
	if len(tensors) == len(ios) {
		return nil
	}
	for _, t := range tensors {
		if _, ok := named(ios, t.Name); !ok {
			return fmt.Errorf("onnx session: %s %s: the network has no such %s, it has %s", kind, t.Name, kind, names(ios))
		}
	}
	return nil
}

// pick returns the one tensor of a name.
func pick(kind, name string, tensors []Tensor) (*Tensor, error) {
	var found *Tensor
	for i := range tensors {
		if tensors[i].Name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("onnx session: %s %s: it is given twice", kind, name)
		}
		found = &tensors[i]
	}
	if found == nil {
		var have []string
		for _, t := range tensors {
			have = append(have, t.Name)
		}
		return nil, fmt.Errorf("onnx session: %s %s: it is not given, only [%s]", kind, name, strings.Join(have, " "))
	}
	return found, nil
}

// checkShape tells how a tensor differs from what the model takes.
func (t *Tensor) checkShape(io IO) error {
	n, set := int64(1), 0
	for _, d := range t.Shape {
		if d < 0 || d == 0 && !t.empty() {
			return fmt.Errorf("shape %v: dimensions must be positive", t.Shape)
		}
		if d > 0 && n > math.MaxInt64/8/d {
			return fmt.Errorf("shape %v: it is too large", t.Shape)
		}
		n *= d
	}
	length := 0
	for _, l := range []int{len(t.Int64), len(t.Float32), len(t.Float64)} {
		if l > 0 {
			set++
			length = l
		}
	}
	if set != 1 && !t.empty() {
		return fmt.Errorf("%d data slices are set: give exactly one", set)
	}
	if int64(length) != n {
		return fmt.Errorf("shape %v needs %d values, but %d are given", t.Shape, n, length)
	}
	if len(t.Shape) == 0 {
		return errors.New("a tensor without dimensions cannot be passed: the model must be exported with a dimension")
	}
	if io.Shape == nil {
		return nil
	}
	ok := len(io.Shape) == len(t.Shape)
	for i := 0; ok && i < len(io.Shape); i++ {
		ok = io.Shape[i] < 0 || io.Shape[i] == t.Shape[i]
	}
	if !ok {
		return fmt.Errorf("shape %v: the network has %s", t.Shape, shapeString(io.Shape))
	}
	return nil
}

func shapeString(shape []int64) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = "?"
		if d >= 0 {
			parts[i] = fmt.Sprint(d)
		}
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// runtimeError strips what the binding puts before the runtime's own words and
// folds them into a line. Where memory is full it is a [*MemoryError].
func runtimeError(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	short := errors.New(oneLine(err.Error()))
	if full.MatchString(err.Error()) {
		return &MemoryError{short}
	}
	return short
}
