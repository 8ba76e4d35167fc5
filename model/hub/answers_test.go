package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/hubtest"
	"mdmgen/internal/reftest"
	"mdmgen/model/hub"
)

// TestTokenHost checks that only the hub's own host receives the token, and only with the original
// encryption. The standard library's client sends it to subdomains too.
func TestTokenHost(t *testing.T) {
	s, _ := at(t, model())
	t.Setenv("HF_TOKEN", s.Token)
	// By another name the same machine is another host.
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	seen := 0
	s.Fail = func(w http.ResponseWriter, q *http.Request, n int) bool {
		if strings.HasPrefix(q.Host, "localhost") {
			seen++
			if q.Header.Get("Authorization") != "" {
				t.Errorf("%s on %s has the token", q.URL.Path, q.Host)
			}
			return false
		}
		if "http://"+q.Host != s.URL {
			return false
		}
		http.Redirect(w, q, other+q.URL.RequestURI(), http.StatusTemporaryRedirect)
		return true
	}
	reftest.Must(open(t).Get(t.Context(), test, hub.Options{}))(t)
	if seen < 4 {
		t.Errorf("%d requests came to the other host", seen)
	}
}

// TestRefusals checks the one-line errors for what a hub refuses, which say what to do.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		repo             hubtest.Repo
		token, ask, want string
	}{
		"none":             {ask: "test/none", want: "no such repository at http://127.0.0.1:"},
		"none, with token": {ask: "test/none", token: "hf_secret", want: "or one that the token may not read"},
		"private":          {repo: hubtest.Repo{Private: true}, ask: "test/mdlm", want: "set HF_TOKEN to a token that may read it"},
		"wrong token":      {repo: hubtest.Repo{Private: true}, token: "hf_other", ask: "test/mdlm", want: "one that the token may not read"},
		"gated":            {repo: hubtest.Repo{Gated: true}, ask: "test/mdlm", want: "/test/mdlm, and set HF_TOKEN to a token of that account"},
		"gated, refused":   {repo: hubtest.Repo{Gated: true}, token: "hf_other", ask: "test/mdlm", want: "accept their terms at http://127.0.0.1:"},
		"revision":         {ask: "test/mdlm@v2", want: "the repository has no revision v2"},
		"file":             {ask: "test/mdlm:onnx/x.onnx", want: "no such file; it has "},
	} {
		t.Run(name, func(t *testing.T) {
			r := model()
			r.Private, r.Gated = test.repo.Private, test.repo.Gated
			s, _ := at(t, r)
			t.Setenv("HF_TOKEN", test.token)
			n, ok := hub.Parse(test.ask)
			if !ok {
				t.Fatal("no name")
			}
			_, err := open(t).Get(t.Context(), n, hub.Options{})
			if reftest.FailsInLine(t, err, test.want); !errors.As(err, new(*hub.MissingError)) {
				t.Errorf("%v: nothing is missing", err)
			}
			if test.token != "" && strings.Contains(err.Error(), test.token) {
				t.Errorf("the message tells the token: %v", err)
			}
			if n := len(s.Requests()); n > 4 {
				t.Errorf("%d requests: it asked again for what was refused", n)
			}
		})
	}
}

// TestTemporary checks that temporary failures are retried, and that an interrupted file is
// continued.
func TestTemporary(t *testing.T) {
	r := model()
	data := r.Files["model.safetensors"]
	slow := func(w http.ResponseWriter, n int) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:n])
		_ = http.NewResponseController(w).Flush()
	}
	cut := func(w http.ResponseWriter) {
		slow(w, 100_000)
		panic(http.ErrAbortHandler)
	}
	for name, fail := range map[string]func(w http.ResponseWriter, q *http.Request, n int) bool{
		"5xx": func(w http.ResponseWriter, q *http.Request, n int) bool {
			fails := n < 3 || n == 5
			if fails {
				w.WriteHeader(http.StatusBadGateway)
			}
			return fails
		},
		"429": func(w http.ResponseWriter, q *http.Request, n int) bool {
			if n == 0 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return n == 0
		},
		"cut": large(func(w http.ResponseWriter, q *http.Request, _ int) bool {
			if q.Header.Get("Range") == "" {
				cut(w)
			}
			return false
		}),
		"stalled": large(func(w http.ResponseWriter, q *http.Request, _ int) bool {
			if q.Header.Get("Range") != "" {
				return false
			}
			slow(w, 100_000)
			<-q.Context().Done()
			return true
		}),
		"without ranges": large(func(w http.ResponseWriter, q *http.Request, n int) bool {
			if q.Header.Get("Range") == "" && n < 6 {
				cut(w)
			}
			slow(w, len(data))
			return true
		}),
		"416": large(func(w http.ResponseWriter, q *http.Request, n int) bool {
			if q.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			if n < 6 {
				cut(w)
			}
			return false
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := at(t, r)
			s.Fail = fail
			c := open(t)
			c.Stall = 200 * time.Millisecond
			got := int64(0)
			begin := time.Now()
			get(t, c, r, hub.Options{Progress: func(n int64) { got += n }})
			var want int64
			for _, name := range three {
				want += int64(len(r.Files[name]))
			}
			if got != want {
				t.Errorf("progress of %d bytes, want %d", got, want)
			}
			if name == "429" && time.Since(begin) < time.Second {
				t.Error("it did not wait as long as it was asked to")
			}
			ranges := count(s, func(q hubtest.Request) bool { return q.Range == "bytes=100000-" })
			if (ranges > 0) != (name != "5xx" && name != "429") {
				t.Errorf("%d requests for the rest", ranges)
			}
		})
	}
}

// TestNoProgress checks that a download without progress ends: the same bytes again and again, or a
// byte now and then.
func TestNoProgress(t *testing.T) {
	r := model()
	data := r.Files["model.safetensors"]
	for name, answer := range map[string]func(w http.ResponseWriter, q *http.Request, n int) bool{
		"the same bytes": func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:100_000])
			panic(http.ErrAbortHandler)
		},
		"a byte a moment": func(w http.ResponseWriter, q *http.Request, _ int) bool {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			for i := 0; q.Context().Err() == nil; i++ {
				_, _ = w.Write(data[i : i+1])
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := at(t, r)
			s.Fail = large(answer)
			c := open(t)
			c.Stall = 100 * time.Millisecond
			reftest.Fails(t, reftest.Err(c.Get(t.Context(), test, hub.Options{})), "", "it came to an end")
			if n := len(s.Requests()); n > 30 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestGivesUp checks that permanent failures end with their cause.
func TestGivesUp(t *testing.T) {
	says := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	lists := func(files string) func(http.ResponseWriter, *http.Request) {
		return says(fmt.Sprintf(`{"sha":"%040d","siblings":[%s]}`, 1, files))
	}
	for name, test := range map[string]struct {
		fail func(w http.ResponseWriter, q *http.Request)
		want string
	}{
		"5xx": {func(w http.ResponseWriter, q *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "the hub answers 503"},
		"429": {func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(429)
		}, "the hub answers 429"},
		"page": {func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<html>")
		}, "a web page"},
		"text":   {says("hello"), "is not a hub's"},
		"commit": {says(`{"sha":"../../x","siblings":[]}`), "the commit is"},
		"empty":  {lists(``), "has no supported weights: it has no files"},
		"above":  {lists(`{"rfilename":"../../../x"}`), "leads out of its folder"},
		"root":   {lists(`{"rfilename":"/etc/x"}`), "leads out of its folder"},
		"within": {lists(`{"rfilename":"a/../../x"}`), "leads out of its folder"},
		"drive":  {lists(`{"rfilename":"C:\\x"}`), "leads out of its folder"},
		"digest": {lists(`{"rfilename":"config.json","size":1,"blobId":"../../x"},{"rfilename":"model.safetensors"}`), "gives no digest"},
		"loop":   {func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, q.URL.Path, http.StatusFound) }, "more than 10 redirections"},
		"403": {func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("X-Error-Message", "Access is disabled.")
			w.WriteHeader(403)
		}, "the hub refuses it (Access is disabled.): see http://"},
		"closed": {func(w http.ResponseWriter, q *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s, cache := at(t, model())
			s.Fail = func(w http.ResponseWriter, q *http.Request, n int) bool {
				if q.Method == http.MethodHead {
					w.Header().Set("Etag", `"../../x"`)
					w.Header().Set("Content-Length", "1")
					return true
				}
				test.fail(w, q)
				return true
			}
			reftest.FailsInLine(t, reftest.Err(open(t).Get(t.Context(), hub.Name{Repo: "test/mdlm"}, hub.Options{})), test.want)
			reftest.Fails(t, reftest.Err(os.Stat(filepath.Join(filepath.Dir(cache), "x"))), "", "a file was written above the cache")
		})
	}
}

// TestWrongDigest checks that bytes other than those the hub lists never get a name.
func TestWrongDigest(t *testing.T) {
	for _, name := range []string{"model.safetensors", "tokenizer.json"} {
		r := model()
		s, cache := at(t, r)
		s.Fail = func(w http.ResponseWriter, q *http.Request, n int) bool {
			if !strings.HasSuffix(q.URL.Path, name) || name == "model.safetensors" && !signed(q) {
				return false
			}
			data := bytes.Clone(r.Files[name])
			data[len(data)/2] ^= 1
			_, _ = w.Write(data)
			return true
		}
		c := open(t)
		_, err := c.Get(t.Context(), test, hub.Options{})
		reftest.Fails(t, err, name+": the fetched file is not the one that the hub lists", name)
		if _, ok := c.Cache.Find(test, hub.Model); ok {
			t.Errorf("%s: the model is taken for whole", name)
		}
		left, _ := filepath.Glob(filepath.Join(cache, "models--test--mdlm", "blobs", hubtest.Digest(name, r.Files[name])+"*"))
		if len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
		s.Fail = nil
		get(t, c, r, hub.Options{})
	}
}
