package serve_test

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

// TestStops checks that an answer ends before a stop text, streamed or not, with its tokens and its
// network calls.
func TestStops(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	var whole, cut struct {
		Choices []struct {
			Text     string
			Logprobs struct{ Tokens []string }
		}
		Usage struct{ Completion_Tokens int }
		NFE   int
	}
	line := `"prompt":"Once upon a time","max_tokens":20,"seed":4,"sampler":"ordered","logprobs":0`
	r.must(t, 200, "/v1/completions", `{`+line+`}`, &whole)
	text := whole.Choices[0].Text
	stop := text[len(text)/2 : len(text)/2+3]
	r.must(t, 200, "/v1/completions", `{`+line+`,"stop":["nothing here","`+stop+`"]}`, &cut)
	if want := text[:strings.Index(text, stop)]; cut.Choices[0].Text != want {
		t.Errorf("%q ends as %q, want %q", text, cut.Choices[0].Text, want)
	}
	tokens := cut.Choices[0].Logprobs.Tokens
	if last := tokens[:len(tokens)-1]; cut.Usage.Completion_Tokens != len(tokens) || !strings.HasPrefix(strings.Join(tokens, ""), cut.Choices[0].Text) || strings.HasPrefix(strings.Join(last, ""), cut.Choices[0].Text) {
		t.Errorf("%q has %d tokens, %q", cut.Choices[0].Text, cut.Usage.Completion_Tokens, tokens)
	}
	if whole.NFE != 20 || cut.NFE >= 20 {
		t.Errorf("%d calls, and %d up to the stop", whole.NFE, cut.NFE)
	}
	streamed := ""
	for _, c := range r.chunks(t, `{`+line+`,"stop":"`+stop+`","stream":true}`) {
		streamed += c.Choices[0].Text
	}
	if streamed != cut.Choices[0].Text {
		t.Errorf("streamed %q, want %q", streamed, cut.Choices[0].Text)
	}
}

// TestBlank: a prompt with a blank at its end has the answer of the prompt without, less the blank.
func TestBlank(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	var texts [3]struct{ Choices []struct{ Text string } }
	for i, prompt := range []string{`"Once upon a"`, `"Once upon a "`, `"Once upon a ","echo":true`} {
		r.must(t, 200, "/v1/completions", `{"prompt":`+prompt+`,"max_tokens":6,"seed":4}`, &texts[i])
	}
	whole, cut, echo := texts[0].Choices[0].Text, texts[1].Choices[0].Text, texts[2].Choices[0].Text
	if whole != " "+cut || echo != "Once upon a "+cut {
		t.Errorf("%q is %q after a blank, %q with the prompt", whole, cut, echo)
	}
	streamed := ""
	for _, c := range r.chunks(t, `{"prompt":"Once upon a ","max_tokens":6,"seed":4,"stream":true}`) {
		streamed += c.Choices[0].Text
	}
	if streamed != cut {
		t.Errorf("streamed %q, want %q", streamed, cut)
	}
}

// TestEqualPrompts: a prompt that is given twice has the answers of two samples of it.
func TestEqualPrompts(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	var twice, two struct{ Choices []struct{ Text string } }
	r.must(t, 200, "/v1/completions", `{"prompt":["Once upon","Once upon"],"max_tokens":12,"seed":4}`, &twice)
	r.must(t, 200, "/v1/completions", `{"prompt":"Once upon","n":2,"max_tokens":12,"seed":4}`, &two)
	if len(two.Choices) != 2 || two.Choices[0] == two.Choices[1] || !slices.Equal(twice.Choices, two.Choices) {
		t.Errorf("%q, want %q", twice.Choices, two.Choices)
	}
}

// TestEcho checks that a prompt's log-probabilities are those of its tokens from left to right:
// they equal those with which the sampler ordered draws the same tokens. The answer must say that
// they are no likelihood of the diffusion model.
func TestEcho(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	var drawn, given struct {
		Choices []struct {
			Text     string
			Logprobs struct {
				Meaning        string
				Tokens         []string
				Token_Logprobs []*float64
				Top_Logprobs   []map[string]float64
				Text_Offset    []int
			}
		}
	}
	var generated sampled
	r.must(t, 200, "/v1/completions", `{"prompt":[1497],"max_tokens":9,"seed":4,"sampler":"ordered","logprobs":2}`, &drawn)
	r.must(t, 200, "/v1/generate", `{"ids":[1497,null,null,null,null,null,null,null,null,null],"seed":4,"sampler":"ordered"}`, &generated)
	r.must(t, 200, "/v1/completions", `{"prompt":`+strings.ReplaceAll(reftest.Must(jsonOf(generated.Samples[0].IDs))(t), "\n", "")+`,"max_tokens":0,"echo":true,"logprobs":2}`, &given)
	one, all := drawn.Choices[0].Logprobs, given.Choices[0].Logprobs
	if len(all.Tokens) != 10 || len(one.Tokens) != 9 || given.Choices[0].Text != generated.Samples[0].Text {
		t.Fatalf("%+v %+v", drawn, given)
	}
	if !strings.Contains(all.Meaning, "not the likelihood") || strings.Contains(one.Meaning, "likelihood") {
		t.Error(all.Meaning, one.Meaning)
	}
	for i, p := range one.Token_Logprobs {
		if q := all.Token_Logprobs[i+1]; math.Abs(*p-*q) > 1e-5 {
			t.Errorf("token %d: drawn with %v, given %v", i, *p, *q)
		}
		if len(all.Top_Logprobs[i+1]) != 2 || len(one.Top_Logprobs[i]) != 2 {
			t.Errorf("token %d: %v %v", i, one.Top_Logprobs[i], all.Top_Logprobs[i+1])
		}
		for text, p := range one.Top_Logprobs[i] {
			if q := all.Top_Logprobs[i+1][text]; math.Abs(p-q) > 1e-5 {
				t.Errorf("token %d: %q %v %v", i, text, p, q)
			}
		}
		if from := one.Text_Offset[i]; !strings.HasPrefix(drawn.Choices[0].Text[from:], one.Tokens[i]) {
			t.Errorf("token %d: %q is not at %d of %q", i, one.Tokens[i], from, drawn.Choices[0].Text)
		}
	}
}

// TestLogprobsChangeNothing checks that a request has the same ids with and without alternatives.
func TestLogprobsChangeNothing(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	for _, sampler := range []string{`"sampler":"fhs"`, `"sampler":"confidence","steps":5`, `"sampler":"tweedie","steps":4,"top_p":0.9`, `"sampler":"fhs","lookahead":4`, `"sampler":"remdm","steps":5`, `"sampler":"fhs","guidance":1`} {
		line := `"prompt":"Once upon a time","max_tokens":16,"seed":4,` + sampler
		var without, with struct{ Choices []struct{ Text string } }
		r.must(t, 200, "/v1/completions", `{`+line+`}`, &without)
		r.must(t, 200, "/v1/completions", `{`+line+`,"logprobs":5}`, &with)
		if without.Choices[0].Text != with.Choices[0].Text {
			t.Errorf("%s: %q, with alternatives %q", sampler, without.Choices[0].Text, with.Choices[0].Text)
		}
	}
}

// TestConstraints checks that texts match the constraints under the names that clients use, and
// that unsupported ones are rejected.
func TestConstraints(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	for given, want := range map[string]string{
		`"guided_regex":"[0-9]{3}"`: `^[0-9]{3}$`, `"guided_choice":[" yes"," no"]`: `^ (yes|no)$`, `"guided_grammar":"root ::= \"a\""`: "grammars are not supported", `"grammar":"root ::= \"a\""`: "grammars are not supported", `"grammar":null`: ``,
		`"guided_json":{"enum":["ab","cd"]}`: `^"(ab|cd)"$`, `"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"enum":["ab","cd"]}}}`: `^"(ab|cd)"$`,
		`"response_format":{"type":"text"}`: ``, `"response_format":null,"guided_regex":null`: ``,
		`"user":"ann","best_of":1,"frequency_penalty":0,"presence_penalty":0.0`: ``, `"best_of":2`: "best_of",
		`"response_format":{"type":"json_object"}`: `type \\"json_object\\"`, `"response_format":{"type":"json_schema"}`: "json_schema.schema", `"response_format":7`: "response_format",
		`"guided_regex":"a","regex":"b"`: "guided_regex gives regex again", `"guided_regex":"("`: "missing closing", `"guided_regexp":"a"`: "guided_regexp",
	} {
		status, data := r.ask("/v1/completions", `{"prompt":"Once","max_tokens":6,"seed":3,`+given+`}`)
		var answer struct{ Choices []struct{ Text string } }
		reftest.OK(t, json.Unmarshal(data, &answer))
		text := string(data)
		if status == http.StatusOK {
			text = answer.Choices[0].Text
		} else if status != http.StatusBadRequest {
			t.Errorf("%s: status %d", given, status)
		}
		if !regexp.MustCompile(want).MatchString(text) || status == http.StatusOK != (want == "" || want[0] == '^') {
			t.Errorf("%s: %d %s, want %s", given, status, text, want)
		}
	}
}

// TestInsideAnswer checks that an answer with a beginning, an end or gaps is that of /v1/generate: of a
// beginning and an end the text between them, of a text with gaps all of it.
func TestInsideAnswer(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{})
	const asked, begun = `{"messages":[{"role":"user","content":"Hi"}`, `,{"role":"assistant","content":"I am"}],"continue_final_message":true`
	for chat, generate := range map[string]string{
		begun + `,"add_generation_prompt":false,"max_tokens":6`: begun + `,"length":"+6"`,
		`],"prefix":"I am","max_tokens":6`:                      begun + `,"length":"+6"`,
		`],"suffix":" end","max_tokens":6`:                      `],"suffix":" end","length":"+6"`,
		`],"infill":["I",2," or ",3],"logprobs":true`:           `],"infill":["I",2," or ",3]`,
	} {
		var got serve.Completion
		var want struct {
			Samples []struct {
				Text   string
				Filled []string
			}
		}
		r.must(t, 200, "/v1/chat/completions", asked+chat+`,"seed":2}`, &got)
		r.must(t, 200, "/v1/generate", asked+generate+`,"seed":2}`, &want)
		text := want.Samples[0].Text
		if len(want.Samples[0].Filled) == 1 {
			text = want.Samples[0].Filled[0]
		}
		if c := got.Choices[0]; text == "" || c.Message.Content != text || c.Logprobs != nil && len(c.Logprobs.Content) != 5 {
			t.Errorf("%s: %+v, %q, want %q", chat, c, c.Message.Content, text)
		}
	}
	for body, why := range map[string]string{
		`],"chat_template_kwargs":{"enable_thinking":true}}`: "no variable", `],"continue_final_message":true}`: "the assistant's", `],"add_generation_prompt":false}`: "add_generation_prompt",
	} {
		if got := r.must(t, 400, "/v1/chat/completions", asked+body, nil); !strings.Contains(string(got), why) {
			t.Errorf("%s: %s", body, got)
		}
	}
}
