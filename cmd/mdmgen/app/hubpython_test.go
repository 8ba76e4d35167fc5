package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/builtin"
	"mdmgen/internal/exit"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
)

// TestHuggingFaceLibrary checks that Python's huggingface_hub reads this program's cache, that this
// program reads and removes that of huggingface_hub, and that neither fetches what the other has.
func TestHuggingFaceLibrary(t *testing.T) {
	python := func(script string) (string, error) {
		cmd := exec.Command("python3", "-c", script)
		cmd.Env = append(os.Environ(), "HF_HUB_DISABLE_XET=1", "HF_HUB_DISABLE_PROGRESS_BARS=1", "HF_HUB_DISABLE_UPDATE_CHECK=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if err := exec.Command("python3", "-c", "import huggingface_hub").Run(); err != nil {
		t.Skip("python3 with huggingface_hub is not here: put one into PATH to compare the caches")
	}
	repo := hubtest.Folder(t, builtin.Fairytale())
	repo.Files["README.md"] = []byte("# not needed\n")
	s := hubtest.New(t, map[string]*hubtest.Repo{"test/mdlm": repo})
	s.Use(t)
	ours := strings.Split(strings.TrimSpace(mustRun(t, "", "pull", "test/mdlm")), "\t")[1]
	s.Forget()
	theirs, err := python("import huggingface_hub as h; print(h.snapshot_download('test/mdlm', local_files_only=True))")
	if err != nil || theirs != ours || len(s.Requests()) > 0 {
		t.Errorf("huggingface_hub finds %q, want %q, with %d requests (%v)", theirs, ours, len(s.Requests()), err)
	}
	got, err := python("import huggingface_hub as h; i = h.scan_cache_dir(); print([(r.repo_id, sorted(r.refs), r.nb_files) for r in i.repos], len(i.warnings))")
	if want := "[('test/mdlm', ['main'], 3)] 0"; err != nil || got != want {
		t.Errorf("huggingface_hub scans %q, want %q (%v)", got, want, err)
	}
	// It uses the existing blobs.
	s.Forget()
	reftest.Must(python("import huggingface_hub as h; h.snapshot_download('test/mdlm')"))(t)
	for _, r := range s.Requests() {
		if r.Host == "files" {
			t.Errorf("huggingface_hub fetched %s again", r.Path)
		}
	}
	mustRun(t, "", "remove", "test/mdlm")

	if theirs, err = python("import huggingface_hub as h; print(h.snapshot_download('test/mdlm'))"); err != nil {
		t.Fatal(err)
	}
	s.Forget()
	out, stderr, code := runCommand(t, "", "show", "test/mdlm")
	if code != exit.OK || !strings.Contains(out, "5,112,321") || len(s.Requests()) > 0 {
		t.Errorf("exit status %d, %d requests: %s%s", code, len(s.Requests()), out, stderr)
	}
	if got := strings.Split(strings.TrimSpace(mustRun(t, "", "pull", "test/mdlm")), "\t")[1]; got != theirs {
		t.Errorf("pulled to %q, want %q", got, theirs)
	}
	for _, r := range s.Requests() {
		if r.Host == "files" {
			t.Errorf("fetched %s again", r.Path)
		}
	}
	mustRun(t, "", "remove", "test/mdlm")
	if left, err := filepath.Glob(filepath.Join(os.Getenv("HF_HUB_CACHE"), "models--*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
