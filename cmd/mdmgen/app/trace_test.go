package app

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/trace"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/serve/frame"
)

// traced returns command lines of every sampler, and of other settings that change canvases, on a
// tiny network.
func traced() (lines [][]string) {
	small := []string{"generate", "--model", tinyModel, "--length", "8", "--seed", "3", "--format", "json"}
	with := func(more string) { lines = append(lines, slices.Concat(small, strings.Fields(more))) }
	for _, d := range catalog.Descriptors() {
		if d.Kind != samplers.ByOrder { // which needs a network with causal rows
			with("-n 2 --sampler " + d.Name)
		}
	}
	for _, more := range []string{
		"--sampler tweedie --steps 3 -n 9 --batch 4", "--sampler euler --steps 4 --set delta=0.5", "--sampler tau-leaping --steps 3 --set finish=leave", "--sampler parallel-fhs --sizes 3,5",
		"--calls 3", "--lookahead 2", "--sampler fhs --set correct=gibbs:2x3", "--sampler remdm --steps 9 --set remask=conf", "--sampler remdm --steps 9 --set remask=loop", "--sampler p2 --steps 6",
		"--sampler threshold --block-length 4 --guidance 1 --temperature 0.7", "--sampler threshold --block-length 4 --stop 1 --set max-length=24", "--sampler confidence --steps 3 --set rule=dream",
		"--sampler llada2 --threshold 0.1 --set editing-threshold=0.1 --set post-steps=2", "--top-k 3 --draw gumbel",
		"--sampler fhs --cache window:1/4",
	} {
		with(more)
	}
	return lines
}

// TestTrace checks for every sampler that the frames of a trace give the sample, and that a traced
// run equals an untraced one.
func TestTrace(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	edited := make(map[string]bool)
	for i, line := range traced() {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.jsonl", i))
		var record struct {
			Samples []struct {
				Index, Calls int
				FinishCalls  int `json:"finish_calls"`
				IDs          []*int
			}
		}
		out := mustRun(t, "", append(line, "--trace", path)...)
		if plain := mustRun(t, "", line...); withoutSettings(plain, "trace") != withoutSettings(out, "trace") {
			t.Errorf("%v: --trace changes the run", line)
		}
		reftest.OK(t, json.Unmarshal([]byte(out), &record))
		run, err := trace.Read(context.Background(), path)
		if err != nil || run.End == nil || run.End.Samples != len(record.Samples) || run.Header.Flags["seed"][0] != "3" {
			t.Fatalf("%v: %v, %+v", line, err, run)
		}
		canvases := make(map[int]*frame.Canvas)
		for _, f := range run.Frames {
			if f.Call == 0 {
				canvases[int(f.Sequence)] = &frame.Canvas{}
			}
			c := canvases[int(f.Sequence)]
			again := len(f.Masked) > 0 || slices.ContainsFunc(f.Positions, func(l int) bool { return l < len(c.Cells) && !c.Cells[l].Masked })
			if at := slices.Index(line, "--sampler"); again && !slices.Contains(line, "correct=gibbs:2x3") {
				edited[line[at+1]] = true
			}
			c.Apply(f)
		}
		for _, s := range record.Samples {
			c := canvases[s.Index]
			same := c != nil && c.Done && c.Calls == s.Calls+s.FinishCalls && len(c.Cells) == len(s.IDs)
			for l := 0; same && l < len(s.IDs); l++ {
				same = c.Cells[l].Masked == (s.IDs[l] == nil) && (s.IDs[l] == nil || *s.IDs[l] == c.Cells[l].Token)
			}
			if !same {
				t.Errorf("%v: sample %d is %s, its frames make %+v", line, s.Index, out, c)
			}
		}
	}
	for _, d := range catalog.Descriptors() {
		if edited[d.Name] != d.Edits {
			t.Errorf("%s edits: %v, described as %v", d.Name, edited[d.Name], d.Edits)
		}
	}
}

// TestTraceTop checks that trace-top adds the likeliest tokens and the entropy of the rows to
// every frame, changes no token, and can be checked and shown. Without it a trace has neither.
func TestTraceTop(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := t.TempDir()
	plain, top := filepath.Join(dir, "plain.jsonl"), filepath.Join(dir, "top.jsonl")
	for _, more := range []string{"--calls 3 -n 2", "--sampler confidence --steps 3 --guidance 1", "--sampler remdm --steps 9", "--lookahead 2", "--prefix ab --tokenizer " + lettersFile} {
		line := append(strings.Fields("generate --length 8 --seed 3 --format ids --model "+tinyModel), strings.Fields(more)...)
		if one, other := mustRun(t, "", append(line, "--trace", plain)...), mustRun(t, "", append(line, "--trace", top, "--set", "trace-top=3")...); one != other {
			t.Errorf("%s: %q with trace-top, %q without", more, other, one)
		}
		if text := readAll(t, plain); strings.Contains(text, "alternatives") || strings.Contains(text, "entropy") {
			t.Errorf("%s: alternatives without trace-top", more)
		}
		run := reftest.Must(trace.Read(context.Background(), top))(t)
		for _, f := range run.Frames {
			if f.Call > 0 && (f.Entropy == nil || !(*f.Entropy > 0) || len(f.Alternatives) != len(f.Positions)) {
				t.Fatalf("%s: call %d: %+v", more, f.Call, f)
			}
			for i, list := range f.Alternatives {
				for k, a := range list {
					if len(list) != 3 || k > 0 && a.LogP > list[k-1].LogP || !strings.Contains(more, "guidance") && a.Token == f.Tokens[i] && math.Abs(float64(a.LogP-f.LogP[i])) > 1e-5 {
						t.Fatalf("%s: call %d: %+v", more, f.Call, f)
					}
				}
			}
		}
		mustRun(t, "", "replay", "--check", top)
		mustRun(t, "", "replay", top, plain)
	}
	for _, bad := range [][]string{{"--set", "trace-top=3"}, {"--trace", top, "--set", "trace-top=0"}} {
		refused(t, exit.Usage, "trace-top", append([]string{"generate"}, bad...)...)
	}
}

// TestTraceCut checks that the whole lines of a trace cut within a line, as by a kill, are read,
// and that a trace damaged elsewhere is rejected.
func TestTraceCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.jsonl")
	mustRun(t, "", "generate", "--model", worldFile(t, "xor3-mixed"), "--seed", "1", "-n", "3", "--format", "ids", "--trace", path)
	whole := readAll(t, path)
	header := strings.Index(whole, "\n") + 1
	cut := filepath.Join(dir, "cut.jsonl")
	for n := header; n < len(whole)-2; n++ {
		writeFile(t, cut, whole[:n])
		frames := 0
		for line := range strings.Lines(whole[header:n]) {
			if json.Valid([]byte(line)) {
				frames++
			}
		}
		run, err := trace.Read(context.Background(), cut)
		if frames == 0 && err == nil || frames > 0 && (err != nil || run.End != nil || len(run.Frames) != frames) {
			t.Fatalf("cut at %d: %v, want %d frames: …%q", n, err, frames, whole[max(0, n-80):n])
		}
	}
	for damage, want := range map[string]string{
		"":               "is empty",
		whole[header:]:   "not a trace",
		whole[:header-1]: "is empty",
		strings.Replace(whole, `"call":2`, `"call":7`, 1):              "call 7 after call 1",
		strings.Replace(whole, `"positions":[]`, `"positions":[0]`, 1): "differ in length",
		whole[:header] + "{\n" + whole[header:]:                        ":2: ",
		whole + "{}\n":                                                 "after the footer",
	} {
		writeFile(t, cut, damage)
		if _, err := trace.Read(context.Background(), cut); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q…: %v, want %s", damage, err, want)
		}
	}
	for _, args := range [][]string{{"--trace", "-"}, {"--trace", path, "--dry-run"}, {"--trace", path, "--resume", "x"}, {"--trace", path, "-o", path}} {
		refused(t, exit.Usage, "--trace", append([]string{"generate", "--seed", "1"}, args...)...)
	}
	refused(t, exit.Failure, "--trace "+dir, "generate", "--seed", "1", "--trace", filepath.Join(dir, "none", "x"))
	reftest.Must(os.Stat(path))(t)
}
