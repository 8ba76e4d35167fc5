package serve_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

// TestOllama checks that Ollama's routes have the texts of OpenAI's for the same seed, streamed by
// default, and that a prompt is a message to a model with a chat template.
func TestOllama(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{Name: "talk"})
	const options = `"options":{"seed":4,"num_predict":9,"temperature":0.8,"top_p":0.9,"top_k":50,"stop":["q"],"sampler":"ordered","num_ctx":4096}`
	const settings = `"seed":4,"max_tokens":9,"temperature":0.8,"top_p":0.9,"top_k":50,"stop":"q","sampler":"ordered"`
	const hi, you = `{"role":"user","content":"Hi"}`, `{"role":"system","content":"You are Tom"},`
	for body, same := range map[string]string{
		`/api/chat {"model":"talk:latest","tools":[],"messages":[` + hi + `],`:       `/v1/chat/completions {"messages":[` + hi + `],`,
		`/api/generate {"model":"talk","prompt":"Hi","system":"You are Tom",`:        `/v1/chat/completions {"messages":[` + you + hi + `],`,
		`/api/generate {"prompt":"Hi","keep_alive":"5m",`:                            `/v1/chat/completions {"messages":[` + hi + `],`,
		`/api/generate {"prompt":"Once upon a","raw":true,"format":{"enum":["ab"]},`: `/v1/completions {"prompt":"Once upon a","guided_json":{"enum":["ab"]},`,
		`/api/generate {"prompt":"Once upon a","suffix":" king.","format":"",`:       `/v1/completions {"prompt":"Once upon a","suffix":" king.",`,
	} {
		path, body, _ := strings.Cut(body, " ")
		other, asked, _ := strings.Cut(same, " ")
		var want serve.Completion
		r.must(t, 200, other, asked+settings+"}", &want)
		for _, stream := range []string{"", `,"stream":false`} {
			resp := reftest.Must(r.client.Post(r.url+path, "application/json", strings.NewReader(body+options+stream+"}")))(t)
			text, last := "", serve.OllamaAnswer{}
			lines := 0
			for d := json.NewDecoder(resp.Body); d.More(); lines++ {
				if last.Done {
					t.Errorf("%s: a line after the last", body)
				}
				last = serve.OllamaAnswer{}
				reftest.OK(t, d.Decode(&last), body)
				switch {
				case path == "/api/chat" && last.Message.Role == "assistant":
					text += last.Message.Content
				case path != "/api/chat":
					text += *last.Response
				}
			}
			resp.Body.Close()
			said := want.Choices[0].Text
			if want.Choices[0].Message != nil {
				said = &want.Choices[0].Message.Content
			}
			if text != *said || text == "" || !last.Done || last.DoneReason != *want.Choices[0].FinishReason || last.EvalCount != want.Usage.CompletionTokens || last.TotalDuration < last.EvalDuration || last.NFE != want.NFE {
				t.Errorf("%s%s: %q, %+v, want %q, %+v", body, stream, text, last, *said, want)
			}
			kind := resp.Header.Get("Content-Type")
			if streamed := stream == ""; streamed != (kind == "application/x-ndjson") || streamed != (lines > 2) && !strings.Contains(body, "enum") {
				t.Errorf("%s%s: %d lines of %s", body, stream, lines, kind)
			}
		}
	}
}

// TestOllamaRefused checks that these routes name what they do not have, in Ollama's form, and what
// requests about the model get.
func TestOllamaRefused(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Name: "fairytale"})
	for body, want := range map[string]string{
		`/api/generate {"prompt":"a","template":"x"}`:                "template is not supported",
		`/api/generate {"prompt":"a","system":"x"}`:                  "system excludes raw",
		`/api/generate {"prompt":"a","options":{"mirostat":2}}`:      "mirostat is not supported",
		`/api/generate {"prompt":"a","options":{"num_predct":2}}`:    "num_predct",
		`/api/generate {"prompt":"a","seed":1,"options":{"seed":2}}`: "seed is given twice",
		`/api/generate {"prompt":"a","options":{"num_predict":500}}`: "num_predict is 500: the model takes",
		`/api/generate {"prompt":"a","options":{"n":2}}`:             "n is 1 here",
		`/api/generate {"prompt":"a","format":"json"}`:               "must be a JSON schema",
		`/api/generate {"messages":[{"role":"user","content":"a"}]}`: "/api/chat has messages",
		`/api/chat {"prompt":"a"}`:                                   "/api/chat has messages",
		`/api/chat {"messages":[{"role":"user","content":"a"}]}`:     "chat template",
		`/api/chat {"model":"gpt-4","messages":[]}`:                  "serves only fairytale",
		`/api/show {"model":"gpt-4"}`:                                "serves only fairytale",
		`/api/show {"name":"gpt-4"}`:                                 "serves only fairytale",
		`/api/embed {}`:                                              "there is no",
	} {
		path, body, _ := strings.Cut(body, " ")
		status, data := r.ask(path, body)
		var failure serve.OllamaFailure
		if err := json.Unmarshal(data, &failure); err != nil || status < 400 || !strings.Contains(failure.Error, want) {
			t.Errorf("%s %s: %d %s %v, want %s", path, body, status, data, err, want)
		}
	}
	for path, want := range map[string]string{"/api/tags": `"models":[{`, "/api/version": `"version":"0.`} {
		if got := r.get(t, path); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, name := range []string{"model", "name"} {
		if got := string(r.must(t, http.StatusOK, "/api/show", `{"`+name+`":"fairytale:latest"}`, nil)); !strings.Contains(got, `"mdlm.context_length":128`) {
			t.Error(got)
		}
	}
	for path, body := range map[string]string{"/api/chat": `{"model":"fairytale"}`, "/api/generate": `{"model":"fairytale"}`} {
		var loaded serve.OllamaAnswer
		if r.must(t, http.StatusOK, path, body, &loaded); !loaded.Done || loaded.DoneReason != "load" {
			t.Errorf("%s: %+v", path, loaded)
		}
	}
}
