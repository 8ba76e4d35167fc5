package serve_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

// TestConnections checks that idle connections beyond the limit are closed, the oldest first, so that
// new clients are answered.
func TestConnections(t *testing.T) {
	t.Parallel()
	r := begin(t, reftest.Law(t, "xor3-mixed"), serve.Config{Connections: 8})
	var idle []net.Conn
	for range 20 {
		conn := reftest.Must(net.Dial("tcp", r.url[len("http://"):]))(t)
		defer conn.Close()
		idle = append(idle, conn)
		time.Sleep(2 * time.Millisecond) // so that they have an order
	}
	r.must(t, http.StatusOK, "/v1/generate", `{"length":3}`, nil)
	for i, closed := range map[int]bool{0: true, 19: false} {
		_ = idle[i].SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, err := idle[i].Read(make([]byte, 1))
		if timeout, _ := err.(net.Error); closed == (timeout != nil && timeout.Timeout()) {
			t.Errorf("connection %d: %v, want closed %t", i, err, closed)
		}
	}
}

// TestNeutral checks that fields of other servers' clients pass at their neutral values only.
func TestNeutral(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	r.must(t, http.StatusOK, "/v1/completions", `{"prompt":"a","max_tokens":2,"logit_bias":{},"top_k":-1,"min_p":0,"repetition_penalty":1.0,"seed":-1,"metadata":{"a":"b"},"store":false,"tools":[],"tool_choice":"none",
		"parallel_tool_calls":true,"service_tier":"auto","ignore_eos":false,"skip_special_tokens":true,"cache_prompt":true,"min_tokens":0,"stop_token_ids":[],"add_special_tokens":true,"use_beam_search":false,
		"prompt_cache_key":"a","safety_identifier":"b","verbosity":"low","presence_penalty":0,"best_of":1,"user":"c","functions":[],"function_call":"none","modalities":["text"]}`, nil)
	for field, want := range map[string]string{`"tools":[{}]`: "tools", `"min_tokens":3`: "min_tokens", `"ignore_eos":true`: "ignore_eos", `"logit_bias":{"5":1}`: "logit_bias", `"steps":100000,"sampler":"tweedie"`: "steps is 100000"} {
		if got := r.must(t, http.StatusBadRequest, "/v1/completions", `{"prompt":"a",`+field+`}`, nil); !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	for path, status := range map[string]int{"/v1/models/other": 404, "/v1/nothing": 404, "/v1/completions": 405} {
		resp := reftest.Must(r.client.Get(r.url + path))(t)
		if resp.Body.Close(); resp.StatusCode != status || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s, %s", path, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
}
