package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/builtin"
	"mdmgen/internal/reftest"
)

// put writes a file below a folder.
func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFolder: what a file names is found by its last part, wherever it lies.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	checkpoints := filepath.Dir(reftest.Data(t, "reference", "checkpoints", "radd"))
	for name, from := range map[string]string{"near/radd": "mdlm", "far/away/radd": "radd"} {
		for _, file := range []string{"config.json", "model.safetensors"} {
			data, err := os.ReadFile(filepath.Join(checkpoints, from, file))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, name+"/"+file, string(data))
		}
	}
	own, err := digest(builtin.Fairytale())
	if err != nil {
		t.Fatal(err)
	}
	const (
		losses = `{"x0":[[0]],"mask":[[1]],"mask_token_id":150,"checkpoint":"../checkpoints/radd"}`
		other  = `{"x0":[[0]],"mask":[[1]],"checkpoint":"radd"}`
		sum    = `{"schema":"mdm-windows/1","model_safetensors_sha256":"SUM"}`
		none   = `{"schema":"mdm-windows/1","model":"model/nobody","model_safetensors_sha256":"00"}`
	)
	put(t, dir, "a/timed3.json", `{"schema":"mdm-laws-more/1"}`)
	world, err := os.ReadFile(reftest.Law(t, "timed3"))
	if err != nil {
		t.Fatal(err)
	}
	want := put(t, dir, "b/c/timed3.json", string(world))
	paths := map[string]string{
		"near/losses.data.json": losses, "near/other.json": other, "sum.json": strings.Replace(sum, "SUM", own, 1), "none.json": none,
	}
	for name, text := range paths {
		paths[name] = put(t, dir, name, text)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "b", "loop")); err != nil {
		t.Log(err) // no links here
	}
	d := walked(t, dir)
	if len(d.Files) != 10 {
		t.Errorf("%d files, want 10: %q", len(d.Files), d.Files)
	}
	for _, name := range []string{"timed3", "../laws/timed3"} {
		if f, _, _ := d.world(t, name); f.path != want {
			t.Errorf("%s: %s", name, f.path)
		}
	}
	for name, want := range map[string]string{
		// The mask tells which of two folders it is, else the nearer is taken.
		"near/losses.data.json": filepath.Join(dir, "far", "away", "radd"),
		"near/other.json":       filepath.Join(dir, "near", "radd"),
		"sum.json":              "fairytale",
	} {
		if got, err := d.model(t.Context(), d.open(t, paths[name])); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := d.model(t.Context(), d.open(t, paths["none.json"])); err == nil || !strings.Contains(err.Error(), `model "model/nobody"`) {
		t.Errorf("a model that is not there: %v", err)
	}
}

// TestNotOpened: only a folder of which no one file is meant need not open.
func TestNotOpened(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"config.json", "pytorch_model.bin", "a.ckpt"} {
		put(t, dir, name, "")
	}
	if why := notOpened(dir); why != "" {
		t.Errorf("need not open: %s", why)
	}
	put(t, dir, "b.ckpt", "")
	if notOpened(dir) == "" {
		t.Error("one of two trainers' files is taken")
	}
}
