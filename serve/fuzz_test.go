package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/serve"
)

// posts maps the routes with a body to one that they accept, and to which they answer all that they can.
var posts = map[string]string{
	"/v1/completions":      `{"prompt":"ab","max_tokens":2,"n":2,"stop":"b","logprobs":1,"echo":true,"guided_regex":"a*"}`,
	"/v1/chat/completions": `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"max_completion_tokens":2,"logprobs":true,"top_logprobs":2}`,
	"/v1/generate":         `{"infill":"a{{2}}b","seed":1,"sampler":"tweedie","steps":2,"record":true}`,
	"/v1/read":             `{"ids":[null,1,null],"candidate_ids":[[0,1]],"law":"left-to-right"}`,
	"/v1/score":            `{"text":"ab","context":[1]}`,
	"/api/chat":            `{"messages":[{"role":"user","content":"a"}],"stream":false,"options":{"num_predict":2,"seed":3}}`,
	"/api/generate":        `{"prompt":"ab","suffix":"c","stream":false,"options":{"num_predict":2,"stop":["b"]}}`,
	"/api/show":            `{"verbose":true}`,
	"/infill":              `{"input_prefix":"a","input_suffix":"b","n_predict":1}`,
	"/tokenize":            `{"content":"ab"}`,
	"/detokenize":          `{"tokens":[1,2]}`,
}

// FuzzBody checks that every route answers any body, or rejects it with a one-line error in JSON,
// and that the server keeps running.
func FuzzBody(f *testing.F) {
	r := begin(f, reftest.Checkpoint(f, "mdlm"), serve.Config{Words: letters(f), Deadline: 5 * time.Second, Positions: 1000})
	for path, body := range posts {
		f.Add(path, body)
	}
	for _, body := range []string{
		"", "null", "[]", "{", `{"n":1e30}`, `{"prompt":[[1],[2]],"seed":18446744073709551615}`, `{"prompt":"\ud800"}`, `{"length":-1}`, `{"ids":[null],"steps":0}`,
		`{"infill":["a",{"masks":3}]}`, `{"messages":[{}]}`, `{"json_schema":{"$ref":"#"}}`, `{"grammar":"root ::= root"}`, `{"stream":true}`,
	} {
		f.Add("/v1/generate", body)
		f.Add("/v1/completions", body)
	}
	f.Fuzz(func(t *testing.T, path, body string) {
		if posts[path] == "" {
			return
		}
		status, data := r.ask(path, body)
		if status == http.StatusOK {
			if !json.Valid(data) && !strings.HasSuffix(string(data), "data: [DONE]\n\n") && !(strings.HasPrefix(path, "/api/") && strings.Contains(string(data), `"done":true`)) {
				t.Errorf("%s %q: %s", path, body, data)
			}
			return
		}
		var failure serve.Failure
		if strings.HasPrefix(path, "/api/") {
			failure.Error, data = new(serve.Refusal), bytes.Replace(data, []byte("error"), []byte("message"), 1)
			reftest.OK(t, json.Unmarshal(data, failure.Error))
			data, _ = json.Marshal(failure)
		}
		if err := json.Unmarshal(data, &failure); err != nil || failure.Error == nil || failure.Error.Message == "" || strings.Contains(failure.Error.Message, "\n") {
			t.Errorf("%s %q: %d %v %s", path, body, status, err, data)
		}
		if status/100 != 4 && status != http.StatusGatewayTimeout {
			t.Errorf("%s %q: %d %s", path, body, status, data)
		}
	})
}

// TestRoom checks that calls have as many rows as Batch, that requests have the cache of Options, and
// that canvases wait for CacheMemory.
func TestRoom(t *testing.T) {
	t.Parallel()
	cached := catalog.Options{Cache: "window:1"}
	for _, c := range []struct {
		config serve.Config
		rows   int // rows per call, for 4 samples of 6 positions
	}{{serve.Config{Batch: 2}, 2}, {serve.Config{Batch: 4, Options: cached}, 4}, {serve.Config{Batch: 4, Options: cached, CacheMemory: 1000}, 1}} {
		r := begin(t, "", c.config)
		r.must(t, 200, "/v1/generate", `{"length":6,"lookahead":3}`, nil) // It has calls of more rows.
		// A sample that ends before the next one of its request begins has calls of its own, which
		// happens on a busy machine, but not every time.
		for attempt := 1; ; attempt++ {
			before, earlier := r.counted(t)
			answer := string(r.must(t, 200, "/v1/generate", `{"length":6,"n":4,"record":true}`, nil))
			if cached := strings.Contains(answer, `"cache":"window:1/64"`); cached != (c.config.Options.Cache != "") {
				t.Errorf("%d: %s", c.config.Batch, answer)
			}
			calls, rows := r.counted(t)
			calls, rows = calls-before, rows-earlier
			most := float64(c.rows)
			if rows == 24 && rows/calls <= most/2 && attempt < 50 {
				continue
			}
			if rows != 24 || rows/calls > most || rows/calls <= most/2 {
				t.Errorf("%v: %g rows in %g calls", c.config.Batch, rows, calls)
			}
			break
		}
	}
}

// counted returns the numbers of network calls and of their rows so far.
func (r *running) counted(t *testing.T) (calls, rows float64) {
	t.Helper()
	for line := range strings.Lines(r.get(t, "/metrics")) {
		_, _ = fmt.Sscanf(line, "mdmgen_network_calls_total %g", &calls)
		_, _ = fmt.Sscanf(line, "mdmgen_network_rows_total %g", &rows)
	}
	return calls, rows
}
