package model

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/graph"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
	"mdmgen/samplers"
)

// converted holds the ONNX folders of small checkpoints, each written once.
var converted sync.Map

// Converted copies the ONNX folder of a small checkpoint.
func Converted(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	once, _ := converted.LoadOrStore(name, sync.OnceValue(func() fs.FS {
		c := reftest.Must(checkpoint.Open(reftest.Data(t, "reference", "checkpoints", name), ""))(t)
		defer c.Close()
		reftest.OK(t, graph.Write(t.Context(), c, graph.Options{}, dir))
		files := fstest.MapFS{}
		for _, f := range reftest.Must(os.ReadDir(dir))(t) {
			files[f.Name()] = &fstest.MapFile{Data: reftest.Must(os.ReadFile(filepath.Join(dir, f.Name())))(t), Mode: 0o666}
		}
		reftest.OK(t, os.RemoveAll(dir))
		return files
	}))
	reftest.OK(t, os.CopyFS(dir, once.(func() fs.FS)()))
	return dir
}

// Copied copies a small checkpoint and replaces some texts in its config.
func Copied(t *testing.T, name string, changes ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	reftest.OK(t, os.CopyFS(dir, os.DirFS(reftest.Data(t, "reference", "checkpoints", name))))
	path := filepath.Join(dir, "config.json")
	text := reftest.Must(os.ReadFile(path))(t)
	now := strings.NewReplacer(changes...).Replace(string(text))
	if now == string(text) && changes != nil {
		t.Fatalf("%s: nothing to replace", name)
	}
	reftest.OK(t, os.WriteFile(path, []byte(now), 0o666))
	return dir
}

// rename gives the external data of a folder another name of the same length, in the graph too, as
// in a graph of another tool.
func rename(t *testing.T, dir, name string) {
	t.Helper()
	if len(name) != len(graph.DataFile) {
		t.Fatalf("%q is not as long as %q", name, graph.DataFile)
	}
	path := filepath.Join(dir, graph.ModelFile)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(data, []byte(graph.DataFile), []byte(name)), 0o666)
	}
	if filepath.IsLocal(name) {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.Rename(filepath.Join(dir, graph.DataFile), filepath.Join(dir, name)))
	}
	reftest.OK(t, errors.Join(err, os.Remove(filepath.Join(dir, graph.ManifestFile))))
}

// flip changes a byte of a file and restores its times.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	info := reftest.Must(os.Stat(path))(t)
	data, err := os.ReadFile(path)
	if err == nil {
		data[at] ^= 1
		err = errors.Join(os.WriteFile(path, data, 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
	}
	reftest.OK(t, err)
}

// TestFileDigest checks that a change of any file that is read changes the digest, whatever the
// name of the weights' file.
func TestFileDigest(t *testing.T) {
	dir := Converted(t, "mdlm")
	rename(t, dir, "weights.abcdefg")
	path := filepath.Join(dir, graph.ModelFile)
	store := stamp.Store{Dir: t.TempDir()}
	get := func() string {
		t.Helper()
		return reftest.Must(fileDigest(t.Context(), store, path))(t)
	}
	whole := get()
	if again := get(); again != whole || !strings.HasPrefix(whole, "sha256:") || len(whole) != 71 {
		t.Errorf("%s, then %s", whole, again)
	}
	flip(t, filepath.Join(dir, "weights.abcdefg"), 5000)
	weights := get()
	flip(t, path, 9)
	if graph := get(); weights == whole || graph == weights || graph == whole {
		t.Errorf("%s; weights changed: %s; graph changed: %s", whole, weights, graph)
	}
	if _, err := fileDigest(ended(t), stamp.Store{}, path); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestConvertedDigest checks that an unchanged folder has the checkpoint's digest, a changed one is
// rejected, and one without a manifest has a digest of its content, whatever its metadata or a
// sidecar state.
func TestConvertedDigest(t *testing.T) {
	ck := reftest.Must(checkpoint.Open(reftest.Data(t, "reference", "checkpoints", "mdlm"), ""))(t)
	defer ck.Close()
	want, err := ck.Digest(t.Context())
	reftest.OK(t, err)
	var all Options
	all.Runtime.VerifyDigest = true
	digest := func(dir string) (string, bool, error) {
		_, read, f, own, err := readONNX(t.Context(), dir, filepath.Join(dir, graph.ModelFile), all)
		if !own {
			t.Fatal(err)
		}
		return f.Digest, f.Digest == read.Digest, err
	}
	dir := Converted(t, "mdlm")
	if d, written, err := digest(dir); d != want || !written || err != nil {
		t.Errorf("as written: %s, %t, %v, want the checkpoint's %s", d, written, err, want)
	}
	data := filepath.Join(dir, graph.DataFile)
	for name, at := range map[string]int{graph.ModelFile: 9, graph.DataFile: 5000} {
		flip(t, filepath.Join(dir, name), at)
		_, _, err = digest(dir)
		for _, part := range []string{dir, name + ": it was changed", "convert the checkpoint again", "remove " + graph.ManifestFile} {
			reftest.FailsInLine(t, err, part, name)
		}
		flip(t, filepath.Join(dir, name), at)
	}
	reftest.OK(t, os.Remove(filepath.Join(dir, graph.ManifestFile)))
	a, written, err := digest(dir)
	flip(t, data, 5000)
	b, _, err2 := digest(dir)
	if errors.Join(err, err2) != nil || written || a == want || b == want || a == b {
		t.Errorf("no manifest: %s, then %s (%t, %v, %v), of a checkpoint %s", a, b, written, err, err2, want)
	}
	sidecar := filepath.Join(dir, "model.mdmgen.json")
	reftest.OK(t, os.WriteFile(sidecar, []byte(`{"digest":"`+want+`"}`), 0o666))
	if d, _, err := digest(dir); d != b || err != nil {
		t.Errorf("a sidecar that tells a digest: %s, %v", d, err)
	}
}

// TestCachedDamaged checks that changed converted weights are made again, once, with a notice.
func TestCachedDamaged(t *testing.T) {
	t.Setenv("MDMGEN_CACHE", t.TempDir())
	c := reftest.Must(checkpoint.Open(reftest.Data(t, "reference", "checkpoints", "mdlm"), ""))(t)
	defer c.Close()
	f := reftest.Must(c.Facts(t.Context()))(t)
	var said []string
	get := func() string {
		t.Helper()
		said = nil
		path := reftest.Must(cached(t.Context(), c, graph.Options{Facts: &f}, ort.Config{Search: library.Search{Log: func(line string) { said = append(said, line) }}}))(t)
		reftest.OK(t, graph.CheckAll(t.Context(), stamp.Store{}, filepath.Dir(path)), "it is given as whole")
		return filepath.Dir(path)
	}
	dir := get()
	for name, damage := range map[string]func() error{
		"weights":  func() error { flip(t, filepath.Join(dir, graph.DataFile), 5000); return nil },
		"shorter":  func() error { return os.Truncate(filepath.Join(dir, graph.DataFile), 5000) },
		"manifest": func() error { return os.Remove(filepath.Join(dir, graph.ManifestFile)) },
	} {
		reftest.OK(t, damage())
		if get(); len(said) != 1 || !strings.Contains(said[0], "converting them again") {
			t.Errorf("%s: notices %q", name, said)
		}
		if get(); len(said) != 0 {
			t.Errorf("%s, again: notices %q", name, said)
		}
	}
	// An interrupt during the check is not damage.
	if _, err := cached(ended(t), c, graph.Options{Facts: &f}, ort.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	reftest.OK(t, graph.CheckAll(t.Context(), stamp.Store{}, dir), "after an interrupt")
}

// TestDataFiles requires external data to be regular files in the folder.
func TestDataFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and devices are those of Unix")
	}
	outside := filepath.Join(t.TempDir(), "outside")
	reftest.OK(t, os.WriteFile(outside, make([]byte, 1<<20), 0o666))
	for _, c := range []struct{ name, location, link, want string }{
		{"above the folder", "../outside-file", "", "leads out of the folder"},
		{"absolute", "/usr/lib/ab.so1", "", "leads out of the folder"},
		{"through the folder", "x/../../outsi/e", "", "leads out of the folder"},
		{"a link out", "weights.abcdefg", outside, "leads out of the folder"},
		{"a device", "weights.abcdefg", "/dev/zero", "leads out of the folder"},
		{"nothing", "weights.abcdefg", "nowhere", "is missing next to it"},
		{"memory", "*/_ORT_MEM_ADDR", "nowhere", "is missing next to it"},
	} {
		dir := Converted(t, "mdlm")
		rename(t, dir, c.location)
		if at := filepath.Join(dir, c.location); c.link != "" {
			reftest.OK(t, errors.Join(os.Remove(at), os.Symlink(c.link, at)))
		}
		err := reftest.Err(Open(t.Context(), dir, Options{}))
		reftest.FailsInLine(t, err, c.want, c.name)
		var missing *MissingError
		if errors.As(err, &missing) != (c.link == "nowhere") {
			t.Errorf("%s: missing is %t", c.name, c.link != "nowhere")
		}
	}
}

// TestCheckRows checks that the size of a call's results is bounded before any allocation.
func TestCheckRows(t *testing.T) {
	f := Facts{Family: "onnx", Columns: facts.MaxColumns, Length: facts.MaxLength}
	reftest.FailsInLine(t, checkRows(f, facts.MaxLength<<20), "", "2^64 numbers")
	reftest.Must(callShape(f, samplers.Call{IDs: make([]int64, 9), Positions: make([]int64, 9), Counts: []int{9}}))(t)
	reftest.OK(t, checkRows(f, 512), "2^33 numbers")
}
