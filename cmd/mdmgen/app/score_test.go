package app

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// tinyScore returns a command line on a tiny network, with chunks of a few windows.
func tinyScore(t testing.TB, more ...string) []string {
	t.Helper()
	lines := filepath.Join(t.TempDir(), "text.jsonl")
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for range 9 {
		ids := make([]int, 20+r.IntN(12))
		for i := range ids {
			ids[i] = r.IntN(130)
		}
		text.Write(append(reftest.Must(json.Marshal(map[string]any{"ids": ids}))(t), '\n'))
	}
	writeFile(t, lines, text.String())
	return append([]string{"score", lines, "--model", tinyModel, "--draws", "64", "--format", "jsonl"}, more...)
}

// TestScoreInterrupt cancels a run after its first windows. The finished windows must be printed
// and kept, and the run can be continued.
func TestScoreInterrupt(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := tinyScore(t, "--seed", "7")
	want := timeless(mustRun(t, "", args...))
	args = append(args, "--resume", keep)
	stdout, _ := interrupted(t, 1, args...)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var record struct {
		Schema      string
		Interrupted bool
		Corpus      *struct{ Windows int }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &record); err != nil || !record.Interrupted || record.Corpus == nil || record.Corpus.Windows != len(lines)-1 || len(lines) > 9 {
		t.Errorf("%d lines, record %+v: %v", len(lines), record, err)
	}
	if got := timeless(mustRun(t, "", args...)); got != want {
		t.Errorf("after the interrupt:\n%s\nwant\n%s", got, want)
	}
}

// TestScoreWorld compares the output with the world's reference law: exact values of samplers, and
// estimates within 5 standard errors.
func TestScoreWorld(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed")
	data := []byte(readAll(t, reftest.Data(t, "reference", "laws", "xor3-mixed.json")))
	var w struct {
		FHS   struct{ Law []float64 }
		NELBO struct {
			By []float64 `json:"by_sequence"`
		}
	}
	reftest.OK(t, json.Unmarshal(data, &w))
	type result struct {
		Windows []struct {
			Nats  struct{ Mean, SE float64 }
			Exact struct{ NELBO float64 }
		}
	}
	score := func(more ...string) (out result) {
		text := mustRun(t, `{"ids":[0,1,1]}`+"\n"+`{"ids":[1,1,1]}`+"\n", append([]string{"score", "--as", "jsonl", "--model", world, "--format", "json"}, more...)...)
		reftest.OK(t, json.Unmarshal([]byte(text), &out))
		return out
	}
	for i, got := range score("--exact").Windows {
		index := []int{3, 7}[i]
		if want := -math.Log(w.FHS.Law[index]); math.Abs(got.Nats.Mean-want) > 1e-10 || math.Abs(got.Exact.NELBO-w.NELBO.By[index]) > 1e-10 {
			t.Errorf("window %d: %+v, want %v and %v", i, got, want, w.NELBO.By[index])
		}
	}
	for _, form := range [][]string{{}, {"--estimator", "lambda"}, {"--estimator", "t"}, {"--estimator", "orders"}, {"--estimator", "score-entropy"}, {"--estimator", "plans"}, {"--protocol", "radd"}} {
		list := score(append([]string{"--draws", "2000", "--seed", "3"}, form...)...).Windows
		if len(list) != 2 {
			t.Fatalf("%v: %d windows", form, len(list))
		}
		for i, got := range list {
			if want := w.NELBO.By[[]int{3, 7}[i]]; !(math.Abs(got.Nats.Mean-want)/got.Nats.SE <= 5) {
				t.Errorf("window %d %v: %+v, want %v", i, form, got.Nats, want)
			}
		}
	}
}
