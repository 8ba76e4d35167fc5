package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mdmgen/model/ort"
	"mdmgen/samplers"
	"mdmgen/samplers/draw"
)

// several is a network that is open on several devices. The canvases of a call are divided among them, in
// order, and asked for side by side, each part by a goroutine of its own; who calls sees one network. As a row
// does not depend, but for rounding, on the canvases beside it, it does not on how many devices there are; and
// which of them it goes to is the same in every run.
//
// A device that fails at what another one does is left out from then on, with a notice.
type several struct {
	all, working []member
	out          []float32
	log          func(string)
}

// severalHeads is several of a network with heads.
type severalHeads struct{ *several }

// member is a network on one device; into gives the memory for the rows of its next call.
type member interface {
	Model
	Describer
	into(rows []float32)
}

// openSeveral opens a network on each of several devices.
func openSeveral(ctx context.Context, ref string, opts Options, each []ort.Config) (Model, error) {
	s := &several{log: opts.Runtime.Log}
	for _, one := range each {
		opts.Runtime = one
		m, err := openOn(ctx, ref, opts)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.all = append(s.all, m.(member))
	}
	s.working = s.all
	if _, ok := s.all[0].(samplers.Drawer); ok {
		return severalHeads{s}, nil
	}
	return s, nil
}

// portion is a device's part of a call: its positions are from..to−1 of the call's.
type portion struct {
	samplers.Call
	from, to int
}

// share has each device asked for its part of a call, and returns when all have answered.
func (s *several) share(ctx context.Context, c samplers.Call, ask func(m member, p portion) error) error {
	length, err := callShape(s.Facts(), c)
	if err != nil {
		return err
	}
	rows := len(c.Counts)
	n := min(len(s.working), rows)
	parts, errs := make([]portion, n), make([]error, len(s.working)) // of the idle ones nil
	var wait sync.WaitGroup
	first, from := 0, 0
	for i := range n {
		last, to := rows*(i+1)/n, from
		for _, k := range c.Counts[first:last] {
			to += k
		}
		parts[i] = portion{samplers.Call{IDs: c.IDs[first*length : last*length], Positions: c.Positions[from:to], Counts: c.Counts[first:last]}, from, to}
		if c.Sigma != nil {
			parts[i].Sigma = c.Sigma[first:last]
		}
		wait.Go(func() { errs[i] = ask(s.working[i], parts[i]) })
		first, from = last, to
	}
	wait.Wait()
	return s.again(ctx, parts, errs, ask)
}

// again has what failed asked of another device, and leaves out those that were to blame. A lack of memory is
// the call's fault, and so is what no other device can do.
func (s *several) again(ctx context.Context, parts []portion, errs []error, ask func(m member, p portion) error) error {
	asked, able := s.working, slices.Index(errs, nil)
	for i, err := range errs {
		if err == nil {
			continue
		}
		err = fmt.Errorf("device %s: %w", asked[i].Origin().Provider, err)
		if ctx.Err() != nil || errors.As(err, new(*ort.MemoryError)) || able < 0 || ask(asked[able], parts[i]) != nil {
			return err
		}
		s.working = slices.DeleteFunc(slices.Clone(s.working), func(m member) bool { return m == asked[i] })
		if s.log != nil {
			s.log(fmt.Sprintf("going on without it: %v", err))
		}
	}
	return nil
}

// Logits makes one call of each device; see [Model].
func (s *several) Logits(ctx context.Context, c samplers.Call) ([]float32, error) {
	columns := s.Facts().Columns
	if err := checkRows(s.Facts(), len(c.Positions)); err != nil {
		return nil, err
	}
	s.out = grow(s.out, len(c.Positions)*columns)
	return s.out, s.share(ctx, c, func(m member, p portion) error {
		m.into(s.out[p.from*columns : p.to*columns])
		_, err := m.Logits(ctx, p.Call)
		return err
	})
}

// LogProbs makes one call of each device; see [LogProber].
func (s severalHeads) LogProbs(ctx context.Context, c samplers.Call, targets []int64, logMu, logMass []float64) error {
	return s.share(ctx, c, func(m member, p portion) error {
		return m.(LogProber).LogProbs(ctx, p.Call, targets[p.from:p.to], logMu[p.from:p.to], logMass[p.from:p.to])
	})
}

// Best makes one call of each device; see [samplers.Drawer].
func (s severalHeads) Best(ctx context.Context, c samplers.Call, d samplers.Drawing, dst []draw.Best) error {
	return s.share(ctx, c, func(m member, p portion) error {
		own := samplers.Drawing{Uniforms: d.Uniforms[p.from:p.to], Temperatures: d.Temperatures[p.from:p.to], Top: d.Top}
		return m.(samplers.Drawer).Best(ctx, p.Call, own, dst[p.from:p.to])
	})
}

func (s *several) Facts() Facts { return s.all[0].Facts() }

func (s *several) Spec() samplers.Spec { return s.all[0].Spec() }

// Origin names all devices.
func (s *several) Origin() Origin {
	o := s.all[0].Origin()
	providers := []string{o.Provider}
	for _, m := range s.all[1:] {
		other := m.Origin()
		providers, o.GPUs, o.Threads = append(providers, other.Provider), append(o.GPUs, other.GPUs...), o.Threads+other.Threads
	}
	o.Provider = strings.Join(providers, " + ")
	return o
}

func (s *several) Close() error {
	var errs []error
	for _, m := range s.all {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}
