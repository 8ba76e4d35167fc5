package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve"
	"mdmgen/tokenize"
)

// talk returns a folder with the built-in model and a chat template.
func talk(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "talk")
	reftest.OK(t, os.CopyFS(dir, os.DirFS(reftest.Builtin(t))))
	template := "{% for m in messages %}\n{{- '<|endoftext|>' + m.role + ': ' + m.content + '\\n' }}\n{%- endfor %}\n{{- '<|endoftext|>assistant:' }}"
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "chat_template.jinja"), []byte(template), 0o644))
	return dir
}

// letters returns a tokenizer with a token for each letter.
func letters(t testing.TB) *tokenize.Tokenizer {
	t.Helper()
	return reftest.Must(tokenize.Open(t.Context(), reftest.Data(t, "tokenizers", "letters.json")))(t)
}

// output is a log that can be read while it is written.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// running is a server started by a test.
type running struct {
	url    string
	client *http.Client
	log    *output
	config serve.Config
	// stop acts as a signal; ended receives the error of Serve.
	stop  context.CancelFunc
	ended chan error
}

// idle holds built-in models whose servers have stopped: opening one takes longer than most requests.
var idle = make(chan model.Model, 64)

// begin starts a server of c's model or that of ref, "" for the built-in one, with its tokenizer, and stops it after
// the test.
func begin(t testing.TB, ref string, c serve.Config) *running {
	t.Helper()
	m := c.Model
	switch {
	case m != nil:
	case ref == "":
		ref = reftest.Builtin(t)
		select {
		case m = <-idle:
		default:
			var err error
			m, err = model.Open(context.Background(), ref, model.Options{Runtime: orttest.OneThread})
			orttest.Need(t, err)
			reftest.OK(t, err)
		}
		t.Cleanup(func() { idle <- m })
	default:
		var err error
		m, err = model.Open(t.Context(), ref, model.Options{Runtime: orttest.OneThread})
		orttest.Opened(t, m, err)
	}
	if c.Model = m; c.Words == nil {
		c.Words, _ = tokenize.Open(t.Context(), ref) // A world has none.
	}
	r := &running{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}}, log: new(output), ended: make(chan error, 1)}
	c.Hosts, c.Log = []string{"localhost", "127.0.0.1"}, slog.New(slog.NewTextHandler(r.log, nil))
	server := reftest.Must(serve.New(t.Context(), c))(t)
	listener := reftest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	var ctx context.Context
	ctx, r.stop = context.WithCancel(context.Background())
	r.url, r.config = "http://"+listener.Addr().String(), c
	go func() { r.ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		r.stop()
		if r.ended != nil {
			reftest.OK(t, <-r.ended)
		}
		server.Close()
	})
	return r
}

// ask posts JSON and returns the status and the body.
func (r *running) ask(path string, body string) (int, []byte) {
	resp, err := r.client.Post(r.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, data
}

// get returns the body of a path.
func (r *running) get(t testing.TB, path string) string {
	t.Helper()
	resp := reftest.Must(r.client.Get(r.url + path))(t)
	defer resp.Body.Close()
	return string(reftest.Must(io.ReadAll(resp.Body))(t))
}

// must is ask with a required status.
func (r *running) must(t testing.TB, status int, path, body string, into any) []byte {
	t.Helper()
	got, data := r.ask(path, body)
	if got != status {
		t.Fatalf("%s %s: status %d, want %d: %s", path, body, got, status, data)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v: %s", path, err, data)
		}
	}
	return data
}

// sampled is the answer of /v1/generate.
type sampled struct {
	Samples []struct {
		IDs  []int
		Text string
	}
	Seed uint64
	NFE  int
}

// TestIDs checks that concurrent requests of many clients, with mixed samplers, lengths and
// settings, have the same ids as `mdmgen generate` alone.
func TestIDs(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Batch: 5, Positions: 400, Queue: 1000})
	build := reftest.Must(requests.New(t.Context(), requests.Config{Network: r.config.Model, Words: requests.WordsOf(r.config.Words)}))(t)
	settings := []string{
		`"sampler":"fhs"`, `"sampler":"tweedie","steps":5`, `"sampler":"confidence","steps":6`, `"sampler":"remdm","steps":4`, `"sampler":"fhs","lookahead":3`,
		`"sampler":"ordered","temperature":0.7,"top_p":0.9`, `"sampler":"fhs","cache":"window:2"`, `"sampler":"spread","steps":4`, `"sampler":"euler","steps":6,"block_length":4`,
		`"sampler":"fhs","guidance":0.5`, `"sampler":"ordered","stop":3,"block_length":4`, `"sampler":"p2","steps":5`,
	}
	const requests = 24 // each of the settings with two lengths
	ids := func(line string) []int {
		j := reftest.Must(build.Job(t.Context(), reftest.Must(build.Parse([]byte(line)))(t, line)))(t, line)
		got := reftest.Must(samplers.Fill(t.Context(), r.config.Model, j.Tokens, j.Sampler, *j.Seed))(t, line)
		return got
	}
	var clients sync.WaitGroup
	answers, bodies := make([]sampled, requests), make([]string, requests)
	for i := range requests {
		bodies[i] = fmt.Sprintf(`{"prefix":"Once upon","length":%d,"seed":%d,%s}`, 8+i%5, i%7, settings[i%len(settings)])
		clients.Go(func() {
			status, data := r.ask("/v1/generate", bodies[i])
			if err := json.Unmarshal(data, &answers[i]); status != http.StatusOK || err != nil {
				t.Errorf("%s: status %d, %v: %s", bodies[i], status, err, data)
			}
		})
	}
	clients.Wait()
	if t.Failed() {
		return
	}
	for i, a := range answers {
		if want := ids(bodies[i]); fmt.Sprint(a.Samples[0].IDs) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", bodies[i], a.Samples[0].IDs, want)
		}
	}
}

// TestSamples checks that the samples of a request are those of its seed, streamed or not, with or
// without frames, and that its record has what they depend on.
func TestSamples(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	line := `"infill":"Once {{3}} time {{*}}","length":14,"n":3,"seed":5`
	var whole sampled
	data := r.must(t, 200, "/v1/generate", `{`+line+`,"record":true}`, &whole)
	if len(whole.Samples) != 3 || whole.Seed != 5 || whole.NFE == 0 || !bytes.Contains(data, []byte(`"record":{"provenance"`)) {
		t.Fatalf("%s", data)
	}
	for _, more := range []string{`,"stream":true`, `,"stream":true,"diffusing":true`} {
		text := string(r.must(t, 200, "/v1/generate", `{`+line+more+`}`, nil))
		for _, s := range whole.Samples {
			if ids, _ := json.Marshal(s.IDs); !strings.Contains(text, `"ids":`+string(ids)) {
				t.Errorf("%s: no sample %s in %s", more, ids, text)
			}
		}
		if frames := strings.Contains(text, `{"frame":`); frames != strings.Contains(more, "diffusing") || !strings.HasSuffix(text, "data: [DONE]\n\n") {
			t.Errorf("%s: frames %t: %s", more, frames, text)
		}
	}
	for _, s := range whole.Samples[1:] {
		if fmt.Sprint(s.IDs) == fmt.Sprint(whole.Samples[0].IDs) {
			t.Error("two samples are one")
		}
	}
}

// TestCalls checks the number of calls that a line asks for, by spread or groups of another
// sampler.
func TestCalls(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	for line, want := range map[string]string{
		`"calls":4`: `"sampler":"spread","steps":4`, `"calls":3,"sampler":"parallel-fhs"`: `"sampler":"parallel-fhs","steps":3`,
	} {
		var one, other sampled
		r.must(t, 200, "/v1/generate", `{"length":16,"seed":3,`+line+`}`, &one)
		r.must(t, 200, "/v1/generate", `{"length":16,"seed":3,`+want+`}`, &other)
		if fmt.Sprint(one) != fmt.Sprint(other) {
			t.Errorf("%s: %v, want those of %s: %v", line, one, want, other)
		}
	}
	for line, want := range map[string]string{
		`"calls":4,"steps":4`: "calls excludes steps", `"calls":4,"sampler":"fhs"`: "fhs has no number of network calls to choose", `"calls":0`: "calls is 0",
	} {
		if status, data := r.ask("/v1/generate", `{"length":16,`+line+`}`); status != 400 || !strings.Contains(string(data), want) {
			t.Errorf("%s: %d %s, want %s", line, status, data, want)
		}
	}
}

// TestRefused checks that a faulty request gives a status and a line that names the fault.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/generate", `{"prefx":"a","length":9}`, 400, "prefx"},
		{"/v1/completions", `{"prompt":"a","steps":3,"temprature":1}`, 400, "temprature"},
		{"/v1/completions", `{"prompt":"a","prefix":"b"}`, 400, "prefix"},
		{"/v1/completions", `{"prompt":"a","model":"gpt-4"}`, 404, "serves only"},
		{"/v1/completions", `{"prompt":"a","max_tokens":0}`, 400, "max_tokens"},
		{"/v1/completions", `{"prompt":"a","max_tokens":100000}`, 400, "at most 128 positions"},
		{"/v1/completions", `{"prompt":"a","max_tokens":500}`, 400, "max_tokens is 500: the model takes canvases of at most 128 positions, and 1 are given: it must be at most 127"},
		{"/v1/completions", `{"prompt":[5,6],"max_tokens":127}`, 400, "it must be at most 126"},
		{"/v1/completions", `{"max_tokens":129}`, 400, "and 0 are given: it must be at most 128"},
		{"/v1/completions", `{"prompt":"` + strings.Repeat("king ", 200) + `","echo":true,"max_tokens":0}`, 400, "at most 128 positions\""},
		{"/v1/completions", `{"prompt":"` + strings.Repeat("king ", 200) + `"}`, 400, "are given: give less"},
		{"/infill", `{"input_prefix":"a","input_suffix":"b","n_predict":127}`, 400, "n_predict is 127: the model takes"},
		{"/v1/completions", `{"prompt":"a","n":1000}`, 400, "n is 1000: must be in 1..128"},
		{"/v1/completions", `{"prompt":["a","b"],"n":100}`, 400, "n is 100: must be in 1..64"},
		{"/v1/generate", `{"length":3,"n":0}`, 400, "n is 0: must be in 1..128"},
		{"/v1/completions", `{"prompt":["a",3]}`, 400, "prompt must be"},
		{"/v1/completions", `{"prompt":[2048]}`, 400, "the mask"},
		{"/v1/completions", `{"prompt":[-1]}`, 400, "ids are 0.."},
		{"/v1/completions", `{"prompt":"a","stop":["",""]}`, 400, "stop"},
		{"/v1/completions", `{"prompt":"a","logprobs":99}`, 400, "logprobs"},
		{"/v1/completions", `{"prompt":"a","frequency_penalty":1}`, 400, "frequency"},
		{"/v1/completions", `{"prompt":"a","sampler":"nosuch"}`, 400, "nosuch"},
		{"/v1/completions", `{"prompt":"a","sampler":"fhs","steps":3}`, 400, "steps"},
		{"/v1/generate", `{"length":6,"cache":"auto"}`, 400, "cache auto: caches are not measured here"},
		{"/v1/completions", `{"prompt":"a","prompt":"b"}`, 400, "twice"},
		{"/v1/completions", `{"prompt":"a"`, 400, "ends too early"},
		{"/v1/completions", `[1,2]`, 400, "instead of an object"},
		{"/v1/completions", "{\"prompt\":\"\xff\"}", 400, "UTF-8"},
		{"/v1/completions", strings.Repeat("[", 100000), 400, ""},
		{"/v1/completions", `{"prompt":"` + strings.Repeat("a", 5<<20) + `"}`, 413, "longer than"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}]}`, 400, "give the text as the prompt of /v1/completions"},
		{"/v1/chat/completions", `{"messages":[]}`, 400, "at least one"},
		{"/v1/chat/completions", `{"max_tokens":3}`, 400, "messages are missing"},
		{"/v1/completions", `{"prompt":"a","length":5}`, 400, "did you mean max_tokens?"},
		{"/v1/completions", `{"prompt":"a","max_token":5}`, 400, "did you mean max_tokens?"},
		{"/v1/completions", `{"prompt":"a","foo":5}`, 400, "keys are prompt, suffix, max_tokens, "},
		{"/v1/completions", `{"prompt":"a","stream_options":{"include_usages":true}}`, 400, `stream_options: unknown key \"include_usages\"; did you mean include_usage?`},
		{"/v1/completions", `{"prompt":"a","respons_format":{}}`, 400, "did you mean response_format?"},
		{"/v1/completions", `{"prompt":"a","response_format":{"type":"text","schemas":1}}`, 400, `unknown key \"schemas\"`},
		{"/v1/completions", `{"prompt":"a","min_p":0.5}`, 400, "min_p is not supported: leave it out, or at 0"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"a","nmae":"b"}]}`, 400, `messages: unknown key \"nmae\"; keys are role, content`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache":1}]}]}`, 400, `messages: content: unknown key \"cache\"`},
		{"/v1/chat/completions", `{"mesages":[]}`, 400, "did you mean messages?"},
		{"/v1/chat/completions", `{"messages":[` + strings.Repeat("{},", 2000) + `{}]}`, 400, "2001 objects are given"},
		{"/v1/generate", `{"lenght":5}`, 400, "did you mean length?"},
		{"/v1/generate", `{"strem":true}`, 400, "did you mean stream?"},
		{"/v1/read", `{"infil":"a"}`, 400, "did you mean infill?"},
		{"/v1/score", `{"text":"a","draw":1}`, 400, "did you mean draws?"},
		{"/infill", `{"n_predic":1}`, 400, "did you mean n_predict?"},
		{"/tokenize", `{"contents":"a"}`, 400, "did you mean content?"},
		{"/detokenize", `{"token":[]}`, 400, "did you mean tokens?"},
		{"/detokenize", `{"tokens":[5,null]}`, 400, "null is not an id"},
		{"/v1/read", `{"infill":"a{{1}}","candidate_ids":[[null]]}`, 400, "null is not an id"},
		{"/infill", `{"n":2}`, 400, "n is 1 here"},
		{"/v1/chat/completions", `{"messages":[{"role":"user"}]}`, 400, "message 1 has no content"},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "parts of type text"},
		{"/v1/completions", `{"prompt":"a","max_tokens":"x"}`, 400, `"param":"max_tokens"`},
		{"/v1/completions", `{"prompt":"a","stop":7}`, 400, "stop must be a text"},
		{"/tokenize", `{"content":"a","more":1}`, 400, "more"},
		{"/detokenize", `{"tokens":[99999]}`, 400, "99999"},
		{"/nothing", `{}`, 404, "there is no"},
	} {
		status, data := r.ask(c.path, c.body)
		if status != c.status || !strings.Contains(string(data), c.want) {
			t.Errorf("%s %.60s: %d %.300s, want %d %s", c.path, c.body, status, data, c.status, c.want)
		}
		var failure serve.Failure
		if c.status != 404 && (json.Unmarshal(data, &failure) != nil || failure.Error == nil || failure.Error.Message == "" || strings.Contains(failure.Error.Message, "\n")) {
			t.Errorf("%s %.60s: %s", c.path, c.body, data)
		}
	}
	for _, c := range []struct {
		path, kind, site string
		want             int
	}{
		{"/v1/generate", "text/plain", "", 415}, {"/v1/generate", "application/x-www-form-urlencoded", "", 415}, {"/api/show", "text/plain", "", 415},
		{"/api/show", "application/x-www-form-urlencoded", "same-origin", 415}, {"/api/show", "application/x-www-form-urlencoded", "", 200}, // curl's
	} {
		req, _ := http.NewRequest("POST", r.url+c.path, strings.NewReader(`{}`))
		req.Header.Set("Content-Type", c.kind)
		req.Header.Set("Sec-Fetch-Site", c.site)
		resp := reftest.Must(r.client.Do(req))(t)
		if resp.Body.Close(); resp.StatusCode != c.want {
			t.Errorf("%s as %s from %q: %s, want %d", c.path, c.kind, c.site, resp.Status, c.want)
		}
	}
	if log := r.log.String(); strings.Contains(log, "nosuch") || !strings.Contains(log, "status=413") {
		t.Errorf("the log: %s", log)
	}
}

// TestNumbers checks that numbers beyond the limits of every route's own fields are refused in one line
// that names the field.
func TestNumbers(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{})
	for path, fields := range map[string]string{
		`/v1/completions {"prompt":"a"`: "max_tokens logprobs n calls steps length", `/v1/chat/completions {"messages":[{"role":"user","content":"a"}]`: "max_tokens max_completion_tokens top_logprobs n",
		`/v1/generate {"prefix":"a"`: "length n calls steps top_k block_length temperature", `/v1/read {"infill":"a{{1}}"`: "top gap length", `/v1/score {"text":"a"`: "draws seed", `/infill {"input_prefix":"a"`: "n_predict n steps",
	} {
		path, body, _ := strings.Cut(path, " ")
		for _, field := range strings.Fields(fields) {
			for _, number := range strings.Fields(`2147483648 9007199254740992 1e308 -2 1.5 "NaN" 1e999`) {
				if field == "temperature" && !strings.Contains("-2 NaN 1e999", number) || field == "seed" && !strings.ContainsAny(number, "-N.e") {
					continue
				}
				status, data := r.ask(path, body+`,"`+field+`":`+number+"}")
				if text := string(data); status != http.StatusBadRequest || !strings.Contains(text, field) && field != "calls" || strings.Count(text, `\n`) > 0 {
					t.Errorf("%s %s %s: %d %s", path, field, number, status, text)
				}
			}
		}
	}
}

func jsonOf(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}
