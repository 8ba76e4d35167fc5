package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/model"
)

// tinyScore is a command line on a tiny network, in chunks of a few windows.
func tinyScore(t testing.TB, more ...string) []string {
	t.Helper()
	mdlm := filepath.Join("..", "..", "testdata", "reference", "checkpoints", "mdlm")
	lines := filepath.Join(t.TempDir(), "text.jsonl")
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	for range 9 {
		ids := make([]int, 20+r.IntN(12))
		for i := range ids {
			ids[i] = r.IntN(130)
		}
		line, err := json.Marshal(map[string]any{"ids": ids})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	writeFile(t, lines, text.String())
	return append([]string{"score", lines, "--model", mdlm, "--draws", "64", "--format", "jsonl"}, more...)
}

// unclocked drops from a record what two equal runs differ in.
func unclocked(s string) string {
	return regexp.MustCompile(`("(network|total)":[-+.e0-9]+|"resumed":[0-9]+,|"network_calls":[0-9]+|"positions":[0-9]+|"started":"[^"]*")`).ReplaceAllString(s, "")
}

// TestResume ends a run at every byte that a kill could leave in its file, and goes
// on: results are those of an undisturbed run, bit for bit.
func TestResume(t *testing.T) {
	needRuntime(t)
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := tinyScore(t, "--seed", "7")
	want := unclocked(mustRun(t, "", args...))
	args = append(args, "--resume", keep)
	if got := unclocked(mustRun(t, "", args...)); got != want {
		t.Fatalf("with --resume:\n%s\nwant\n%s", got, want)
	}
	whole, err := os.ReadFile(keep)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(whole, []byte("\n")); n != 10 {
		t.Fatalf("%d lines, want a header and 9 windows", n)
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range 8 {
		size := r.IntN(len(whole) + 1)
		if err := os.WriteFile(keep, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if got := unclocked(mustRun(t, "", args...)); got != want {
			t.Errorf("after %d bytes of %d:\n%s\nwant\n%s", size, len(whole), got, want)
		}
		if again, err := os.ReadFile(keep); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("after %d bytes: the file is not what it was: %v", size, err)
		}
	}
	// Other settings, another text or another model are refused by name.
	for flag, value := range map[string]string{"--seed": "8", "--limit": "3", "--estimator": "orders"} {
		other := append([]string{}, args...)
		if flag == "--seed" {
			other = tinyScore(t, "--seed", "8", "--resume", keep)
		} else {
			other = append(other, flag, value)
		}
		_, stderr, code := runCommand(t, "", other...)
		if code != exitUsage || !strings.Contains(stderr, strings.TrimLeft(flag, "-")) {
			t.Errorf("%s: status %d: %s", flag, code, stderr)
		}
	}
	for _, content := range []string{"something else\n", "something else", "{}\n", `{"schema":"mdmgen.score-resume/2"}` + "\nno\n"} {
		writeFile(t, keep, content)
		_, _, code := runCommand(t, "", args...)
		if after, err := os.ReadFile(keep); code != exitUsage || err != nil || string(after) != content {
			t.Errorf("%q: status %d, and the file holds %q: %v", content, code, after, err)
		}
	}
}

// TestResumeSeed goes on with the seed of the file where none is given.
func TestResumeSeed(t *testing.T) {
	needRuntime(t)
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := tinyScore(t, "--resume", keep)
	first := unclocked(mustRun(t, "", args...))
	if again := unclocked(mustRun(t, "", args...)); again != first {
		t.Errorf("again:\n%s\nwant\n%s", again, first)
	}
}

// TestScoreInterrupt cancels a run after its first windows: what is finished is printed,
// kept, and gone on with.
func TestScoreInterrupt(t *testing.T) {
	needRuntime(t)
	keep := filepath.Join(t.TempDir(), "keep.jsonl")
	args := tinyScore(t, "--seed", "7")
	want := unclocked(mustRun(t, "", args...))
	args = append(args, "--resume", keep)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &cancelAfter{lines: 1, cancel: cancel}
	var errs strings.Builder
	if code := run(ctx, append([]string{"mdmgen"}, args...), strings.NewReader(""), out, &errs); code != exitInterrupt {
		t.Errorf("exit status %d, want %d: %s", code, exitInterrupt, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var record struct {
		Schema      string
		Interrupted bool
		Corpus      *struct{ Windows int }
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &record); err != nil || !record.Interrupted || record.Corpus == nil || record.Corpus.Windows != len(lines)-1 || len(lines) > 9 {
		t.Errorf("%d lines, record %+v: %v", len(lines), record, err)
	}
	if got := unclocked(mustRun(t, "", args...)); got != want {
		t.Errorf("after the interrupt:\n%s\nwant\n%s", got, want)
	}
}

// TestScoreChunk works windows out together where their rows share calls, and one by
// one, each kept when it is finished, where they do not.
func TestScoreChunk(t *testing.T) {
	needRuntime(t)
	m, err := model.Open(t.Context(), builtinName, model.Options{Builtins: builtins()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, c := range []struct{ length, draws, batch, want int }{
		{128, 16, 0, 16}, {128, 16, 1, 1}, {128, 16, 2, 4}, {128, 1024, 0, 1}, {8, 1, 0, 64},
	} {
		e, err := likelihood.New(m, likelihood.Options{Batch: c.batch})
		if err != nil {
			t.Fatal(err)
		}
		r := &scoring{evaluator: e, config: likelihood.Config{Draws: c.draws}, windows: []textWindow{{Target: likelihood.Whole(make([]int, c.length))}}}
		if got := r.chunk(); got != c.want {
			t.Errorf("%+v: %d windows", c, got)
		}
	}
}

// TestScoreWorld compares what is printed with the world's reference law: exact values
// of samplers, and estimates within 5 standard errors.
func TestScoreWorld(t *testing.T) {
	world := worldFile(t, "xor3-mixed")
	data, err := os.ReadFile(world)
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		FHS   struct{ Law []float64 }
		NELBO struct {
			By []float64 `json:"by_sequence"`
		}
	}
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	type result struct {
		Windows []struct {
			Nats  struct{ Mean, SE float64 }
			Exact struct{ NELBO float64 }
		}
	}
	score := func(more ...string) (out result) {
		text := mustRun(t, `{"ids":[0,1,1]}`+"\n"+`{"ids":[1,1,1]}`+"\n", append([]string{"score", "--as", "jsonl", "--model", world, "--format", "json"}, more...)...)
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for i, index := range []int{3, 7} {
		got := score("--exact").Windows[i]
		if want := -math.Log(w.FHS.Law[index]); math.Abs(got.Nats.Mean-want) > 1e-10 || math.Abs(got.Exact.NELBO-w.NELBO.By[index]) > 1e-10 {
			t.Errorf("window %d: %+v, want %v and %v", i, got, want, w.NELBO.By[index])
		}
		for _, form := range [][]string{{}, {"--estimator", "lambda"}, {"--estimator", "t"}, {"--estimator", "orders"}, {"--estimator", "score-entropy"}, {"--estimator", "plans"}, {"--protocol", "radd"}} {
			got := score(append([]string{"--draws", "2000", "--seed", "3"}, form...)...).Windows[i]
			if z := (got.Nats.Mean - w.NELBO.By[index]) / got.Nats.SE; !(math.Abs(z) <= 5) {
				t.Errorf("window %d %v: %+v, want %v", i, form, got.Nats, w.NELBO.By[index])
			}
		}
	}
}

// FuzzScoreLine checks that a line is read or refused in one line, and that what is
// read is text or ids.
func FuzzScoreLine(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a"}`, `{"ids":[1,2]}`, `{"ids":[1,null]}`, `{"ids":[]}`, `{"ids":null}`, `{"text":"a","context":"b"}`,
		`{"ids":[1],"context":[2]}`, `{"ids":[1],"context":null}`, `{"text":"a","ids":[1]}`, `{"text":1}`, `[]`, `{} {}`, "{\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := parseScoreLine(line)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
			return
		}
		if (got.Text == nil) == (got.IDs == nil) || got.ContextText != nil && got.ContextIDs != nil {
			t.Errorf("%q gives %+v", line, got)
		}
	})
}

// FuzzResume gives hostile records to the reader of finished windows.
func FuzzResume(f *testing.F) {
	f.Add([]byte(`{"window":1,"nats":{"mean":1}}`))
	f.Add([]byte(`{"window":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := resume{done: make(map[int]scoredWindow)}
		if err := r.read(data, 4); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
		for i, w := range r.done {
			if i != w.Window || i < 0 || i > 3 {
				t.Errorf("window %d: %+v", i, w)
			}
		}
	})
}

// TestOneOfEach: a single one is not told in the plural.
func TestOneOfEach(t *testing.T) {
	out := mustRun(t, `{"ids":[0],"context":[0,0]}`, "score", "--model", worldFile(t, "xor3-mixed"), "--as", "jsonl", "--exact")
	if !strings.Contains(out, "1 window, 1 token, ") {
		t.Errorf("printed %s", out)
	}
}
