package serve

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"mdmgen/internal/reftest"
)

func (r *running) openai() openai.Client {
	return openai.NewClient(option.WithBaseURL(r.url+"/v1"), option.WithAPIKey("none"), option.WithHTTPClient(r.client), option.WithMaxRetries(0))
}

// TestOpenAI uses OpenAI's client unchanged: completions, chats, streams, models and errors.
func TestOpenAI(t *testing.T) {
	t.Parallel()
	r := begin(t, map[string]string{"model": talk(t)})
	client, ctx := r.openai(), t.Context()
	models, err := client.Models.List(ctx)
	if err != nil || len(models.Data) != 1 {
		t.Fatal(models, err)
	}
	name := models.Data[0].ID
	text := openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(name), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Once upon a time")},
		MaxTokens: openai.Int(12), Seed: openai.Int(7), N: openai.Int(2), Temperature: openai.Float(0.9),
	}
	whole := reftest.Must(client.Completions.New(ctx, text))(t)
	if len(whole.Choices) != 2 || whole.Choices[0].Text == "" || whole.Usage.CompletionTokens != 24 || whole.Usage.PromptTokens != 5 || whole.SystemFingerprint == "" || whole.JSON.ExtraFields["nfe"].Raw() == "" {
		t.Errorf("%+v", whole)
	}
	again, err := client.Completions.New(ctx, text)
	if err != nil || again.Choices[1].Text != whole.Choices[1].Text || again.Choices[0].Text == again.Choices[1].Text {
		t.Errorf("the same request: %+v, %v", again, err)
	}
	text.StreamOptions.IncludeUsage = openai.Bool(true)
	for _, extra := range []option.RequestOption{option.WithJSONSet("diffusing", false), option.WithJSONSet("diffusing", true)} {
		stream := client.Completions.NewStreaming(ctx, text, extra)
		var parts [2]string
		var chunks int
		var usage int64
		for stream.Next() {
			chunk := stream.Current()
			chunks++
			usage = chunk.Usage.TotalTokens
			for _, c := range chunk.Choices {
				parts[c.Index] += c.Text
			}
		}
		if err := stream.Err(); err != nil || parts[0] != whole.Choices[0].Text || parts[1] != whole.Choices[1].Text || usage != whole.Usage.TotalTokens || chunks < 4 {
			t.Errorf("streamed %q in %d chunks, %d tokens, %v; want %v", parts, chunks, usage, err, whole.Choices)
		}
	}
	chat := openai.ChatCompletionNewParams{
		Model: name, Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage("Who are <|endoftext|> you?")},
		MaxCompletionTokens: openai.Int(20), Seed: openai.Int(3), Logprobs: openai.Bool(true), TopLogprobs: openai.Int(3),
	}
	answer := reftest.Must(client.Chat.Completions.New(ctx, chat))(t)
	if c := answer.Choices[0]; c.Message.Role != "assistant" || c.FinishReason == "" || len(c.Logprobs.Content) != int(answer.Usage.CompletionTokens) || strings.Contains(c.Message.Content, "<|endoftext|>") {
		t.Errorf("%+v", answer)
	}
	for _, l := range answer.Choices[0].Logprobs.Content {
		if len(l.TopLogprobs) != 3 || l.Logprob > 0 || l.TopLogprobs[0].Logprob < l.TopLogprobs[1].Logprob || l.TopLogprobs[0].Logprob < l.Logprob-1e-6 {
			t.Errorf("%+v", l)
		}
	}
	chat.Logprobs, chat.TopLogprobs = openai.Bool(false), openai.ChatCompletionNewParams{}.TopLogprobs
	for _, name := range []string{"max_completion_tokens", "max_tokens"} {
		if status, data := r.ask("/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}],"`+name+`":500}`); status != 400 || !strings.Contains(string(data), `"`+name+" is 500: the model takes") {
			t.Errorf("%d %s", status, data)
		}
	}
	stream := client.Chat.Completions.NewStreaming(ctx, chat)
	all := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Fatalf("not a chunk: %+v", stream.Current())
		}
	}
	if err := stream.Err(); err != nil || all.Choices[0].Message.Content != answer.Choices[0].Message.Content || string(all.Choices[0].FinishReason) != answer.Choices[0].FinishReason {
		t.Errorf("streamed %+v, %v", all.Choices, err)
	}
	_, err = client.Completions.New(ctx, text, option.WithJSONSet("nonsense", 1))
	var wrong *openai.Error
	if !errors.As(err, &wrong) || wrong.StatusCode != http.StatusBadRequest || !strings.Contains(wrong.Message, "nonsense") {
		t.Errorf("an unknown field: %v", err)
	}
}

// TestStops checks that an answer ends before a stop text, streamed or not.
func TestStops(t *testing.T) {
	t.Parallel()
	r := begin(t, nil)
	var whole, cut struct {
		Choices []struct{ Text, FinishReason string }
	}
	line := `"prompt":"Once upon a time","max_tokens":20,"seed":4,"sampler":"ordered"`
	r.must(t, 200, "/v1/completions", `{`+line+`}`, &whole)
	text := whole.Choices[0].Text
	stop := text[len(text)/2 : len(text)/2+3]
	r.must(t, 200, "/v1/completions", `{`+line+`,"stop":["nothing here","`+stop+`"]}`, &cut)
	if want := text[:strings.Index(text, stop)]; cut.Choices[0].Text != want {
		t.Errorf("%q ends as %q, want %q", text, cut.Choices[0].Text, want)
	}
	client := r.openai()
	stream := client.Completions.NewStreaming(t.Context(), openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(""), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Once upon a time")}, MaxTokens: openai.Int(20), Seed: openai.Int(4),
		Stop: openai.CompletionNewParamsStopUnion{OfString: openai.String(stop)},
	}, option.WithJSONSet("sampler", "ordered"))
	streamed := ""
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			streamed += c.Text
		}
	}
	if streamed != cut.Choices[0].Text || stream.Err() != nil {
		t.Errorf("streamed %q, %v", streamed, stream.Err())
	}
}

// TestEqualPrompts: a prompt that is given twice has the answers of two samples of it.
func TestEqualPrompts(t *testing.T) {
	t.Parallel()
	r := begin(t, nil)
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
	r := begin(t, nil)
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
	r := begin(t, nil)
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
	r := begin(t, nil)
	for given, want := range map[string]string{
		`"guided_regex":"[0-9]{3}"`: `^[0-9]{3}$`, `"guided_choice":[" yes"," no"]`: `^ (yes|no)$`, `"guided_grammar":"root ::= \"a\" [bc]+"`: `^a[bc]+$`,
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
