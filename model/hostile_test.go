//go:build unix

package model

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/world"
	"mdmgen/tokenize"
)

// TestStrangersFolder checks that a folder is rejected, in one line and immediately, if any file of
// it is a link out of it, a device or a pipe, and that nothing is written.
func TestStrangersFolder(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	reftest.OK(t, os.WriteFile(secret, []byte(`{"secret":"the words of the secret"}`), 0o600))
	kinds := map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(secret, path) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	}
	open := func(dir string) error {
		m, err := Open(t.Context(), dir, Options{})
		if err == nil {
			err = m.Close()
		}
		return err
	}
	convert := func(dir string) error {
		c, err := checkpoint.Open(dir, "")
		if err != nil {
			return err
		}
		defer c.Close()
		out := dir + "-out"
		err = graph.Write(t.Context(), c, graph.Options{}, out)
		if _, serr := os.Lstat(out); err != nil && serr == nil {
			t.Errorf("%s is there after %v", out, err)
		}
		return err
	}
	copied := func(t *testing.T) string { return Copied(t, "mdlm") }
	sharded := func(t *testing.T) string {
		dir := copied(t)
		index := `{"weight_map":{"a":"weights-1.safetensors"}}`
		reftest.OK(t, errors.Join(os.Rename(filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "weights-1.safetensors")),
			os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(index), 0o600)))
		return dir
	}
	written := func(t *testing.T) string { return Converted(t, "mdlm") }
	laws := func(t *testing.T) string { return t.TempDir() }
	for _, c := range []struct {
		file string
		make func(*testing.T) string
		use  func(dir string) error
	}{
		{"config.json", copied, open}, {"model.safetensors", copied, open},
		{"model.safetensors.index.json", sharded, open}, {"weights-1.safetensors", sharded, open},
		{"tokenizer.json", copied, convert}, {"tokenizer_config.json", copied, convert},
		{"special_tokens_map.json", copied, convert}, {"added_tokens.json", copied, convert}, {"config.json", copied, convert},
		{graph.ModelFile, written, open}, {graph.DataFile, written, open},
		{graph.ManifestFile, written, open}, {"model.mdmgen.json", written, open},
		{"tokenizer.json", written, func(dir string) error { _, err := tokenize.Open(t.Context(), dir); return err }},
		{"world.json", laws, func(dir string) error { _, err := world.Open(filepath.Join(dir, "world.json")); return err }},
	} {
		for kind, put := range kinds {
			if c.file == "world.json" && kind == "link" {
				continue // A world is named directly, so a link by that name is the user's.
			}
			dir := c.make(t)
			path := filepath.Join(dir, c.file)
			reftest.OK(t, os.RemoveAll(path))
			if err := put(path); err != nil {
				t.Skip(err)
			}
			done := make(chan error, 1)
			go func() { done <- c.use(dir) }()
			select {
			case err := <-done:
				if err == nil || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "words of the secret") {
					t.Errorf("%s is a %s: %v, want one line", c.file, kind, err)
				}
				if outside := c.file != "world.json" && (kind == "link" || kind == "device"); err != nil && outside && !strings.Contains(err.Error(), "leads out of the folder") {
					t.Errorf("%s is a %s: %v, want that it leads out of the folder", c.file, kind, err)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s is a %s: it hangs", c.file, kind)
			}
		}
	}
}

// TestHubFolder opens a snapshot of a hub's cache, whose files are links to blobs. It also opens
// one whose blobs are links to blobs that all repositories share, if the hub's library marked the
// folder as shared.
func TestHubFolder(t *testing.T) {
	for _, shared := range []string{"none", "marked", "not marked"} {
		cache := t.TempDir()
		hub := filepath.Join(cache, "models--a--b")
		dir, blobs, store := filepath.Join(hub, "snapshots", "0123"), filepath.Join(hub, "blobs"), filepath.Join(cache, "blobs")
		reftest.OK(t, errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(blobs, 0o700), os.MkdirAll(filepath.Join(store, "ab"), 0o700)))
		from := Copied(t, "mdlm")
		for _, name := range []string{"config.json", "model.safetensors"} {
			blob := filepath.Join(blobs, "x-"+name)
			err := os.Rename(filepath.Join(from, name), blob)
			if shared != "none" {
				err = errors.Join(err, os.Rename(blob, filepath.Join(store, "ab", name)), os.Symlink(filepath.Join("..", "..", "blobs", "ab", name), blob))
			}
			reftest.OK(t, errors.Join(err, os.Symlink(filepath.Join("..", "..", "blobs", "x-"+name), filepath.Join(dir, name))))
		}
		if shared == "marked" {
			reftest.OK(t, os.WriteFile(filepath.Join(store, ".huggingface-shared-blobs"), []byte("1"), 0o600))
		}
		c, err := checkpoint.Open(dir, "")
		if shared == "not marked" {
			if err == nil {
				t.Error("a link out of the repository's folder is followed")
			}
			continue
		}
		reftest.OK(t, err)
		defer c.Close()
		reftest.Must(c.Digest(t.Context()))(t)
	}
}
