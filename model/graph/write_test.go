package graph

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort"
)

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	c := opened(t, reftest.Data(t, "fairytale"))
	parent := t.TempDir()
	dir := filepath.Join(parent, "fairytale-onnx")
	want := []string{"config.json", LogProbFile, ModelFile, DataFile, "tokenizer.json"}
	// Into a new folder, over what was written before, and into an empty one.
	empty := filepath.Join(parent, "empty")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{dir, dir, empty} {
		if err := Write(c, to); err != nil {
			t.Fatal(err)
		}
		if got := list(t, to); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", to, got, want)
		}
	}
	if got := list(t, parent); !slices.Equal(got, []string{"empty", "fairytale-onnx"}) {
		t.Errorf("beside the folders: %v", got)
	}
	info, err := os.Stat(filepath.Join(dir, DataFile))
	if err != nil {
		t.Fatal(err)
	}
	// The matrices that are left after conditioning is folded, as float32.
	if n := info.Size(); n < 16<<20 || n > 18<<20 {
		t.Errorf("%s has %d bytes", DataFile, n)
	}
	if info, err := os.Stat(filepath.Join(dir, ModelFile)); err != nil || info.Size() > 1<<20 {
		t.Errorf("%s has %d bytes (%v)", ModelFile, info.Size(), err)
	}
	// It is the network that is built in memory, bit for bit.
	one := call{rows: 1, ids: slices.Repeat([]int64{2048, 5}, 20), positions: []int64{0, 39}}
	a := one.run(t, session(t, ort.Source{Path: filepath.Join(dir, ModelFile)}))
	if b := one.run(t, built(t, c, Options{})); !slices.Equal(a, b) {
		t.Errorf("the written network differs from the built one by %.3g", distance(t, a, b))
	}
}

func TestWriteRefuses(t *testing.T) {
	c := published(t, "mdlm")
	for _, v := range []struct {
		name string
		file map[string]string
		want string
	}{
		{"a foreign folder", map[string]string{"thesis.tex": "x"}, `the folder holds "thesis.tex"`},
		{"a checkpoint", map[string]string{"config.json": "{}", "model.safetensors": "x"}, `the folder holds "model.safetensors"`},
		{"a config alone", map[string]string{"config.json": "{}"}, "and no model.onnx"},
		{"another program's model", map[string]string{ModelFile: "\x08\x08\x12\x07pytorch"}, "of another program"},
		{"an empty model", map[string]string{ModelFile: ""}, "of another program"},
	} {
		dir := t.TempDir()
		for name, text := range v.file {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		err := Write(c, dir)
		if err == nil || !strings.Contains(err.Error(), v.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, want one line with %q", v.name, err, v.want)
		}
		if got := list(t, dir); len(got) != len(v.file) {
			t.Errorf("%s: the folder now holds %v", v.name, got)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(c, file); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a file: error is %v", err)
	}
	err := Write(c, filepath.Join(t.TempDir(), "none", "model"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "partial") {
		t.Errorf("no folder above: error is %v", err)
	}
}

// A disk that is full in the middle leaves an error, whatever was being written.
func TestModelWriterStopsAtErrors(t *testing.T) {
	b, f, err := network(published(t, "mdlm"), Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.encode(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(m.Bytes())); got != m.size {
		t.Errorf("%d bytes, announced %d", got, m.size)
	}
	for _, room := range []int64{0, 100, m.size / 3, m.size - 1} {
		w := &full{room: room}
		if n, err := m.WriteTo(w); !errors.Is(err, errFull) || n > room {
			t.Errorf("room for %d bytes: wrote %d, error %v", room, n, err)
		}
	}
	var whole bytes.Buffer
	if n, err := m.WriteTo(&whole); err != nil || n != m.size {
		t.Errorf("wrote %d of %d: %v", n, m.size, err)
	}
}

var errFull = errors.New("no space left")

// full is a writer that has room for some bytes only.
type full struct{ room int64 }

func (f *full) Write(b []byte) (int, error) {
	if int64(len(b)) > f.room {
		n := int(f.room)
		f.room = 0
		return n, errFull
	}
	f.room -= int64(len(b))
	return len(b), nil
}
