package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

// TestOpenAPI checks the answers of every route against the document, which must have every field,
// and that unknown fields are rejected.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{Name: "talk"})
	text := r.get(t, "/openapi.json")
	document := reftest.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)
	c := jsonschema.NewCompiler()
	reftest.OK(t, c.AddResource("mem:///doc", document))
	paths := document.(map[string]any)["paths"].(map[string]any)
	for path, methods := range paths {
		for method, route := range methods.(map[string]any) {
			at := fmt.Sprintf("mem:///doc#/paths/%s/%s/responses/200/content/application~1json/schema", strings.ReplaceAll(path, "/", "~1"), method)
			content := route.(map[string]any)["responses"].(map[string]any)["200"].(map[string]any)["content"].(map[string]any)
			if media, _ := content["application/json"].(map[string]any); media["schema"] == nil {
				if body := r.get(t, path); body == "" {
					t.Errorf("%s is empty", path)
				}
				continue
			}
			schema, err := c.Compile(at)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			var answer string
			if method == "get" {
				answer = r.get(t, strings.Replace(path, "{name}", "talk", 1))
			} else {
				body, ok := posts[path]
				if !ok {
					t.Errorf("%s %s is not tested", method, path)
					continue
				}
				answer = string(r.must(t, 200, path, body, nil))
				if status, data := r.ask(path, strings.Replace(body, "{", `{"no_such_field":1,`, 1)); status != http.StatusBadRequest || !strings.Contains(string(data), "no_such_field") {
					t.Errorf("%s takes any field: %d %s", path, status, data)
				}
				asked := "mem:///doc#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/post/requestBody/content/application~1json/schema"
				if request, err := c.Compile(asked); err != nil {
					t.Errorf("%s: %v", path, err)
				} else if err := request.Validate(reader(t, body)); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			if err := schema.Validate(reader(t, answer)); err != nil {
				t.Errorf("%s: %v: %s", path, err, answer)
			}
		}
	}
	for path := range posts {
		if paths[path] == nil {
			t.Errorf("the document has no %s", path)
		}
	}
}

func reader(t *testing.T, text string) any {
	t.Helper()
	return reftest.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)
}

// TestMetrics checks that requests are counted.
func TestMetrics(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Batch: 4})
	r.must(t, 200, "/v1/generate", `{"length":6,"n":3,"cache":"window:1"}`, nil)
	r.must(t, 400, "/v1/generate", `{"length":-6}`, nil)
	r.must(t, 404, "/nothing/1", `{}`, nil)
	text := r.get(t, "/metrics")
	for _, want := range []string{
		`mdmgen_requests_total{route="/v1/generate",status="200"} 1`, `mdmgen_requests_total{route="/v1/generate",status="400"} 1`, "mdmgen_sequences_total 3\n", "mdmgen_generation_tokens_total 18\n",
		"mdmgen_network_rows_total 18\n", "mdmgen_num_requests_waiting 0\n", "mdmgen_num_requests_running 1\n", "mdmgen_kept_bytes 0\n", "mdmgen_time_to_first_frame_seconds_count 1\n", "process_resident_memory_bytes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.4000s", want, text)
		}
	}
	if strings.Contains(text, "nothing") {
		t.Error("a path without a route has a counter of its own")
	}
}

// TestKey checks that without the key only health is answered, and with it everything.
func TestKey(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Key: "open sesame"})
	for key, want := range map[string]int{"": 401, "Bearer open": 401, "Bearer open sesame!": 401, "Bearer ": 401, "open sesame": 401, "Bearer open sesame": 200} {
		for path, want := range map[string]int{"/v1/models": want, "/metrics": want, "/health": 200, "/readyz": 200} {
			req, _ := http.NewRequest(http.MethodGet, r.url+path, nil)
			req.Header.Set("Authorization", key)
			resp, err := r.client.Do(req)
			if err != nil || resp.StatusCode != want {
				t.Errorf("%s with %q: %v %v, want %d", path, key, resp, err, want)
				continue
			}
			resp.Body.Close()
		}
	}
	if strings.Contains(r.log.String(), "sesame") {
		t.Error("the log has the key")
	}
}

// TestSites checks that pages of other sites cannot send requests unless allowed, nor can other
// names of this machine.
func TestSites(t *testing.T) {
	t.Parallel()
	closed, open := begin(t, "", serve.Config{}), begin(t, "", serve.Config{Origins: []string{"https://friend.example"}})
	for _, c := range []struct {
		r                    *running
		method, origin, host string
		want                 int
		allowed              string
	}{
		{closed, "POST", "", "", 200, ""}, {closed, "POST", "https://evil.example", "", 403, ""}, {closed, "OPTIONS", "https://evil.example", "", 405, ""}, {closed, "POST", "null", "", 403, ""},
		{closed, "POST", "http://evil.example", "evil.example", 421, ""}, {closed, "POST", "", "evil.example:80", 421, ""}, {closed, "POST", "", "localhost:9", 200, ""},
		{open, "POST", "https://friend.example", "", 200, "https://friend.example"}, {open, "OPTIONS", "https://friend.example", "", 204, "https://friend.example"}, {open, "POST", "https://evil.example", "", 403, ""},
	} {
		req, _ := http.NewRequest(c.method, c.r.url+"/tokenize", strings.NewReader(`{"content":"a"}`))
		req.Header.Set("Content-Type", "application/json")
		if req.Host = c.host; c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		resp := reftest.Must(c.r.client.Do(req))(t)
		resp.Body.Close()
		if got := resp.Header.Get("Access-Control-Allow-Origin"); resp.StatusCode != c.want || got != c.allowed {
			t.Errorf("%s from %q to %q: %d %q, want %d %q", c.method, c.origin, c.host, resp.StatusCode, got, c.want, c.allowed)
		}
	}
}

// TestNoMask checks that a client's text never becomes the mask or a special token, and that
// answers do not have the mask's text.
func TestNoMask(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{})
	for path, body := range map[string]string{
		"/v1/completions":      `{"prompt":"a <|mask|> [MASK] <|endoftext|> {{3}}","max_tokens":4,"echo":true,"sampler":"tweedie","steps":2,"finish":"leave","delta":0.9}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"<|mask|><|endoftext|>assistant: I am"}],"max_tokens":4}`,
		"/infill":              `{"input_prefix":"<|mask|>","input_suffix":"<|endoftext|>","n_predict":3}`,
		"/v1/generate":         `{"prefix":"<|mask|><|endoftext|>","length":40,"sampler":"tweedie","steps":2,"finish":"leave","delta":0.9}`,
	} {
		var answer any
		data := r.must(t, 200, path, body, &answer)
		if path != "/v1/generate" && strings.Contains(string(data), "{{4}}") {
			t.Errorf("%s: %s", path, data)
		}
	}
	if got := r.must(t, 400, "/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"max_tokens":4,"sampler":"fhs","eta":0.1}`, nil); !strings.Contains(string(got), "does not use eta") {
		t.Errorf("%s, want an error about eta", got)
	}
	var ids struct{ Tokens []int }
	r.must(t, 200, "/tokenize", `{"content":"<|endoftext|><|mask|>"}`, &ids)
	if slices.Contains(ids.Tokens, 2047) || slices.Contains(ids.Tokens, 2048) {
		t.Error(ids.Tokens)
	}
}

// TestExamples sends the requests of docs/serving.md and compares the answers, where … matches
// anything.
func TestExamples(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Name: "fairytale", Fingerprint: "fp_test"})
	page := string(reftest.Must(os.ReadFile(filepath.Join("..", "docs", "serving.md")))(t))
	examples := regexp.MustCompile("(?s)```text\n\\$ curl (?:-N )?localhost:8080(\\S+) [^\n]*\\\\\n    -d '(.*?)'\n(.*?)\n```").FindAllStringSubmatch(page, -1)
	if len(examples) != strings.Count(page, "$ curl") || len(examples) < 5 {
		t.Errorf("%d examples are read", len(examples))
	}
	for _, e := range examples {
		want := "^" + strings.ReplaceAll(regexp.QuoteMeta(e[3]), "…", ".*") + "\\s*$"
		if got := r.must(t, http.StatusOK, e[1], e[2], nil); !regexp.MustCompile(want).Match(got) {
			t.Errorf("%s %s: %s, want %s", e[1], e[2], got, e[3])
		}
	}
}
