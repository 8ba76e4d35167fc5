package graph

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/lockfile"
	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
	"mdmgen/model/checkpoint"
	"mdmgen/model/ort"
)

func list(t *testing.T, dir string) []string {
	t.Helper()
	entries := reftest.Must(os.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestVersion: where a form has changed, Version must too, or caches and interrupted runs of the form before
// pass for it. The number after it is that of the forms below.
func TestVersion(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, family := range slices.Sorted(maps.Keys(checkpointtest.Experts)) {
		c := inMemory(t, checkpointtest.ExpertFolder(family))
		for _, d := range []Dtype{Float32, Float16, Int4, Int4Exact} {
			b, _, err := network(c, Options{Dtype: d, Keeps: true}, true)
			reftest.OK(t, err)
			fmt.Fprintf(sum, "%x", b.nodes)
			for _, x := range b.inits {
				fmt.Fprintln(sum, x.name, x.elem, x.dims)
			}
		}
	}
	if got, want := fmt.Sprintf("%d %x", Version, sum.Sum(nil)[:4]), "15 733fdf8f"; got != want {
		t.Errorf("version and forms are %s, were %s", got, want)
	}
}

func TestWrite(t *testing.T) {
	c := opened(t, reftest.Builtin(t))
	parent := t.TempDir()
	dir := filepath.Join(parent, "fairytale-onnx")
	want := []string{"config.json", ManifestFile, ModelFile, DataFile, KeptFile, "tokenizer.json"}
	// Into a new folder and into an empty one, but never over existing files.
	empty := filepath.Join(parent, "empty")
	reftest.OK(t, os.Mkdir(empty, 0o777))
	for _, to := range []string{dir, empty} {
		reftest.OK(t, Write(t.Context(), c, Options{}, to))
		if got := list(t, to); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", to, got, want)
		}
	}
	if got := list(t, parent); !slices.Equal(got, []string{"empty", "fairytale-onnx"}) {
		t.Errorf("beside the folders: %v", got)
	}
	if err := Write(t.Context(), c, Options{}, dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over what is there: %v", err)
	}
	reftest.OK(t, CheckAll(t.Context(), stamp.Store{}, dir), "what was just written")
	info := reftest.Must(os.Stat(filepath.Join(dir, DataFile)))(t)
	// The matrices that remain after conditioning is folded, as float32.
	if n := info.Size(); n < 16<<20 || n > 18<<20 {
		t.Errorf("%s has %d bytes", DataFile, n)
	}
	if info, err := os.Stat(filepath.Join(dir, ModelFile)); err != nil || info.Size() > 1<<20 {
		t.Errorf("%s has %d bytes (%v)", ModelFile, info.Size(), err)
	}
	// It is the same network as the one built in memory, bit for bit.
	one := call{rows: 1, ids: slices.Repeat([]int64{2048, 5}, 20), positions: []int64{0, 39}}
	a := one.run(t, session(t, ort.Source{Path: filepath.Join(dir, ModelFile)}))
	if b := one.run(t, built(t, c, Options{})); !slices.Equal(a, b) {
		t.Errorf("the written network differs from the built one by %.3g", distance(t, a, b))
	}
}

func TestWriteRefuses(t *testing.T) {
	c := published(t, "mdlm")
	for name, file := range map[string]string{"a foreign folder": "thesis.tex", "a checkpoint": "config.json", "a model": ModelFile} {
		dir := t.TempDir()
		reftest.OK(t, os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o666))
		err := Write(t.Context(), c, Options{}, dir)
		if !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error is %v, want one line", name, err)
		}
		if got := list(t, dir); !slices.Equal(got, []string{file}) {
			t.Errorf("%s: the folder now holds %v", name, got)
		}
	}
	parent := t.TempDir()
	file, link := filepath.Join(parent, "file"), filepath.Join(parent, "link")
	reftest.OK(t, errors.Join(os.WriteFile(file, nil, 0o666), os.Symlink(t.TempDir(), link)))
	for _, at := range []string{file, link} {
		if err := Write(t.Context(), c, Options{}, at); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: error is %v", at, err)
		}
	}
	if got := list(t, parent); !slices.Equal(got, []string{"file", "link"}) {
		t.Errorf("beside them: %v", got)
	}
	err := Write(t.Context(), c, Options{}, filepath.Join(t.TempDir(), "none", "model"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "partial") {
		t.Errorf("no folder above: error is %v", err)
	}
}

// TestWriteAtOnce writes one folder from many goroutines: one succeeds, the others fail, and the
// folder holds one whole checkpoint.
func TestWriteAtOnce(t *testing.T) {
	cs := []*checkpoint.Checkpoint{published(t, "mdlm"), published(t, "radd")}
	for range 20 {
		parent := t.TempDir()
		dir := filepath.Join(parent, "out")
		var wait sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			wait.Go(func() { errs[i] = Write(t.Context(), cs[i%2], Options{}, dir) })
		}
		wait.Wait()
		written := 0
		for i, err := range errs {
			if err == nil {
				written++
				reftest.OK(t, CheckAll(t.Context(), stamp.Store{}, dir), "the folder is not whole")
				d, err := ort.Describe(ort.Source{Path: filepath.Join(dir, ModelFile)})
				if want := cs[i%2].Config.Family; err != nil || d.Metadata["family"] != want {
					t.Errorf("it is of %q, want %q (%v)", d.Metadata["family"], want, err)
				}
			} else if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "another program is writing it") && !errors.Is(err, fs.ErrExist) {
				t.Errorf("a loser says %v", err)
			}
		}
		if got := list(t, parent); written != 1 || !slices.Equal(got, []string{"out"}) {
			t.Fatalf("%d of %d wrote; beside it: %v", written, len(errs), got)
		}
	}
}

// TestWriteStops checks that a write stops anywhere when its context ends, and leaves nothing.
func TestWriteStops(t *testing.T) {
	c := opened(t, reftest.Builtin(t))
	for _, after := range []int{1, 2, 5, 12, 19} {
		parent := t.TempDir()
		ctx := &ending{Context: t.Context(), looks: after}
		if err := Write(ctx, c, Options{}, filepath.Join(parent, "out")); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
			t.Errorf("after %d looks: %v", after, err)
		}
		if got := list(t, parent); len(got) != 0 {
			t.Errorf("after %d looks the folder holds %v", after, got)
		}
	}
}

// ending is a context that ends at the nth check.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestSweep checks that leftovers of killed processes are removed, while the files of a live one
// and files that only look similar stay.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	left := dir + partialSuffix + "0123456789abcdef"
	alive := filepath.Join(parent, "alive")
	keep := []string{alive + lockSuffix, alive + partialSuffix + "0123456789abcdef", dir + ".partial-results", filepath.Join(parent, "other")}
	for _, d := range append(keep[1:], left) {
		reftest.OK(t, os.Mkdir(d, 0o777))
	}
	reftest.OK(t, os.WriteFile(dir+lockSuffix, nil, 0o666))
	l := reftest.Must(lockfile.Try(keep[0]))(t)
	defer l.Release()
	want := []string{"alive" + lockSuffix, "alive" + partialSuffix + "0123456789abcdef", "other", "out", "out.partial-results"}
	reftest.OK(t, Write(t.Context(), published(t, "mdlm"), Options{}, dir))
	slices.Sort(want)
	if got := list(t, parent); !slices.Equal(got, want) {
		t.Errorf("after a write: %v, want %v", got, want)
	}
	reftest.OK(t, errors.Join(os.Mkdir(left, 0o777), Sweep(parent)))
	if got := list(t, parent); !slices.Equal(got, want) {
		t.Errorf("after a sweep: %v, want %v", got, want)
	}
}

// TestCheck requires the name of the file that was changed.
func TestCheck(t *testing.T) {
	c := published(t, "mdlm")
	for name, v := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"weights":     {func(dir string) error { return flip(filepath.Join(dir, DataFile), 5000) }, DataFile + ": it was changed"},
		"graph":       {func(dir string) error { return flip(filepath.Join(dir, ModelFile), 9) }, ModelFile + ": it was changed"},
		"shorter":     {func(dir string) error { return os.Truncate(filepath.Join(dir, DataFile), 4096) }, "it has 4096 bytes"},
		"missing":     {func(dir string) error { return os.Remove(filepath.Join(dir, ModelFile)) }, ModelFile + ": it is missing"},
		"no manifest": {func(dir string) error { return os.Remove(filepath.Join(dir, ManifestFile)) }, ManifestFile + ": it is missing"},
		"manifest":    {func(dir string) error { return os.WriteFile(filepath.Join(dir, ManifestFile), []byte("{"), 0o666) }, "the JSON ends too early"},
		"schema":      {func(dir string) error { return os.WriteFile(filepath.Join(dir, ManifestFile), []byte("{}"), 0o666) }, "schema is"},
		"link": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, DataFile)), os.Symlink("/dev/zero", filepath.Join(dir, DataFile)))
		}, "leads out of the folder"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		reftest.OK(t, errors.Join(Write(t.Context(), c, Options{}, dir), v.change(dir)))
		err := CheckAll(t.Context(), stamp.Store{}, dir)
		var damaged *DamagedError
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v, want %q", name, err, v.want)
		}
	}
}

// flip changes a byte of a file and restores its times.
func flip(path string, at int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	b[0] ^= 1
	_, werr := f.WriteAt(b[:], at)
	return errors.Join(err, werr, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// A disk that becomes full causes an error, whatever was being written.
func TestModelWriterStopsAtErrors(t *testing.T) {
	b, f, err := network(published(t, "mdlm"), Options{}, true)
	reftest.OK(t, err)
	m := reftest.Must(b.encode(f))(t)
	if text, err := m.Bytes(); err != nil || int64(len(text)) != m.size {
		t.Errorf("%d bytes, announced %d: %v", len(text), m.size, err)
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

// full is a writer with space for some bytes only.
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

// TestWatch checks that the byte counts add up to the announced totals, first for reading and then
// for writing, and that facts without a digest get the one computed while reading.
func TestWatch(t *testing.T) {
	c := published(t, "llada-gqa-bf16")
	f := c.Undigested()
	var works []string
	total, done := map[string]int64{}, map[string]int64{}
	o := Options{Facts: &f, Watch: func(work string, n int64) func(int64) {
		works, total[work] = append(works, work), n
		return func(n int64) { done[work] += n }
	}}
	dir := filepath.Join(t.TempDir(), "out")
	reftest.OK(t, Write(t.Context(), c, o, dir))
	if !slices.Equal(works, []string{"reading", "writing"}) || total["reading"] < 1000 {
		t.Errorf("%v: %v of %v", works, done, total)
	}
	var size int64
	for _, name := range []string{DataFile, ModelFile, KeptFile, "config.json"} {
		info := reftest.Must(os.Stat(filepath.Join(dir, name)))(t)
		if name == DataFile && info.Size() != total["writing"] {
			t.Errorf("writing %d bytes of weights, announced %d", info.Size(), total["writing"])
		}
		if name == "config.json" && done["reading"] != total["reading"]+info.Size() {
			t.Errorf("read %d bytes, announced %d beside %s", done["reading"], total["reading"], name)
		}
		size += info.Size()
	}
	if done["writing"] != size {
		t.Errorf("told of %d bytes, written %d", done["writing"], size)
	}
	d, err := ort.Describe(ort.Source{Path: filepath.Join(dir, ModelFile)})
	if want, werr := c.Digest(t.Context()); err != nil || werr != nil || !strings.Contains(d.Metadata[Key], want) {
		t.Errorf("the file tells %s, want the digest %s: %v, %v", d.Metadata[Key], want, err, werr)
	}
}
