package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
	"mdmgen/serve"
)

// chunk is an event of a stream of completions.
type chunk struct {
	Choices []struct {
		Text         string
		FinishReason *string `json:"finish_reason"`
	}
	Frames []struct {
		Positions, Tokens []int
	}
}

// chunks returns the events of a request's stream.
func (r *running) chunks(t *testing.T, body string) (all []chunk) {
	t.Helper()
	resp := reftest.Must(r.client.Post(r.url+"/v1/completions", "application/json", strings.NewReader(body)))(t)
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%s: %s %s", body, resp.Status, kind)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil || len(c.Choices) != 1 {
			t.Fatalf("%v: %s", err, data)
		}
		all = append(all, c)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// TestStreams checks for each sampler that streamed text is never taken back: it is a prefix of the
// final text, which is the text without a stream. A sampler that edits streams only finished
// blocks.
func TestStreams(t *testing.T) {
	t.Parallel()
	r := begin(t, reftest.Checkpoint(t, "mdlm"), serve.Config{Words: letters(t)})
	for _, name := range catalog.Names() {
		d, _ := catalog.Describe(name)
		steps := ""
		for _, flag := range d.Flags {
			if flag == "steps" {
				steps = `"steps":6,`
			}
		}
		for _, more := range []string{`"block_length":4`, `"temperature":0.9`, `"correct":"gibbs:2x2"`, `"correct":"gibbs:2x2","block_length":4`} {
			line := fmt.Sprintf(`"prompt":"once upon a time","max_tokens":12,"seed":9,"sampler":%q,%s%s`, name, steps, more)
			var whole struct{ Choices []struct{ Text string } }
			if status, data := r.ask("/v1/completions", `{`+line+`}`); status == http.StatusBadRequest {
				continue // The sampler does not have all of these.
			} else if err := json.Unmarshal(data, &whole); err != nil || status != http.StatusOK {
				t.Fatalf("%s: %d %s", line, status, data)
			}
			text, before := "", 0
			all := r.chunks(t, `{`+line+`,"stream":true}`)
			for i, c := range all {
				text += c.Choices[0].Text
				if i < len(all)-1 {
					before = len(text)
				}
			}
			if text != whole.Choices[0].Text || all[len(all)-1].Choices[0].FinishReason == nil {
				t.Errorf("%s: streamed %q, want %q", line, text, whole.Choices[0].Text)
			}
			if before > 0 && strings.Contains(more, "correct") {
				t.Errorf("%s: %q came before the corrections", line, text[:before])
			}
		}
	}
}

// TestEmptyStream checks that a stream without tokens has the prompt if that is asked for.
func TestEmptyStream(t *testing.T) {
	t.Parallel()
	all := begin(t, "", serve.Config{}).chunks(t, `{"prompt":"Once upon","max_tokens":0,"echo":true,"stream":true}`)
	if len(all) != 1 || all[0].Choices[0].Text != "Once upon" || all[0].Choices[0].FinishReason == nil {
		t.Errorf("%+v", all)
	}
}

// TestFrames checks that the frames of a diffusing stream fill the canvas, in addition to the text.
func TestFrames(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	canvas := make(map[int]int)
	text, frames := "", 0
	for _, c := range r.chunks(t, `{"prompt":"Once upon a time","max_tokens":12,"seed":9,"stream":true,"diffusing":true}`) {
		text += c.Choices[0].Text
		for _, f := range c.Frames {
			frames++
			for i, l := range f.Positions {
				canvas[l] = f.Tokens[i]
			}
		}
	}
	var whole sampled
	r.must(t, 200, "/v1/generate", `{"prefix":"Once upon a time","length":17,"seed":9}`, &whole)
	if frames != 13 || whole.Samples[0].Text != "Once upon a time"+text {
		t.Errorf("%d frames, %q, want %q", frames, text, whole.Samples[0].Text)
	}
	for l, id := range whole.Samples[0].IDs {
		if canvas[l] != id {
			t.Errorf("position %d: %d, want %d", l, canvas[l], id)
		}
	}
}

// TestInfill checks that the text between two texts is what /v1/generate samples there.
func TestInfill(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	var one struct{ Content string }
	r.must(t, 200, "/infill", `{"input_prefix":"Once upon a","input_suffix":" lived a king.","n_predict":6,"seed":2}`, &one)
	var same struct{ Samples []struct{ Filled []string } }
	r.must(t, 200, "/v1/generate", `{"infill":"Once upon a{{6}} lived a king.","seed":2}`, &same)
	var suffix struct{ Choices []struct{ Text string } }
	r.must(t, 200, "/v1/completions", `{"prompt":"Once upon a","suffix":" lived a king.","max_tokens":6,"seed":2}`, &suffix)
	if want := same.Samples[0].Filled[0]; one.Content != want || suffix.Choices[0].Text != want {
		t.Errorf("%+v, %+v, want %q", one, suffix, want)
	}
	var ids struct{ Tokens []int }
	r.must(t, 200, "/tokenize", `{"content":"Once upon a"}`, &ids)
	r.must(t, 200, "/v1/completions", `{"prompt":`+strings.Join(strings.Fields(fmt.Sprint(ids.Tokens)), ",")+`,"suffix":" lived a king.","max_tokens":6,"seed":2}`, &suffix)
	if want := same.Samples[0].Filled[0]; suffix.Choices[0].Text != want {
		t.Errorf("behind ids: %+v, want %q", suffix, want)
	}
	r.must(t, 200, "/tokenize", `{"content":"Once <|endoftext|> upon"}`, &ids)
	back := string(r.must(t, 200, "/detokenize", string(r.must(t, 200, "/tokenize", `{"content":"Once <|endoftext|> upon"}`, nil)), nil))
	if len(ids.Tokens) < 5 || !strings.Contains(back, `Once \u003c|endoftext|\u003e upon`) {
		t.Errorf("%v %s", ids, back)
	}
}
