package hub_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/hub"
)

// weights returns the bytes of a large file.
func weights(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// model returns a repository with a checkpoint and files that it does not need.
func model() *hubtest.Repo {
	return &hubtest.Repo{Branches: []string{"refs/pr/1", "v1.0"}, Files: map[string][]byte{
		"config.json": []byte(`{"model_type":"mdlm"}`), "model.safetensors": weights(300_000, 1), "tokenizer.json": []byte("{}\n"),
		"README.md": []byte("# x\n"), "modeling.py": []byte("pass\n"), "pytorch_model.bin": weights(1000, 2), "consolidated.safetensors": weights(1000, 3),
	}}
}

// open returns a client of the environment with short waits.
func open(t testing.TB) *hub.Client {
	t.Helper()
	c := reftest.Must(hub.Open())(t)
	c.Pause, c.Stall = time.Millisecond, 5*time.Second
	c.Log = func(line string) { t.Log(line) }
	return c
}

var test = hub.Name{Repo: "test/mdlm"}

// at starts a hub with a repository, and points the environment to it and to an empty cache.
func at(t testing.TB, r *hubtest.Repo) (s *hubtest.Server, cache string) {
	t.Helper()
	s = hubtest.New(t, map[string]*hubtest.Repo{test.Repo: r})
	return s, s.Use(t)
}

// get downloads the repository, whose files must be the hub's three.
func get(t *testing.T, c *hub.Client, r *hubtest.Repo, o hub.Options) hub.Found {
	t.Helper()
	found := reftest.Must(c.Get(t.Context(), test, o))(t)
	holds(t, found.Path, r, three...)
	return found
}

// signed tells a request for a large file.
func signed(q *http.Request) bool { return strings.Contains(q.URL.RawQuery, "signature") }

// large makes answers replace those for large files.
func large(answer func(w http.ResponseWriter, q *http.Request, n int) bool) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, q *http.Request, n int) bool {
		return signed(q) && answer(w, q, n)
	}
}

// count returns how many requests a hub had that are so.
func count(s *hubtest.Server, so func(hubtest.Request) bool) (n int) {
	for _, q := range s.Requests() {
		if so(q) {
			n++
		}
	}
	return n
}

func ofFiles(q hubtest.Request) bool { return q.Host == "files" }

// holds requires that a snapshot has exactly these files, with the hub's content.
func holds(t *testing.T, dir string, r *hubtest.Repo, names ...string) {
	t.Helper()
	var got []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		got = append(got, filepath.ToSlash(name))
		data, err := os.ReadFile(path)
		if err == nil && !bytes.Equal(data, r.Files[filepath.ToSlash(name)]) {
			t.Errorf("%s is not as the hub has it", name)
		}
		return err
	})
	slices.Sort(got)
	slices.Sort(names)
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%v, want %v (%v)", got, names, err)
	}
}

var three = []string{"config.json", "model.safetensors", "tokenizer.json"}

// TestGet checks that the needed files are downloaded once, to where Hugging Face's library looks
// for them, and that only the hub's host receives the token.
func TestGet(t *testing.T) {
	for _, bare := range []bool{false, true} {
		t.Run(fmt.Sprintf("bare=%t", bare), func(t *testing.T) {
			r := model()
			r.Bare, r.Private = bare, true
			s, cache := at(t, r)
			t.Setenv("HF_TOKEN", s.Token)
			c := open(t)
			found := get(t, c, r, hub.Options{})
			dir := filepath.Join(cache, "models--test--mdlm", "snapshots", r.Commit())
			if found.Path != dir || found.Name.String() != "test/mdlm@"+r.Commit() {
				t.Errorf("%v", found)
			}
			if data, err := os.ReadFile(filepath.Join(cache, "models--test--mdlm", "refs", "main")); string(data) != r.Commit() {
				t.Errorf("refs/main: %q, %v", data, err)
			}
			for _, name := range three {
				to, err := os.Readlink(filepath.Join(dir, name))
				if want := filepath.Join("..", "..", "blobs", hubtest.Digest(name, r.Files[name])); to != want {
					t.Errorf("%s leads to %q, want %q (%v)", name, to, want, err)
				}
			}
			for _, q := range s.Requests() {
				if q.Host == "hub" && q.Token != s.Token || q.Host == "files" && q.Token != "" {
					t.Errorf("%s %s on %s has the token %q", q.Method, q.Path, q.Host, q.Token)
				}
			}
			if n := count(s, ofFiles); n != 1 {
				t.Errorf("%d requests for large files, want 1", n)
			}
			s.Forget()
			if again, err := c.Get(t.Context(), test, hub.Options{}); err != nil || again != found {
				t.Errorf("again: %v, %v", again, err)
			}
			if n := count(s, func(q hubtest.Request) bool { return q.Method == http.MethodGet && !strings.HasPrefix(q.Path, "/api/") }); n > 0 {
				t.Errorf("fetched %d files again", n)
			}
			s.Forget()
			if here, ok := c.Cache.Find(test, hub.Model); !ok || here != found || len(s.Requests()) > 0 {
				t.Errorf("in the cache: %v, %t", here, ok)
			}
		})
	}
}

// TestLeftOvers checks that leftovers of a killed process are completed or replaced, whatever they
// are, and that damaged files are replaced if that is requested.
func TestLeftOvers(t *testing.T) {
	r := model()
	s := hubtest.New(t, map[string]*hubtest.Repo{"test/mdlm": r})
	data := r.Files["model.safetensors"]
	for name, left := range map[string][]byte{
		"right": data[:70_000], "wrong": weights(70_000, 9), "too long": weights(400_000, 9), "all": data, "all wrong": weights(len(data), 9), "empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			cache := s.Use(t)
			blob := filepath.Join(cache, "models--test--mdlm", "blobs", hubtest.Digest("model.safetensors", data))
			reftest.OK(t, os.MkdirAll(filepath.Dir(blob), 0o755))
			reftest.OK(t, os.WriteFile(blob+".incomplete", left, 0o644))
			s.Forget()
			get(t, open(t), r, hub.Options{})
			if name == "right" && count(s, func(q hubtest.Request) bool { return q.Range == "bytes=70000-" }) == 0 {
				t.Error("it did not go on where it ended")
			}
			// A byte on the disk changes, and nothing else.
			bad := bytes.Clone(data)
			bad[7] ^= 1
			reftest.OK(t, os.WriteFile(blob, bad, 0o644))
			get(t, open(t), r, hub.Options{Verify: true})
		})
	}
}

// TestAtOnce checks that one of several clients downloads a repository.
func TestAtOnce(t *testing.T) {
	r := model()
	s, _ := at(t, r)
	var all sync.WaitGroup
	c := open(t)
	for range 4 {
		all.Go(func() {
			if found, err := c.Get(context.Background(), test, hub.Options{}); err != nil {
				t.Error(err)
			} else {
				holds(t, found.Path, r, three...)
			}
		})
	}
	all.Wait()
	if n := count(s, ofFiles); n != 1 {
		t.Errorf("the weights were fetched %d times", n)
	}
}

// TestBranch checks that a branch that moved leads to the old commit until the new one is complete.
func TestBranch(t *testing.T) {
	r := model()
	s, _ := at(t, r)
	c := open(t)
	old := get(t, c, r, hub.Options{})
	next := model()
	next.Files["model.safetensors"] = weights(200_000, 5)
	s.Set("test/mdlm", next)
	s.Fail = large(func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	reftest.Fails(t, reftest.Err(c.Get(t.Context(), test, hub.Options{})), "", "fetched what is forbidden")
	if found, ok := c.Cache.Find(test, hub.Model); !ok || found != old {
		t.Errorf("%v, want the old commit", found)
	}
	s.Fail = nil
	found := get(t, c, next, hub.Options{})
	if found == old {
		t.Fatalf("%v", found)
	}
	// A branch with slashes has its own reference.
	branch, _ := hub.Parse("test/mdlm@refs/pr/1")
	if again, err := c.Get(t.Context(), branch, hub.Options{}); err != nil || again != found {
		t.Errorf("%v, %v", again, err)
	}
	if _, ok := c.Cache.Find(branch, hub.Model); !ok {
		t.Error("refs/pr/1 is not in the cache")
	}

	kept, err := c.Cache.List()
	if err != nil || len(kept) != 2 || !kept[0].Whole || !kept[1].Whole || kept[0].Repo != "test/mdlm" {
		t.Errorf("%+v, %v", kept, err)
	}
	// Files shared with the new commit stay.
	old.Name.File = ""
	freed, err := c.Cache.Remove(old.Name)
	if err != nil || freed.Bytes != int64(len(r.Files["model.safetensors"])) || len(freed.Commits) != 1 {
		t.Errorf("%+v, %v", freed, err)
	}
	holds(t, found.Path, next, three...)
	reftest.Fails(t, reftest.Err(c.Cache.Remove(old.Name)), "", "removed twice")
	if freed, err = c.Cache.Remove(test); err != nil || freed.Bytes < 200_000 {
		t.Errorf("%+v, %v", freed, err)
	}
	if kept, err = c.Cache.List(); err != nil || len(kept) != 0 {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestRemoveHeld checks that a repository is not removed while it is being downloaded.
func TestRemoveHeld(t *testing.T) {
	s, _ := at(t, model())
	c := open(t)
	reftest.Must(c.Get(t.Context(), test, hub.Options{}))(t)
	asked, goOn := make(chan bool), make(chan bool)
	var first sync.Once
	s.Fail = func(w http.ResponseWriter, q *http.Request, n int) bool {
		first.Do(func() {
			asked <- true
			<-goOn
		})
		return false
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Get(t.Context(), test, hub.Options{})
		done <- err
	}()
	<-asked
	reftest.Fails(t, reftest.Err(c.Cache.Remove(test)), "another process is fetching it")
	goOn <- true
	reftest.OK(t, <-done)
	reftest.Must(c.Cache.Remove(test))(t)
}

// TestNeeded checks which files of a repository are downloaded.
func TestNeeded(t *testing.T) {
	for _, test := range []struct {
		name, ask, has, want, refused string
	}{
		{name: "shards", has: "config.json model.safetensors.index.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors model-old.safetensors x.gguf",
			want: "config.json model.safetensors.index.json model-00001-of-00002.safetensors model-00002-of-00002.safetensors"},
		{name: "bin", has: "config.json pytorch_model.bin training_args.bin", want: "config.json pytorch_model.bin"},
		{name: "one graph", has: "config.json onnx/model.onnx onnx/model.onnx_data onnx/model.onnx_data_1 onnx/other.bin", want: "config.json onnx/model.onnx onnx/model.onnx_data onnx/model.onnx_data_1"},
		{name: "graphs", has: "onnx/model_q4.onnx onnx/model_fp16.onnx", refused: "test/mdlm:onnx/model_fp16.onnx"},
		{name: "a graph of them", ask: ":onnx/model_q4.onnx", has: "config.json model.safetensors onnx/model_q4.onnx onnx/model_q4.onnx_data onnx/model_fp16.onnx tokenizer.json", want: "config.json onnx/model_q4.onnx onnx/model_q4.onnx_data tokenizer.json"},
		{name: "ours, which keep", has: "model.onnx model.onnx_data model_kept.onnx mdmgen.manifest.json tokenizer.json", want: "model.onnx model.onnx_data model_kept.onnx mdmgen.manifest.json tokenizer.json"},
		{name: "a tokenizer in Python", has: "config.json merges.txt model.safetensors tokenization_dream.py tokenizer_config.json vocab.json", want: "config.json merges.txt model.safetensors tokenizer_config.json vocab.json"},
		{name: "and as one file", has: "config.json merges.txt model.safetensors tokenizer.json vocab.json", want: "config.json model.safetensors tokenizer.json"},
		{name: "ours", has: "model.onnx model.onnx_data mdmgen.manifest.json tokenizer.json tokenizer_config.json", want: "model.onnx model.onnx_data mdmgen.manifest.json tokenizer.json tokenizer_config.json"},
		{name: "an adapter", has: "adapter_config.json adapter_model.safetensors", refused: "has an adapter"},
		{name: "an adapter beside weights", ask: ":model.safetensors", has: "adapter_config.json config.json model.safetensors", refused: "has an adapter"},
		{name: "no weights", has: "config.json model.gguf", refused: "has no supported weights"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &hubtest.Repo{Files: map[string][]byte{}}
			for _, f := range strings.Fields(test.has) {
				r.Files[f] = []byte(f)
			}
			if _, ok := r.Files["model.safetensors.index.json"]; ok {
				r.Files["model.safetensors.index.json"] = []byte(`{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}`)
			}
			_, cache := at(t, r)
			n, _ := hub.Parse("test/mdlm" + test.ask)
			found, err := open(t).Get(t.Context(), n, hub.Options{})
			if test.refused != "" {
				reftest.Fails(t, err, test.refused)
				return
			}
			reftest.OK(t, err)
			holds(t, filepath.Join(cache, "models--test--mdlm", "snapshots", r.Commit()), r, strings.Fields(test.want)...)
			if test.ask != "" && !strings.HasSuffix(found.Path, ".onnx") {
				t.Error(found.Path)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]hub.Name{
		"a/b": {Repo: "a/b"}, "a/b@v1": {Repo: "a/b", Revision: "v1"}, "a/b@refs/pr/1:onnx/x.onnx": {Repo: "a/b", Revision: "refs/pr/1", File: "onnx/x.onnx"},
		"A-1/b.c_d:x.onnx": {Repo: "A-1/b.c_d", File: "x.onnx"},
	} {
		if n, ok := hub.Parse(text); !ok || n != want || n.String() != text {
			t.Errorf("%s: %+v, %t", text, n, ok)
		}
	}
	for _, text := range []string{"", "a", "a/b/c", "./a/b", "../a", "/a/b", "a/b.onnx", "a/b.json", "a/model.safetensors", "a--b/c", "a/b..c", "a/b@", "a/b@../x", "a/b@..0", "a/b@/x", "a/b:", "a/b:../x", "a/b:/x", "a/b@x:y:z", "a/b c", "a/b:x\\..\\y", "a\n/b", "a/b@x\ny", "~/b", "-a/b"} {
		if n, ok := hub.Parse(text); ok {
			t.Errorf("%q is read as %+v", text, n)
		}
	}
}

// FuzzParse checks that accepted names lead to places below the cache's folders, and back to the
// same text.
func FuzzParse(f *testing.F) {
	f.Add("a/b@refs/pr/1:onnx/x.onnx")
	f.Add("a/b:..")
	f.Add("a/b@..0")
	f.Add("a/b:..0/x")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := hub.Parse(text)
		if !ok {
			return
		}
		below := func(path string) bool { return path == "" || filepath.IsLocal(path) }
		if n.String() != text || !below(n.Revision) || !below(n.File) {
			t.Errorf("%q is %+v", text, n)
		}
	})
}

// TestShort checks that short names stand for known repositories, with what follows such a name elsewhere.
func TestShort(t *testing.T) {
	for _, name := range []string{"sdar:1.7b", "SDAR:4B", "sdar:8b", "dream:7b", "llada:8b", "llada2:mini", "llada2.1:mini", "nemotron:3b", "nemotron:8b"} {
		n, ok := hub.Parse(name)
		if !ok || n.File != "" || !slices.ContainsFunc(hub.KnownList(), func(k hub.Known) bool { return k.Repo == n.Repo }) {
			t.Errorf("%s is %v, which is not known", name, n)
		}
	}
	if n, ok := hub.Parse("sdar:2b"); ok {
		t.Errorf("sdar:2b is %v", n)
	}
}
