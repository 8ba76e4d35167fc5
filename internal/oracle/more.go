package oracle

import (
	"context"
	"fmt"

	"mdmgen/analysis/laws"
	"mdmgen/model/world"
)

// moreFile recomputes a file of the layout mdm-laws-more/1: the loss profile of a world
// with its best schedules, and laws of further samplers. The file names its world,
// whose own file says what q0 and μ are.
func moreFile(ctx context.Context, f file, m *matcher) error {
	want, err := moreValues(ctx, f)
	if err != nil {
		return err
	}
	for _, law := range want["laws"].(list) {
		if law == any(exempt{}) {
			m.notOffered++
		}
	}
	return m.match("", f.doc, want)
}

// moreValues is everything that follows from the world and the settings.
func moreValues(ctx context.Context, f file) (object, error) {
	r := more{in: inputs{ctx: ctx}, doc: f.doc, losses: make(map[float64]float64)}
	if err := r.open(f); err != nil {
		return nil, err
	}
	r.fhs, r.c = r.w.FHSLaw(), profile(r.w)
	want := object{
		"d": r.w.D, "V": r.w.V, "T": given{}, "delta": given{},
		"q0_entropy": laws.Entropy(r.w.Q0),
		"profile":    r.profile(),
	}
	for name, value := range inOrder(map[string]int{"S": r.w.V + 1, "mask": r.w.V}) {
		if f.doc.fields[name] != nil {
			want[name] = value
		}
	}
	want["seed"] = exempt{}
	entries := list{}
	for i, n := range r.in.list(f.doc, "laws") {
		entries = append(entries, r.law(n))
		if r.in.err != nil {
			return nil, fmt.Errorf("field laws[%d]: %w", i, r.in.err)
		}
	}
	want["laws"], want["checks"] = entries, r.checks()
	return want, r.in.err
}

// more is what the values of such a file are computed from.
type more struct {
	in  inputs
	doc *node
	w   *laws.World
	// world is the world's own file.
	world *node
	fhs   []float64
	// c is the loss profile; losses are f(λ), as far as they were asked for.
	c      []float64
	losses map[float64]float64
	// found are the differences that "checks" may tell of.
	found differences
}

// open finds the world's file.
func (r *more) open(f file) error {
	name := r.in.text(f.doc, "world")
	if r.in.err != nil {
		return r.in.err
	}
	path, data, err := f.in.World(name)
	if err != nil {
		return err
	}
	open, err := world.Parse(data)
	if err != nil {
		return fmt.Errorf("world %s: %w", path, err)
	}
	if err := enumerable(open.Facts().Length, open.Facts().Columns); err != nil {
		return fmt.Errorf("world %s: %w", path, err)
	}
	if r.w, err = laws.New(open); err != nil {
		return fmt.Errorf("world %s: %w", path, err)
	}
	if r.world, err = readDocument(data); err != nil {
		return fmt.Errorf("world %s: %w", path, err)
	}
	return nil
}

// loss is f(λ) of the world.
func (r *more) loss(lambda float64) float64 {
	if f, ok := r.losses[lambda]; ok {
		return f
	}
	f := loss(r.w, lambda)
	r.losses[lambda] = f
	return f
}

func total(p []float64) float64 {
	var s laws.Sum
	for _, x := range p {
		s.Add(x)
	}
	return s.Value()
}
