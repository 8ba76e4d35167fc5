package graph

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/facts"
	"mdmgen/model/ort"
)

// The graph as a runtime describes it: its inputs, its outputs, the facts in it.
func TestContract(t *testing.T) {
	keys := func(prefix string, shape string) (all []string) {
		for _, name := range []string{"keys.0", "keys.1", "values.0", "values.1"} {
			all = append(all, prefix+name+" float32 "+shape)
		}
		return all
	}
	for _, c := range []struct {
		name, keys string
		in, out    []string
	}{
		{"mdlm", "[-1 2 -1 32]", []string{"input_ids int64 [-1 -1]", "positions int64 [-1 -1]", "take_best int64 [-1]", "take_given int64 [-1]", "take_rows int64 [-1]", "targets int64 [-1]", "temperatures float64 [-1]", "top int64 [1]", "uniforms float64 [-1]"},
			[]string{"entropy float64 [-1]", "log_mass float64 [-1]", "log_mu float64 [-1]", "log_p float64 [-1]", "logits float32 [-1 131]", "token int64 [-1]", "top_log_p float64 [-1 -1]", "top_tokens int64 [-1 -1]"}},
		{"sedd", "[-1 4 -1 16]", []string{"input_ids int64 [-1 -1]", "positions int64 [-1 -1]", "sigma float32 [-1]", "take_best int64 [-1]", "take_given int64 [-1]", "take_rows int64 [-1]", "targets int64 [-1]", "temperatures float64 [-1]", "top int64 [1]", "uniforms float64 [-1]"},
			[]string{"entropy float64 [-1]", "log_mass float64 [-1]", "log_mu float64 [-1]", "log_p float64 [-1]", "logits float32 [-1 121]", "token int64 [-1]", "top_log_p float64 [-1 -1]", "top_tokens int64 [-1 -1]"}},
	} {
		contract(t, c.name, Options{}, c.in, c.out)
		in := slices.Concat(c.in, []string{"keep int64 [-1]", "parts int64 [2]", "position_ids int64 [-1 -1]", "stale float32 [-1 1 1 -1]"}, keys("kept_", c.keys))
		contract(t, c.name, Options{Keeps: true}, in, append(c.out, keys("", c.keys)...))
	}
}

func contract(t *testing.T, name string, o Options, in, out []string) {
	slices.Sort(in)
	slices.Sort(out)
	ck := published(t, name)
	m := reftest.Must(Build(t.Context(), ck, o))(t)
	s := session(t, ort.Source{Bytes: m.Bytes, ExternalDir: m.ExternalDir})
	told := func(ios []ort.IO) (out []string) {
		for _, io := range ios {
			out = append(out, fmt.Sprintf("%s %s %v", io.Name, io.Type, io.Shape))
		}
		slices.Sort(out)
		return out
	}
	if got := told(s.Description().Inputs); !slices.Equal(got, in) {
		t.Errorf("%s: inputs are %q, want %q", name, got, in)
	}
	if got := told(s.Description().Outputs); !slices.Equal(got, out) {
		t.Errorf("%s: outputs are %q, want %q", name, got, out)
	}
	var got facts.Facts
	reftest.OK(t, json.Unmarshal([]byte(s.Description().Metadata[Key]), &got))
	want := reftest.Must(ck.Facts(t.Context()))(t)
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(m.Facts, want) {
		t.Errorf("%s: facts are %+v in the graph and %+v beside it, want %+v", name, got, m.Facts, want)
	}
}

func TestPlacement(t *testing.T) {
	c := published(t, "mdlm")
	bytesOf := func(c *checkpoint.Checkpoint, o Options) (Model, int64) {
		t.Helper()
		m := reftest.Must(Build(t.Context(), c, o))(t)
		return m, int64(len(m.Bytes))
	}
	auto, n := bytesOf(c, Options{})
	if auto.ExternalDir != "" || n < 400_000 {
		t.Errorf("a small checkpoint: %d bytes and data in %q, want all in its bytes", n, auto.ExternalDir)
	}
	placed, n := bytesOf(c, Options{inPlace: 1})
	if want, err := filepath.EvalSymlinks(reftest.Data(t, "reference", "checkpoints", "mdlm")); err != nil || placed.ExternalDir != want {
		t.Errorf("external data in %q, want %q", placed.ExternalDir, want)
	}
	if n > 300_000 {
		t.Errorf("%d bytes although the weights are elsewhere", n)
	}
	if !CanRefer(c) {
		t.Error("F32 weights on disk cannot be referred to")
	}
	if got, want := Size(c), int64(4*155_011); got != want {
		t.Errorf("size is %d, want %d", got, want)
	}
	// The same checkpoint gives the same bytes twice.
	if again, _ := bytesOf(c, Options{}); !bytes.Equal(again.Bytes, auto.Bytes) {
		t.Error("a second build differs")
	}
	for name, c := range map[string]*checkpoint.Checkpoint{
		"F16 weights":       opened(t, reftest.Builtin(t)),
		"weights in memory": inMemory(t, folder(t, reftest.Data(t, "reference", "checkpoints", "mdlm"))),
	} {
		if m, _ := bytesOf(c, Options{inPlace: 1}); m.ExternalDir != "" {
			t.Errorf("%s in place: external data in %q", name, m.ExternalDir)
		}
		if CanRefer(c) {
			t.Errorf("%s can be referred to", name)
		}
	}
}

// A safetensors header may have any length: weights whose offset is not a multiple of four bytes
// are copied. For a symbolic link the folder is that of its target.
func TestInPlaceAddresses(t *testing.T) {
	f := folder(t, reftest.Data(t, "reference", "checkpoints", "radd"))
	b := f["model.safetensors"].Data
	n := int(b[0]) | int(b[1])<<8
	shifted := slices.Concat([]byte{byte(n + 1), byte((n + 1) >> 8)}, b[2:8+n], []byte(" "), b[8+n:])
	// As a hub stores them.
	hub := t.TempDir()
	dir, blobs := filepath.Join(hub, "snapshots", "89ab"), filepath.Join(hub, "blobs")
	reftest.OK(t, errors.Join(os.MkdirAll(dir, 0o777), os.Mkdir(blobs, 0o777)))
	write := func(path string, data []byte) {
		t.Helper()
		reftest.OK(t, os.WriteFile(path, data, 0o666))
	}
	write(filepath.Join(dir, "config.json"), f["config.json"].Data)
	write(filepath.Join(dir, "model.safetensors"), shifted)
	if c := opened(t, dir); CanRefer(c) {
		t.Error("weights at odd addresses can be referred to")
	}
	reftest.OK(t, os.Remove(filepath.Join(dir, "model.safetensors")))
	write(filepath.Join(blobs, "0123"), b)
	if err := os.Symlink(filepath.Join(blobs, "0123"), filepath.Join(dir, "model.safetensors")); err != nil {
		t.Skip(err)
	}
	c := opened(t, dir)
	m := reftest.Must(Build(t.Context(), c, Options{inPlace: 1}))(t)
	if want, _ := filepath.EvalSymlinks(blobs); m.ExternalDir != want {
		t.Errorf("external data in %q, want %q", m.ExternalDir, want)
	}
	g := goldenCases(t, "radd")[1]
	g.positions = everywhere(g.rows, g.length)
	if d := distance(t, g.run(t, session(t, ort.Source{Bytes: m.Bytes, ExternalDir: m.ExternalDir})), g.logits); d > goldenLimit {
		t.Errorf("through a symbolic link logits differ by %.3g", d)
	}
}

// A written matrix consists of its rows times their factors.
func TestSourceWritesScaledRows(t *testing.T) {
	x := checkpointtest.Tensor("x", checkpoint.F16, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)
	s := source{tensor: x, first: 1, rows: 2, cols: 2, scale: []float32{2, -1}}
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != s.size() || n != 16 {
		t.Fatalf("%d bytes of %d written: %v", n, s.size(), err)
	}
	want := make([]byte, 16)
	reftest.Must(binary.Encode(want, binary.LittleEndian, []float32{6, 8, -5, -6}))(t)
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("wrote %v, want %v", b.Bytes(), want)
	}
	if s.inPlace() {
		t.Error("scaled F16 rows are in place")
	}
}

func BenchmarkBuild(b *testing.B) {
	c := opened(b, reftest.Builtin(b))
	for b.Loop() {
		reftest.OK(b, reftest.Err(Build(b.Context(), c, Options{})))
	}
}

func BenchmarkLogits(b *testing.B) {
	for _, v := range []struct {
		name string
		o    Options
		want int
	}{{"one", Options{}, 1}, {"four", Options{}, 4}, {"all", Options{}, 128}} {
		b.Run(v.name, func(b *testing.B) {
			s := built(b, opened(b, reftest.Builtin(b)), v.o)
			one := call{rows: 1, ids: slices.Repeat([]int64{2048, 5, 17, 2048}, 32)}
			if v.want > 0 {
				one.positions = everywhere(1, v.want)
			}
			for b.Loop() {
				one.run(b, s)
			}
		})
	}
}
