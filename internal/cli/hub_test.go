package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/builtin"
	"mdmgen/internal/cli/exit"
	"mdmgen/internal/reftest"
	"mdmgen/model/hub/hubtest"
)

// tinyHub is a hub with a small checkpoint as it is published: test/mdlm has a tokenizer, the
// known repository has none.
func tinyHub(t *testing.T) *hubtest.Server {
	tiny := hubtest.Folder(t, os.DirFS(reftest.Data(t, "reference", "checkpoints", "mdlm")))
	tiny.Files["README.md"] = []byte("# not needed\n")
	fairytale := hubtest.Folder(t, builtin.Fairytale())
	return hubtest.New(t, map[string]*hubtest.Repo{
		"test/mdlm":               fairytale,
		"kuleshov-group/mdlm-owt": tiny,
		"openai-community/gpt2":   {Files: map[string][]byte{"tokenizer.json": fairytale.Files["tokenizer.json"], "model.safetensors": []byte("not asked for")}},
	})
}

// TestGenerateFromHub: from an empty cache to text in one command, and again without the hub.
func TestGenerateFromHub(t *testing.T) {
	needRuntime(t)
	s := tinyHub(t)
	s.Use(t)
	line := []string{"generate", "--seed", "3", "--length", "12", "--model"}
	want := mustRun(t, "", append(line, "fairytale")...)
	stdout, stderr, code := runCommand(t, "", append(line, "test/mdlm")...)
	if code != exit.OK || stdout != want || !strings.Contains(stderr, "fetching test/mdlm@") {
		t.Fatalf("exit status %d, %q, want %q: %s", code, stdout, want, stderr)
	}
	had := len(s.Requests())
	t.Setenv("HF_HUB_OFFLINE", "1")
	stdout, stderr, code = runCommand(t, "", append(line, "test/mdlm", "--format", "json")...)
	if code != exit.OK || strings.Contains(stderr, "fetching") || len(s.Requests()) != had {
		t.Errorf("from the cache: exit status %d, %d requests more: %s", code, len(s.Requests())-had, stderr)
	}
	var record struct{ Provenance struct{ Model struct{ Reference string } } }
	if err := json.Unmarshal([]byte(stdout), &record); err != nil || !strings.HasPrefix(record.Provenance.Model.Reference, "test/mdlm@") || len(record.Provenance.Model.Reference) != len("test/mdlm@")+40 {
		t.Errorf("the record names %q, want the name at its commit (%v)", record.Provenance.Model.Reference, err)
	}
	_, stderr, code = runCommand(t, "", append(line, "test/other")...)
	if code != exit.Missing || !strings.Contains(stderr, "fetching it is forbidden") {
		t.Errorf("offline: exit status %d: %s", code, stderr)
	}
}

// TestKnownTokenizer: a repository without a tokenizer has that of its authors brought, and
// said so; --offline holds for it too.
func TestKnownTokenizer(t *testing.T) {
	needRuntime(t)
	s := tinyHub(t)
	cache := s.Use(t)
	line := []string{"generate", "--seed", "3", "--length", "4", "--model", "kuleshov-group/mdlm-owt"}
	stdout, stderr, code := runCommand(t, "", line...)
	if code != exit.OK || stdout == "" || !strings.Contains(stderr, "its authors use that of openai-community/gpt2") {
		t.Fatalf("exit status %d, %q: %s", code, stdout, stderr)
	}
	for _, r := range s.Requests() {
		if strings.Contains(r.Path, "README") || strings.Contains(r.Path, "gpt2") && strings.Contains(r.Path, "safetensors") {
			t.Errorf("asked for %s, which is not needed", r.Path)
		}
	}
	if err := os.RemoveAll(filepath.Join(cache, "models--openai-community--gpt2")); err != nil {
		t.Fatal(err)
	}
	s.Forget()
	_, stderr, code = runCommand(t, "", append(line, "--offline")...)
	if code != exit.Missing || len(s.Requests()) > 0 || !strings.Contains(stderr, "openai-community/gpt2: not in the cache") {
		t.Errorf("offline: exit status %d, %d requests: %s", code, len(s.Requests()), stderr)
	}
	// A tokenizer by name, for a model that is a folder here.
	here := reftest.Data(t, "reference", "checkpoints", "mdlm")
	named := mustRun(t, "", "generate", "--seed", "3", "--length", "4", "--model", here, "--tokenizer", "openai-community/gpt2")
	if named != stdout {
		t.Errorf("%q with the tokenizer named, %q before", named, stdout)
	}
}
