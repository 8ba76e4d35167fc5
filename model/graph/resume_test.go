package graph

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
)

// TestResume interrupts a conversion and writes again: the files are those of one that was not
// interrupted, and what was written is not written again. Another conversion begins anew.
func TestResume(t *testing.T) {
	defer func(n int64) { resumeEvery = n }(resumeEvery)
	resumeEvery = 2 << 20
	c := opened(t, reftest.Builtin(t))
	parent := t.TempDir()
	whole, dir := filepath.Join(parent, "whole"), filepath.Join(parent, "out")
	reftest.OK(t, Write(t.Context(), c, Options{}, whole))
	var first int64
	o := Options{Watch: func(work string, _ int64) func(int64) {
		first = 0
		return func(n int64) {
			if first == 0 {
				first = n
			}
		}
	}}
	stop := func(dtype Dtype) {
		t.Helper()
		o.Dtype = dtype
		err := Write(&ending{Context: t.Context(), looks: 12}, c, o, dir)
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "goes on from there") {
			t.Fatal(err)
		}
		if left := reftest.Must(partials(dir))(t); len(left) != 1 {
			t.Fatalf("left: %v", left)
		}
	}
	stop(Float32)
	stop(Float32) // It was read up to the record, and stopped again behind it.
	if first < resumeEvery {
		t.Errorf("the first %d bytes were written again", first)
	}
	reftest.OK(t, Write(t.Context(), c, o, dir))
	reftest.OK(t, CheckAll(t.Context(), stamp.Store{}, dir))
	for _, name := range list(t, whole) {
		a, b := reftest.Must(os.ReadFile(filepath.Join(whole, name)))(t), reftest.Must(os.ReadFile(filepath.Join(dir, name)))(t)
		if string(a) != string(b) {
			t.Errorf("%s differs", name)
		}
	}
	if got, want := list(t, dir), list(t, whole); len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A record that fits no matrix counts for nothing.
	reftest.OK(t, os.RemoveAll(dir))
	stop(Float32)
	record := filepath.Join(reftest.Must(partials(dir))(t)[0], resumeFile)
	text := reftest.Must(os.ReadFile(record))(t)
	reftest.OK(t, os.WriteFile(record, bytes.Replace(text, []byte(`"matrices":`), []byte(`"matrices":9`), 1), 0o666))
	reftest.OK(t, Write(t.Context(), c, o, dir))
	reftest.OK(t, CheckAll(t.Context(), stamp.Store{}, dir))
	if a, b := reftest.Must(os.ReadFile(filepath.Join(whole, DataFile)))(t), reftest.Must(os.ReadFile(filepath.Join(dir, DataFile)))(t); !bytes.Equal(a, b) {
		t.Error("weights differ after a wrong record")
	}
	reftest.OK(t, os.RemoveAll(dir))
	stop(Float32)
	o.Dtype = Float16
	reftest.OK(t, Write(t.Context(), c, o, dir))
	if left := reftest.Must(partials(dir))(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
