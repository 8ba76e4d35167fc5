package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/analysis/estimate"
	"mdmgen/analysis/likelihood"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/serve"
)

// served runs mdmgen serve until the test ends, and returns what asks it: a path and a body, "" for a GET.
func served(t *testing.T, args ...string) func(path, body string) (status int, answer string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var out, errs bytes.Buffer
	running.Go(func() {
		Run(ctx, append([]string{"mdmgen", "serve", "--listen", "unix:" + socket}, args...), strings.NewReader(""), &out, &errs)
	})
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		running.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if r, err := client.Get("http://mdmgen/health"); err == nil {
			r.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not answer: %s", errs.String())
		}
	}
	return func(path, body string) (int, string) {
		t.Helper()
		var r *http.Response
		var err error
		if body == "" {
			r, err = client.Get("http://mdmgen" + path)
		} else {
			r, err = client.Post("http://mdmgen"+path, "application/json", strings.NewReader(body))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode, string(reftest.Must(io.ReadAll(r.Body))(t))
	}
}

// unmarshal reads an answer that must have status 200.
func unmarshal[T any](t *testing.T, status int, answer string) (v T) {
	t.Helper()
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer)
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return v
}

// rounded has five digits of each number behind its point: a server has the rows of worlds in float32.
func rounded(text string) string {
	return regexp.MustCompile(`\d+\.\d+`).ReplaceAllStringFunc(text, func(number string) string {
		x, _ := strconv.ParseFloat(number, 64)
		return strconv.FormatFloat(x, 'f', 5, 64)
	})
}

// TestServeRead: the server reads what the command line does, and refuses what it refuses, naming it.
func TestServeRead(t *testing.T) {
	t.Parallel()
	name := worldFile(t, "markov3-exact")
	ask := served(t, "--model", name)
	for _, body := range []string{
		`{"ids":[null,1,null],"candidate_ids":[[0],[1]],"gap":2}`,
		`{"ids":[null,null,null],"candidate_ids":[[0,1,2],[1,1,0]],"top":0}`,
		`{"ids":[null,null,0],"candidate_ids":[[0,1],[1,1]],"law":"left-to-right"}`,
	} {
		_, answer, _ := strings.Cut(mustRun(t, body, "read", "--model", name, "--json"), `"readings":[{`)
		want := rounded(strings.TrimSuffix(answer, "}]}\n"))
		if status, got := ask("/v1/read", body); status != http.StatusOK || !strings.Contains(rounded(got), want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
	for body, want := range map[string]string{
		`{"ids":[1,1,1]}`: "nothing is masked", `{"ids":[null,1,1],"candidates":["a"]}`: "no tokenizer", `{"ids":[null,1,1],"candidate":[]}`: `unknown field [\"candidate\"]`,
		`{"ids":[null,1,1],"top":-1}`: "top is -1", `{"ids":[null,1,1],"candidate_ids":[[3]]}`: "id 3 is not a token", `{"ids":[null,1,1],"candidates":[[3]]}`: "candidates", `{"ids":[null,1,1],"candidates":7}`: "candidates",
		`{"ids":[null,1,1],"model":"other"}`: "no other", `{"infill":"a{{1}}"}`: "tokenizer", `{"ids":[null,1,1],"law":"x"}`: "must be first-hitting",
	} {
		if status, got := ask("/v1/read", body); status/100 != 4 || !strings.Contains(got, want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
}

// TestServeScore: scores are those of package likelihood, exact or estimated, whatever else the engine does.
func TestServeScore(t *testing.T) {
	t.Parallel()
	name := worldFile(t, "markov3-exact")
	ask := served(t, "--model", name)
	w := reftest.Must(world.Open(name))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	fhs := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, w.Spec()))(t)
	const tolerance = 1e-6 // rows in float32
	near := func(a, b float64) bool { return math.Abs(a-b) <= tolerance }
	for given := range 2 {
		target := likelihood.Target{IDs: []int{0, 1, 1}, Free: []int{0, 1, 2}[given:]}
		text, before := "[0,1,1]", "[]"
		if given == 1 {
			text, before = "[1,1]", "[0]"
		}
		v := reftest.Must(e.Values(t.Context(), []likelihood.Target{target}, fhs))(t)[0]
		status, answer := ask("/v1/score", fmt.Sprintf(`{"text":%s,"context":%s}`, text, before))
		got := unmarshal[serve.ScoreAnswer](t, status, answer)
		if !got.Exact || !near(float64(got.NELBO), float64(*v.NELBO)) || !near(float64(*got.FHS), float64(*v.FHS)) || !near(float64(*got.LeftToRight), float64(*v.LeftToRight)) || got.Tokens != 3-given {
			t.Errorf("%d given: %s, want %v, %v, %v", given, answer, *v.NELBO, *v.FHS, *v.LeftToRight)
		}
		want := reftest.Must(e.Estimate(t.Context(), []likelihood.Target{target}, 0, likelihood.Config{Draws: 64, Seed: 3}))(t)[0].Nats
		status, answer = ask("/v1/score", fmt.Sprintf(`{"text":%s,"context":%s,"exact":false,"draws":64,"seed":3}`, text, before))
		got = unmarshal[serve.ScoreAnswer](t, status, answer)
		if got.Exact || got.FHS != nil || !near(float64(got.NELBO), want.Mean) || !near(float64(got.SE), want.SE) || got.Rows != 64 {
			t.Errorf("%d given: %s, want %v", given, answer, want)
		}
	}
	for body, want := range map[string]string{
		`{"text":"abc"}`: "no tokenizer", `{"text":[0,1]}`: "exactly 3", `{"text":[0,1,3]}`: "id 3 is not", `{"text":{}}`: "must be a text or a list of ids", `{"text":[]}`: "empty", `{"text":[0,1,1],"exact":false,"draws":-1}`: "draws is -1",
	} {
		if status, got := ask("/v1/score", body); status != http.StatusBadRequest || !strings.Contains(got, want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
	timed := served(t, "--model", worldFile(t, "timed3"))
	status, answer := timed("/v1/score", `{"text":[0,1,1],"seed":3}`)
	if got := unmarshal[serve.ScoreAnswer](t, status, answer); got.Exact || float64(got.SE) <= 0 {
		t.Error(answer)
	}
	if status, answer := timed("/v1/score", `{"text":[0,1,1],"exact":true}`); status != http.StatusBadRequest {
		t.Error(answer)
	}
}

// TestServeSystemOne: the probabilities of labels are those of the texts that read gives, made to add up to 1,
// and said to be uncalibrated; other types of questions are refused.
func TestServeSystemOne(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	ask := served(t)
	status, answer := ask("/v1/systemone", `{"state":{"king":"old"},"questions":{"who":{"type":"choice","instructions":"Who is it?","criteria":{"princess":null,"king":"a man","hedgehog":"an animal"}}}}`)
	got := unmarshal[serve.SystemOneAnswer](t, status, answer)
	who := got.Answers["who"]
	prompt := reftest.Must(json.Marshal("{\"king\":\"old\"}\n\nWho is it?\n- hedgehog: an animal\n- king: a man\n- princess\nAnswer:"))(t)
	labels := []string{"hedgehog", "king", "princess"}
	status, answer = ask("/v1/read", fmt.Sprintf(`{"infill":[%s,1],"candidates":[" hedgehog"," king"," princess"],"top":0}`, prompt))
	read := unmarshal[struct {
		Gaps []struct {
			Candidates []struct {
				LogP estimate.Number `json:"log_probability"`
			} `json:"candidates"`
		} `json:"gaps"`
	}](t, status, answer)
	var sum, most, norm float64
	for i, c := range read.Gaps[0].Candidates {
		p := who.Probabilities[labels[i]]
		sum, most = sum+p, max(most, p)
		norm += math.Exp(float64(c.LogP))
		if math.Abs(float64(who.LogP[labels[i]]-c.LogP)) > 1e-4 { // other rows of a call change the last bits
			t.Errorf("%s has %v, read %v", labels[i], who.LogP[labels[i]], c.LogP)
		}
	}
	for _, label := range labels {
		if want := math.Exp(float64(who.LogP[label])) / norm; math.Abs(who.Probabilities[label]-want) > 1e-4 {
			t.Errorf("%s has %v, want %v", label, who.Probabilities[label], want)
		}
	}
	if got.Calibrated || math.Abs(sum-1) > 1e-12 || who.Probabilities[who.Choice] != most || math.Abs(who.Confidence-(most-1./3)*1.5) > 1e-12 || who.Law != "first-hitting" {
		t.Errorf("%+v", got)
	}
	for body, want := range map[string]string{
		`{"state":"s","questions":{"a":{"type":"noul","instructions":"i"}}}`:                                            "must be choice",
		`{"state":"s","questions":{}}`:                                                                                  "0 questions",
		`{"state":"s","questions":{"a":{"type":"choice","instructions":"i","criteria":{"x":null}}}}`:                    "with 1 labels in criteria",
		`{"state":"s","questions":{"a":{"type":"choice","instructions":"i","criteria":{"x":null,"y":1}}}}`:              "criteria",
		`{"state":"s","states":[],"questions":{"a":{"type":"choice","instructions":"i","criteria":{"x":null,"y":""}}}}`: "unknown field",
	} {
		if status, got := ask("/v1/systemone", body); status != http.StatusBadRequest || !strings.Contains(got, want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
}
