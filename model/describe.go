package model

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"mdmgen/internal/plainfile"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
	"mdmgen/model/world"
)

// Description describes a model by its files, without running it.
type Description struct {
	// Kind is "checkpoint", "onnx" or "world".
	Kind  string `json:"kind"`
	Facts Facts  `json:"facts"`
	Files []File `json:"files"`
	// Used counts the tensors of a checkpoint that fill a parameter or table of the network; Unused
	// names the others.
	Used   int      `json:"used,omitempty"`
	Unused []string `json:"unused,omitempty"`
	// Tensors lists the tensors of a checkpoint, or the inputs and outputs of an ONNX graph. It is
	// empty for worlds.
	Tensors []TensorShape `json:"tensors,omitempty"`
}

// File is a file that a model is opened from.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// TensorShape is a tensor without its values. A dimension of an ONNX graph that is not fixed is −1.
type TensorShape struct {
	Name  string `json:"name"`
	Dtype string `json:"dtype"`
	Shape []int  `json:"shape"`
	// Role is "parameter", "unused", "input" or "output".
	Role string `json:"role"`
	// Parameter is the network's parameter that a checkpoint's tensor fills.
	Parameter string `json:"parameter,omitempty"`
}

// Describe describes a model by its files; it needs no runtime. The facts are those in force with
// the options.
func Describe(ctx context.Context, ref string, opts Options) (d Description, err error) {
	kind, path, err := Resolve(cmp.Or(opts.Path, ref), opts.Builtins)
	if err != nil {
		return d, err
	}
	switch kind {
	case KindONNX:
		d.Kind = "onnx"
		onnx, _, f, _, err := readONNX(ctx, ref, path, opts)
		if err != nil {
			return d, err
		}
		d.Facts = f
		d.add("input", onnx.Inputs)
		d.add("output", onnx.Outputs)
		names, err := DataFiles(path)
		if err != nil {
			return d, err
		}
		return d, d.stat(plainfile.Folder(filepath.Dir(path)), append([]string{filepath.Base(path)}, names...)...)
	case KindWorld:
		d.Kind = "world"
		w, err := world.Open(path)
		if err != nil {
			return d, err
		}
		if d.Facts, err = facts.Apply(ctx, w.Facts(), opts.Sidecar, opts.Override); err != nil {
			return d, fmt.Errorf("model %s: %w", ref, err)
		}
		return d, d.stat(plainfile.Folder(filepath.Dir(path)), filepath.Base(path))
	}
	d.Kind = "checkpoint"
	c, err := openFiles(ref, path, opts)
	if err != nil {
		return d, err
	}
	defer c.Close()
	if _, d.Facts, err = factsOf(ctx, ref, c, opts); err != nil {
		return d, err
	}
	for _, t := range c.Entries() {
		role := "unused"
		if t.Parameter != "" {
			role, d.Used = "parameter", d.Used+1
		} else {
			d.Unused = append(d.Unused, t.Name)
		}
		d.Tensors = append(d.Tensors, TensorShape{t.Name, string(t.Dtype), t.Shape, role, t.Parameter})
	}
	return d, d.stat(c.FS(), c.FileNames()...)
}

// add adds the inputs or outputs of a graph.
func (d *Description) add(role string, list []ort.IO) {
	for _, io := range list {
		t := TensorShape{Name: io.Name, Dtype: io.Type, Shape: []int{}, Role: role}
		for _, n := range io.Shape {
			t.Shape = append(t.Shape, int(n))
		}
		d.Tensors = append(d.Tensors, t)
	}
}

// stat adds files with their sizes.
func (d *Description) stat(folder fs.FS, names ...string) error {
	for _, name := range names {
		info, err := fs.Stat(folder, filepath.ToSlash(name))
		if err != nil {
			return fmt.Errorf("model: %s: %w", name, plainfile.Cause(err))
		}
		d.Files = append(d.Files, File{name, info.Size()})
	}
	return nil
}
