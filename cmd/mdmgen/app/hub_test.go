package app

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/builtin"
	"mdmgen/internal/exit"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/internal/sysinfo"
	"mdmgen/model/hub"
)

// tinyHub returns a hub with a small checkpoint in its published form: test/mdlm has a tokenizer,
// the known repository has none.
func tinyHub(t *testing.T) *hubtest.Server {
	small := hubtest.Folder(t, os.DirFS(tinyModel))
	small.Files["README.md"] = []byte("# not needed\n")
	fairytale := hubtest.Folder(t, builtin.Fairytale())
	return hubtest.New(t, map[string]*hubtest.Repo{
		"test/mdlm":               fairytale,
		"test/llada":              tiny("llada"),
		"kuleshov-group/mdlm-owt": small,
		"openai-community/gpt2":   {Files: map[string][]byte{"tokenizer.json": fairytale.Files["tokenizer.json"], "model.safetensors": []byte("not asked for")}},
	})
}

// tiny returns a repository of a family that may not exist.
func tiny(family string) *hubtest.Repo {
	return &hubtest.Repo{Files: map[string][]byte{"config.json": fmt.Appendf(nil, `{"model_type":%q}`, family), "model.safetensors": []byte("x")}}
}

// counted calls wrote after every write to an answer.
type counted struct {
	http.ResponseWriter
	wrote func()
}

func (c counted) Write(p []byte) (int, error) {
	c.wrote()
	return c.ResponseWriter.Write(p)
}

func (c counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// TestKilledPull repeatedly kills a fetch at random moments. An incomplete model must never count
// as complete, nothing that loads may be wrong, and the next run must complete it. Moments are
// counted in requests and pieces of the weights, because time on a busy machine is unreliable.
func TestKilledPull(t *testing.T) {
	repo := hubtest.Folder(t, builtin.Fairytale())
	s := hubtest.New(t, map[string]*hubtest.Repo{"test/mdlm": repo})
	s.Slowly(repo.Files["model.safetensors"], time.Millisecond)
	moments, slow := make(chan bool, 100), s.Fail
	moment := func() {
		select {
		case moments <- true:
		default:
		}
	}
	s.Fail = func(w http.ResponseWriter, r *http.Request, n int) bool {
		moment()
		return slow(counted{w, moment}, r, n)
	}
	cache := s.Use(t)
	const killedPulls = 16
	killed, amid := 0, 0
	check := func() (whole bool) {
		t.Helper()
		found, ok := (hub.Cache{Dir: cache}).Find(hub.Name{Repo: "test/mdlm"}, hub.Model)
		blobs, _ := filepath.Glob(filepath.Join(cache, "models--test--mdlm", "blobs", "*"))
		for _, b := range blobs {
			data, err := os.ReadFile(b)
			sum := filepath.Base(b)
			if !strings.HasSuffix(b, ".incomplete") && (err != nil || hubtest.Digest("", data) != sum && hubtest.Digest(".bin", data) != sum) {
				t.Fatalf("%s is not what its name says", b)
			}
		}
		if !ok {
			return false
		}
		for name, want := range repo.Files {
			if got, err := os.ReadFile(filepath.Join(found.Path, name)); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s of a model that is taken for whole is not as the hub has it: %v", name, err)
			}
		}
		return true
	}
	for i := range killedPulls {
		var stderr strings.Builder
		cmd := exec.Command("mdmgen", "pull", "test/mdlm")
		cmd.Stderr = &stderr
		for len(moments) > 0 { // those of the previous run
			<-moments
		}
		reftest.OK(t, cmd.Start())
		ended := make(chan bool)
		go func() {
			// A fetch has half a dozen requests and 20 pieces.
			for range 1 + rand.IntN(28) {
				select {
				case <-moments:
				case <-ended:
					return
				}
			}
			time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
			_ = cmd.Process.Kill()
		}()
		err := cmd.Wait()
		close(ended)
		if err != nil {
			if cmd.ProcessState.ExitCode() >= 0 {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if killed++; strings.Contains(stderr.String(), "fetching") {
				amid++
			}
		}
		if i%8 == 7 { // the remains of several killed runs
			mustRun(t, "", "pull", "test/mdlm")
			if !check() {
				t.Fatal("a run that ended well left no whole model")
			}
		}
		if check() { // A complete model is not fetched again.
			reftest.OK(t, os.RemoveAll(filepath.Join(cache, "models--test--mdlm")))
		}
	}
	if t.Logf("%d of %d were killed, %d of them while files came", killed, killedPulls, amid); amid < 5 {
		t.Errorf("only %d of %d were killed while files came", amid, killedPulls)
	}
}

// TestTwoFetch checks that two processes that need one model concurrently both get it, and that
// only one fetches it.
func TestTwoFetch(t *testing.T) {
	needRuntime(t)
	repo := hubtest.Folder(t, builtin.Fairytale())
	s := hubtest.New(t, map[string]*hubtest.Repo{"test/mdlm": repo})
	s.Slowly(repo.Files["model.safetensors"], 2*time.Millisecond)
	s.Use(t)
	want := mustRun(t, "", "generate", "--seed", "3", "--length", "12")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			var stderr strings.Builder
			cmd := exec.Command("mdmgen", "generate", "--seed", "3", "--length", "12", "--model", "test/mdlm")
			cmd.Stderr = &stderr
			if got, err := cmd.Output(); err != nil || string(got) != want {
				t.Errorf("%q, want %q: %v: %s", got, want, err, stderr.String())
			}
		})
	}
	both.Wait()
	n := 0
	for _, r := range s.Requests() {
		if r.Host == "files" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the weights were fetched %d times", n)
	}
}

// TestDoesNotFit checks that a model that does not fit this machine, or that no command reads, is
// rejected before its weights are fetched, and that --force fetches it.
func TestDoesNotFit(t *testing.T) {
	config := func(hidden, blocks int) []byte {
		return fmt.Appendf(nil, `{"model_type":"mdlm","hidden_dim":%d,"cond_dim":128,"n_blocks":%d,"n_heads":16,"model_length":1024,"vocab_size":50258}`, hidden, blocks)
	}
	memory, known := sysinfo.Memory()
	// In float32 a block takes 48 bytes for each square of the width, in int8 a quarter of that.
	blocks := int(memory / (48 << 22) * 2)
	s := hubtest.New(t, map[string]*hubtest.Repo{
		"test/huge":  {Files: map[string][]byte{"config.json": config(1<<15, 200), "model.safetensors": []byte("x")}},
		"test/large": {Files: map[string][]byte{"config.json": config(1<<11, blocks), "model.safetensors": []byte("x")}},
		"test/llada": tiny("llada"),
		"test/gpt2":  {Files: map[string][]byte{"config.json": []byte(`{"architectures":["GPT2LMHeadModel"],"vocab_size":64,"n_embd":32,"n_layer":2,"n_head":2,"n_positions":16}`), "model.safetensors": []byte("x")}},
		"test/vast":  tiny("mdlm"),
	})
	s.Use(t)
	vast := tiny("mdlm")
	s.Fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/models/test/vast") {
			return false
		}
		fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":"config.json","size":%d,"blobId":%q},{"rfilename":"model.safetensors","lfs":{"sha256":"%064d","size":%d}}]}`,
			vast.Commit(), len(vast.Files["config.json"]), hubtest.Digest("config.json", vast.Files["config.json"]), 1, int64(1)<<60)
		return true
	}
	if _, known := sysinfo.Disk(t.TempDir()); known {
		refused(t, exit.Failure, "needs 1.2 EB of disk space, and ", "generate", "--model", "test/vast")
	}
	for name, want := range map[string]string{"test/huge": " of memory for ", "test/llada": `model_type is "llada"`, "test/gpt2": "a causal language model: its rows see no later token, unless"} {
		if name == "test/huge" && !known {
			continue
		}
		s.Forget()
		if stderr := refused(t, exit.Failure, want, "pull", name); !strings.Contains(stderr, "`mdmgen pull --force "+name+"`") {
			t.Error(stderr)
		}
		for _, r := range s.Requests() {
			if r.Host == "files" {
				t.Errorf("%s: %s was asked for", name, r.Path)
			}
		}
		mustRun(t, "", "pull", "--force", name)
	}
	if known {
		refused(t, exit.Failure, " in fp32, and this machine has ", "generate", "--model", "test/large")
		if _, stderr, _ := runCommand(t, "", "pull", "test/large"); !strings.Contains(stderr, " in int8 when it runs") {
			t.Error(stderr)
		}
	}
}

// TestPullDamaged checks that --verify-digest finds a changed byte and fetches the file again.
func TestPullDamaged(t *testing.T) {
	s := tinyHub(t)
	s.Use(t)
	path := strings.TrimSpace(strings.SplitN(mustRun(t, "", "pull", "test/mdlm"), "\t", 2)[1])
	weights := filepath.Join(path, "model.safetensors")
	data := []byte(readAll(t, weights))
	data[len(data)-1] ^= 1
	writeFile(t, weights, string(data))
	_, stderr, code := runCommand(t, "", "pull", "test/mdlm", "--verify-digest")
	again, err := os.ReadFile(weights)
	if code != exit.OK || err != nil || bytes.Equal(again, data) || !strings.Contains(stderr, "model.safetensors is damaged") {
		t.Errorf("exit status %d, %v: %s", code, err, stderr)
	}
}

// TestGraphFromHub names a graph in a repository by its file. Its weights must be fetched, too,
// even under a name that only the graph has.
func TestGraphFromHub(t *testing.T) {
	needRuntime(t)
	dir := filepath.Join(t.TempDir(), "converted")
	mustRun(t, "", "convert", "fairytale", "-o", dir)
	repo := hubtest.Folder(t, os.DirFS(dir))
	line := []string{"generate", "--seed", "3", "--length", "12", "--model"}
	want := mustRun(t, "", append(line, "fairytale")...)
	for _, data := range []string{"model.onnx_data", "weights_data_01"} { // of one length
		graph := bytes.ReplaceAll(repo.Files["model.onnx"], []byte("model.onnx_data"), []byte(data))
		s := hubtest.New(t, map[string]*hubtest.Repo{"test/graph": {Files: map[string][]byte{
			"onnx/model.onnx": graph, "onnx/" + data: repo.Files["model.onnx_data"], "onnx/model_q4.onnx": []byte("x"), "tokenizer.json": repo.Files["tokenizer.json"], "model.safetensors": []byte("x"),
		}}})
		s.Use(t)
		if got := mustRun(t, "", append(line, "test/graph:onnx/model.onnx")...); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
		for _, r := range s.Requests() {
			if strings.Contains(r.Path, "q4") || strings.Contains(r.Path, "safetensors") {
				t.Errorf("asked for %s, which is not needed", r.Path)
			}
		}
		s.Forget()
		if got := mustRun(t, "", append(line, "test/graph:onnx/model.onnx", "--offline")...); got != want || len(s.Requests()) > 0 {
			t.Errorf("%s from the cache: %q, want %q", data, got, want)
		}
	}
}
