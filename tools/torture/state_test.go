//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTimeless(t *testing.T) {
	a := `{"rows":1,"seconds":{"total":0.5},"windows":[{"nats":1.25,"started":"x"}],"totals":{"windows":1}}`
	for _, c := range []struct {
		why, b string
		same   bool
	}{
		{"another time", `{"rows":1,"seconds":{"total":7},"windows":[{"nats":1.25,"started":"y"}],"resumed":3,"tokens_per_second":{"mean":8}}`, true},
		{"another number", strings.Replace(a, "1.25", "1.250000000000000001", 1), false},
		{"a field less", strings.Replace(a, `"rows":1,`, "", 1), false},
		{"a line more", a + "\n" + a, false},
		{"cut off", a[:len(a)-1], false},
	} {
		if got := string(timeless([]byte(a))) == string(timeless([]byte(c.b))); got != c.same {
			t.Errorf("%s: same is %v", c.why, got)
		}
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"out.json": `{"a":1,"seconds":2}`, "out.json.123.tmp": "", "kept.jsonl": "{}\n{}\n{", "cache/x.lock": "", "server/x.tmp": "", "cache/stamps/y": "1",
		"cache/out.partial-01/model.onnx": "z", "cache/out/model.onnx": "z",
	} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := look(dir, []string{"kept.jsonl"}, "server")
	if err != nil {
		t.Fatal(err)
	}
	if got.records != 1 {
		t.Errorf("%d records, want 1", got.records)
	}
	if len(got.files) != 2 || got.files["out.json"] == "" || got.files["cache/out/model.onnx"] == "" {
		t.Errorf("final files: %v", got.files)
	}
	if want := []string{"cache/out.partial-01", "out.json.123.tmp"}; !slices.Equal(got.temporaries, want) {
		t.Errorf("temporaries: %v, want %v", got.temporaries, want)
	}
	want := map[string]string{"out.json": got.files["out.json"], "cache/out/model.onnx": "", "cache/out/model.onnx_data": ""}
	got.temporaries = nil
	if got, want := got.faults(want), []string{"cache/out/model.onnx is another", "cache/out/model.onnx_data is missing"}; !slices.Equal(got, want) {
		t.Errorf("differences: %v, want %v", got, want)
	}
}
