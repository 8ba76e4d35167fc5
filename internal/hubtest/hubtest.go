// Package hubtest is a hub for tests. It responds like Hugging Face's, with small files directly
// and with large ones by a redirection to another host, and fails in the ways that a test requests.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// Repo is a repository at one commit.
type Repo struct {
	// Files are its files; those that end in .safetensors, .bin or .onnx, or have more than a
	// megabyte, are large.
	Files map[string][]byte
	// Private repositories are visible only with the token; Gated ones are visible but not readable
	// without it.
	Private, Gated bool
	// Branches lead to the commit, in addition to main.
	Branches []string
	// Bare listings have no digests and sizes, like those of mirrors.
	Bare bool
}

// Commit returns the repository's commit, a function of its files.
func (r *Repo) Commit() string {
	sum := sha1.New()
	for _, n := range slices.Sorted(maps.Keys(r.Files)) {
		fmt.Fprintf(sum, "%s %x\n", n, crc32.ChecksumIEEE(r.Files[n])) // Every answer names the commit.
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Large reports whether the hub stores a file separately.
func Large(name string, data []byte) bool {
	return len(data) > 1<<20 || strings.HasSuffix(name, ".safetensors") || strings.HasSuffix(name, ".bin") || strings.HasSuffix(name, ".onnx")
}

// Digest returns the digest that the hub lists for a file.
func Digest(name string, data []byte) string {
	if Large(name, data) {
		return fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return fmt.Sprintf("%x", sha1.Sum(slices.Concat(fmt.Appendf(nil, "blob %d\x00", len(data)), data)))
}

// Request is a request that the hub received.
type Request struct {
	Host, Method, Path, Range, Token string
}

// Server is a hub and the host of its large files.
type Server struct {
	// URL is the hub's address, the value of HF_ENDPOINT; Files is the other host's.
	URL, Files string
	// Token belongs to the user who may read everything.
	Token string
	// Fail, if it returns true, has responded in place of the hub. n is the number of earlier
	// requests.
	Fail func(w http.ResponseWriter, r *http.Request, n int) bool

	mu    sync.Mutex
	repos map[string]*Repo
	had   []Request
}

// New starts a hub that stops when the test ends.
func New(t testing.TB, repos map[string]*Repo) *Server {
	s, end := Start(repos)
	t.Cleanup(end)
	return s
}

// Start starts a hub and returns a function that stops it. Its two hosts differ in their ports.
func Start(repos map[string]*Repo) (s *Server, end func()) {
	s = &Server{Token: "hf_secret", repos: repos}
	hub, files := httptest.NewServer(s.noted("hub", s.hub())), httptest.NewServer(s.noted("files", s.large()))
	s.URL, s.Files = hub.URL, files.URL
	return s, func() {
		hub.CloseClientConnections()
		files.CloseClientConnections()
		hub.Close()
		files.Close()
	}
}

// Slowly makes the server send data as every model.safetensors, in 20 pieces with a pause after
// each, so that a fetch takes time and can be interrupted.
func (s *Server) Slowly(data []byte, pause time.Duration) {
	s.Fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.HasSuffix(r.URL.Path, "model.safetensors") || r.URL.RawQuery == "" {
			return false
		}
		from := 0
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
			w.WriteHeader(http.StatusPartialContent)
		}
		const pieces = 20
		for i := range pieces {
			if _, err := w.Write(data[from+(len(data)-from)*i/pieces : from+(len(data)-from)*(i+1)/pieces]); err != nil {
				return true
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
		return true
	}
}

// Use points the environment to the hub and to an empty cache, which it returns.
func (s *Server) Use(t testing.TB) (cache string) {
	cache = t.TempDir()
	for _, name := range []string{"HUGGINGFACE_HUB_CACHE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "HF_HUB_DOWNLOAD_TIMEOUT", "MDMGEN_OFFLINE"} {
		t.Setenv(name, "") // restores the old value at the end
		os.Unsetenv(name)
	}
	t.Setenv("HF_ENDPOINT", s.URL)
	t.Setenv("HF_HUB_CACHE", cache)
	t.Setenv("HF_HOME", t.TempDir())
	return cache
}

// Set replaces a repository.
func (s *Server) Set(name string, r *Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[name] = r
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.had)
}

// Forget drops the recorded requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had = nil
}

// noted records each request, and lets Fail respond to it.
func (s *Server) noted(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		n := len(s.had)
		s.had = append(s.had, Request{host, r.Method, r.URL.Path, r.Header.Get("Range"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")})
		fail := s.Fail
		s.mu.Unlock()
		if fail == nil || !fail(w, r, n) {
			next.ServeHTTP(w, r)
		}
	})
}

func deny(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("X-Error-Code", code)
	w.Header().Set("X-Error-Message", message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q}`, message)
}

// hub responds to requests for repositories, and for their small files.
func (s *Server) hub() http.Handler {
	about, files := http.NewServeMux(), http.NewServeMux()
	about.HandleFunc("/api/models/{owner}/{name}/{what}/{revision}", s.about)
	files.HandleFunc("/{owner}/{name}/resolve/{revision}/{path...}", s.resolve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			about.ServeHTTP(w, r)
		} else {
			files.ServeHTTP(w, r)
		}
	})
}

// repo returns the repository of a request, nil if it was denied.
func (s *Server) repo(w http.ResponseWriter, r *http.Request) (repo *Repo, member bool) {
	s.mu.Lock()
	repo = s.repos[r.PathValue("owner")+"/"+r.PathValue("name")]
	s.mu.Unlock()
	member = r.Header.Get("Authorization") == "Bearer "+s.Token
	revision := r.PathValue("revision")
	switch {
	case repo == nil && member:
		deny(w, 404, "RepoNotFound", "Repository not found")
	case repo == nil, repo.Private && !member:
		deny(w, 401, "RepoNotFound", "Repository not found")
	case revision != repo.Commit() && revision != "main" && !slices.Contains(repo.Branches, revision):
		deny(w, 404, "RevisionNotFound", "Invalid rev id")
	default:
		return repo, member
	}
	return nil, member
}

// about responds with the files of a repository, or with the tree that Hugging Face's own library
// requests.
func (s *Server) about(w http.ResponseWriter, r *http.Request) {
	repo, _ := s.repo(w, r)
	if repo == nil {
		return
	}
	tree := r.PathValue("what") == "tree"
	all := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(repo.Files)) {
		data := repo.Files[name]
		one := map[string]any{"rfilename": name}
		switch {
		case tree:
			one = map[string]any{"type": "file", "path": name, "size": len(data), "oid": Digest("", data)}
		case !repo.Bare:
			one["size"], one["blobId"] = len(data), Digest("", data)
		}
		if Large(name, data) && (tree || !repo.Bare) {
			one["lfs"] = map[string]any{"oid": Digest(name, data), "sha256": Digest(name, data), "size": len(data), "pointerSize": 134}
		}
		all = append(all, one)
	}
	var answer any = map[string]any{"id": "x", "sha": repo.Commit(), "gated": repo.Gated, "siblings": all}
	if tree {
		answer = all
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// resolve responds with a small file, or redirects to a large one.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	repo, member := s.repo(w, r)
	if repo == nil {
		return
	}
	if repo.Gated && !member {
		status := 403
		if r.Header.Get("Authorization") == "" {
			status = 401
		}
		deny(w, status, "GatedRepo", "Access to model is restricted.")
		return
	}
	name := r.PathValue("path")
	data, ok := repo.Files[name]
	if !ok {
		deny(w, 404, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("X-Repo-Commit", repo.Commit())
	if Large(name, data) {
		w.Header().Set("X-Linked-Etag", `"`+Digest(name, data)+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(data)))
		http.Redirect(w, r, s.Files+r.URL.EscapedPath()+"?signature=x", http.StatusFound)
		return
	}
	w.Header().Set("Etag", `W/"`+Digest(name, data)+`"`)
	serve(w, r, name, data)
}

// large is the host of large files, which receives no token.
func (s *Server) large() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{owner}/{name}/resolve/{revision}/{path...}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		repo := s.repos[r.PathValue("owner")+"/"+r.PathValue("name")]
		s.mu.Unlock()
		if repo == nil || r.URL.Query().Get("signature") != "x" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		w.Header().Set("Etag", `"another"`)
		serve(w, r, r.PathValue("path"), repo.Files[r.PathValue("path")])
	})
	return mux
}

func serve(w http.ResponseWriter, r *http.Request, name string, data []byte) {
	w.Header().Set("Content-Type", "binary/octet-stream")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}

// Folder returns a repository with the files of a folder.
func Folder(t testing.TB, dir fs.FS) *Repo {
	t.Helper()
	return reftest.Must(Read(dir))(t)
}

// Read is Folder without a test.
func Read(dir fs.FS) (*Repo, error) {
	out := &Repo{Files: map[string][]byte{}}
	return out, fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out.Files[path], err = fs.ReadFile(dir, path)
		return err
	})
}
