package serve_test

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/reading"
	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers/catalog"
	"mdmgen/serve"
)

// near reports whether two values differ by no more than rows of a world do, in float32 or in calls
// with other rows.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5 }

// TestRead checks that the server returns what package reading does, and rejects what it rejects,
// by name.
func TestRead(t *testing.T) {
	t.Parallel()
	name := reftest.Law(t, "markov3-exact")
	r := begin(t, name, serve.Config{})
	w := reftest.Must(world.Open(name))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	const mask = 3
	for body, q := range map[string]reading.Question{
		`{"ids":[null,1,null],"candidate_ids":[[0],[1]],"gap":2}`:                           {Canvas: []int{mask, 1, mask}, Top: 5, Candidates: [][]int{{0}, {1}}, Gap: 2},
		`{"ids":[null,null,null],"candidate_ids":[[0,1,2],[1,1,0]],"top":0}`:                {Canvas: []int{mask, mask, mask}, Candidates: [][]int{{0, 1, 2}, {1, 1, 0}}},
		`{"ids":[null,null,0],"candidate_ids":[[0,1],[1,1]],"law":"left-to-right","top":1}`: {Canvas: []int{mask, mask, 0}, Candidates: [][]int{{0, 1}, {1, 1}}, Law: reading.LeftToRight, Top: 1},
	} {
		want := reftest.Must(reading.Read(t.Context(), e, q))(t)
		got := serve.ReadAnswer{Answer: new(reading.Answer)}
		r.must(t, http.StatusOK, "/v1/read", body, &got)
		if got.Law != want.Law || got.Rows != want.Rows || len(got.Gaps) != len(want.Gaps) {
			t.Fatalf("%s: %+v, want %+v", body, got.Answer, want)
		}
		for g, gap := range want.Gaps {
			for i, c := range gap.Candidates {
				if x := got.Gaps[g].Candidates[i]; !near(float64(x.LogP), float64(c.LogP)) {
					t.Errorf("%s: candidate %+v, want %+v", body, x, c)
				}
			}
			for i, p := range gap.Positions {
				x := got.Gaps[g].Positions[i]
				if x.Position != p.Position || !near(x.Entropy, p.Entropy) || len(x.Top) != len(p.Top) || x.Top[0].ID != p.Top[0].ID || !near(x.Top[0].LogP, p.Top[0].LogP) {
					t.Errorf("%s: %+v, want %+v", body, x, p)
				}
			}
		}
	}
	for body, want := range map[string]string{
		`{"ids":[1,1,1]}`: "nothing is masked", `{"ids":[null,1,1],"candidates":["a"]}`: "no tokenizer", `{"ids":[null,1,1],"candidate":[]}`: `unknown key \"candidate\"; did you mean candidates?`,
		`{"ids":[null,1,1],"top":-1}`: "top is -1", `{"ids":[null,1,1],"candidate_ids":[[3]]}`: "id 3 is not a token", `{"ids":[null,1,1],"candidates":7}`: "candidates",
		`{"ids":[null,1,1],"model":"other"}`: "serves only", `{"infill":"a{{1}}"}`: "tokenizer", `{"ids":[null,1,1],"law":"x"}`: "must be first-hitting",
	} {
		if status, got := r.ask("/v1/read", body); status/100 != 4 || !strings.Contains(string(got), want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
}

// TestScore checks that scores equal those of package likelihood, exact or estimated, whatever else
// the engine does.
func TestScore(t *testing.T) {
	t.Parallel()
	name := reftest.Law(t, "markov3-exact")
	r := begin(t, name, serve.Config{})
	w := reftest.Must(world.Open(name))(t)
	e := reftest.Must(likelihood.New(w, likelihood.Options{}))(t)
	fhs := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, w.Spec()))(t)
	for given := range 2 {
		target := likelihood.Target{IDs: []int{0, 1, 1}, Free: []int{0, 1, 2}[given:]}
		text, before := "[0,1,1]", "[]"
		if given == 1 {
			text, before = "[1,1]", "[0]"
		}
		v := reftest.Must(e.Values(t.Context(), []likelihood.Target{target}, fhs))(t)[0]
		var got serve.ScoreAnswer
		answer := r.must(t, http.StatusOK, "/v1/score", fmt.Sprintf(`{"text":%s,"context":%s}`, text, before), &got)
		if !got.Exact || !near(float64(got.NELBO), float64(*v.NELBO)) || !near(float64(*got.FHS), float64(*v.FHS)) || !near(float64(*got.LeftToRight), float64(*v.LeftToRight)) || got.Tokens != 3-given {
			t.Errorf("%d given: %s, want %v, %v, %v", given, answer, *v.NELBO, *v.FHS, *v.LeftToRight)
		}
		want := reftest.Must(e.Estimate(t.Context(), []likelihood.Target{target}, 0, likelihood.Config{Draws: 64, Seed: 3}))(t)[0].Nats
		got = serve.ScoreAnswer{}
		answer = r.must(t, http.StatusOK, "/v1/score", fmt.Sprintf(`{"text":%s,"context":%s,"draws":64,"seed":3}`, text, before), &got)
		if got.Exact || got.FHS != nil || !near(float64(got.NELBO), want.Mean) || !near(float64(got.SE), want.SE) || got.Rows != 64 {
			t.Errorf("%d given: %s, want %v", given, answer, want)
		}
	}
	for body, want := range map[string]string{
		`{"text":"abc"}`: "no tokenizer", `{"text":[0,1]}`: "exactly 3", `{"text":[0,1,3]}`: "id 3 is not", `{"text":{}}`: "must be a text or a list of ids", `{"text":[]}`: "empty", `{"text":[0,1,1],"exact":false,"draws":-1}`: "draws is -1", `{"text":[0,1,1],"exact":true,"draws":2}`: "give one of them",
	} {
		if status, got := r.ask("/v1/score", body); status != http.StatusBadRequest || !strings.Contains(string(got), want) {
			t.Errorf("%s: status %d: %s, want %s", body, status, got, want)
		}
	}
	timed := begin(t, reftest.Law(t, "timed3"), serve.Config{})
	var got serve.ScoreAnswer
	if answer := timed.must(t, http.StatusOK, "/v1/score", `{"text":[0,1,1],"seed":3}`, &got); got.Exact || got.SE <= 0 {
		t.Errorf("%s", answer)
	}
	timed.must(t, http.StatusBadRequest, "/v1/score", `{"text":[0,1,1],"exact":true}`, nil)
}

// TestReadBeside checks that readings, scores and samples that share the engine equal those
// computed alone.
func TestReadBeside(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Batch: 4})
	number := regexp.MustCompile(`"(log_probability|nelbo)":(-?[0-9.]+)`)
	ids := regexp.MustCompile(`"ids":\[[0-9,]*\]`)
	ask := func(i int) string {
		switch i % 3 {
		case 0:
			return ids.FindString(string(r.must(t, http.StatusOK, "/v1/generate", fmt.Sprintf(`{"infill":"Once{{9}}","seed":%d}`, i), nil)))
		case 1:
			return number.FindString(string(r.must(t, http.StatusOK, "/v1/read", fmt.Sprintf(`{"infill":"Once{{%d}}","top":0,"candidates":[" a hedgehog"]}`, i), nil)))
		}
		return number.FindString(string(r.must(t, http.StatusOK, "/v1/score", fmt.Sprintf(`{"text":"Once upon a time there was a king","seed":%d}`, i), nil)))
	}
	alone, beside := make([]string, 12), make([]string, 12)
	for i := range alone {
		alone[i] = ask(i)
	}
	var all sync.WaitGroup
	for i := range beside {
		all.Go(func() { beside[i] = ask(i) })
	}
	all.Wait()
	for i, want := range alone {
		got := beside[i]
		if i%3 == 0 && got == want && want != "" {
			continue
		}
		a, b := number.FindStringSubmatch(want), number.FindStringSubmatch(got)
		if a == nil || b == nil || math.Abs(reftest.Must(strconv.ParseFloat(a[2], 64))(t)-reftest.Must(strconv.ParseFloat(b[2], 64))(t)) > 1e-4 {
			t.Errorf("%d: %s, alone %s", i, got, want)
		}
	}
}
