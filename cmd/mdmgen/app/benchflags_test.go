package app

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// measured are the parts of bench's JSON that two equal runs differ in.
var measured = regexp.MustCompile(`"(network_seconds|sampling_seconds|rest_seconds|total_seconds|tokens_per_second|in_step_tokens_per_second|seconds)": ?\{[^}]*\}|"(peak_bytes|started)": ?("[^"]*"|[0-9]+)`)

// figures are those of tables.
var figures = regexp.MustCompile(`[-+.0-9e± ]+|\?`)

// unmeasured drops times and memory from bench's results: from JSON those alone. Of a table
// the beginning is kept, without figures: which columns it has depends on times, too.
func unmeasured(stdout string) string {
	if strings.HasPrefix(stdout, "{") {
		return measured.ReplaceAllString(stdout, "")
	}
	text := figures.ReplaceAllString(stdout, "")
	return text[:min(len(text), 12)]
}

// benchFlips are bench's entries for TestEveryFlagHasAnEffect.
func benchFlips(t testing.TB, dir string) map[string]flip {
	world := worldFile(t, "xor3-mixed")
	at := func(elem ...string) string {
		return filepath.Join(append([]string{"..", "..", "..", "testdata"}, elem...)...)
	}
	mdlm, tokens := at("reference", "checkpoints", "mdlm"), reftest.Builtin(t)
	judge, gpt2 := at("foreign", "causal.onnx"), at("tokenizers", "gpt2.tokenizer.json")
	loss := at("profiles", "fairytale-12.json")
	facts, empty := filepath.Join(dir, "facts.json"), filepath.Join(dir, "empty")

	run := []string{"-r", "1", "-n", "3", "--format", "json"}
	with := func(base []string, more ...string) []string { return append(base[:len(base):len(base)], more...) }
	anySeed := with(run, "--model", world)
	onWorld := with(anySeed, "--seed", "1")
	euler := with(onWorld, "--sampler", "euler", "--set", "noise=exp")
	few := with(euler, "--steps", "3")
	net := with(run, "--seed", "1", "--model", mdlm, "--tokenizer", tokens, "--set", "force", "--sampler", "tweedie", "--steps", "3")
	short := with(net, "--length", "6")
	judged := with(short, "--evaluator", judge)
	return map[string]flip{
		"bench sampler":             {base: onWorld, on: []string{"--sampler", "fhs"}},
		"bench steps":               {base: euler, on: []string{"--steps", "3-4"}},
		"bench set":                 {base: few, on: []string{"--set", "temperature=0.5,1"}},
		"bench grid":                {base: few, on: []string{"--grid", "uniform,lambda"}},
		"bench profile":             {base: with(onWorld, "--sampler", "parallel-fhs", "--set", "sizes=profile", "--steps", "2"), on: []string{"--set", "profile=" + loss}},
		"bench seed":                {base: with(anySeed, "--sampler", "tweedie", "--set", "noise=exp", "--steps", "3", "--quality", "nelbo=2"), on: []string{"--seed", "1"}},
		"bench batch":               {base: few, on: []string{"--batch", "1,2"}},
		"bench case":                {base: few, on: []string{"--case", "fhs"}},
		"bench length":              {base: net, on: []string{"--length", "5"}},
		"bench prefix":              {base: short, on: []string{"--prefix", "A"}},
		"bench n":                   {base: []string{"--case", "fhs", "--model", world, "--seed", "1", "--format", "json", "-r", "1"}, on: []string{"-n", "2"}},
		"bench repetitions":         {base: []string{"--case", "fhs", "--model", world, "--seed", "1", "--format", "json"}, on: []string{"--repetitions", "2"}},
		"bench warmup":              {base: few, on: []string{"--warmup", "0"}},
		"bench confidence":          {base: few, on: []string{"--confidence", "0.5"}},
		"bench quality":             {base: few, on: []string{"--quality", "text"}},
		"bench error-length":        {base: with(short, "--quality", "error=3"), on: []string{"--error-length", "3"}},
		"bench evaluator":           {base: short, on: []string{"--evaluator", judge, "--evaluator-tokenizer", gpt2}},
		"bench evaluator-tokenizer": {base: judged, on: []string{"--evaluator-tokenizer", gpt2}},
		"bench evaluator-protocol":  {base: with(judged, "--evaluator-tokenizer", gpt2), on: []string{"--evaluator-protocol", "bd3lm"}},
		"bench format":              {base: []string{"--case", "fhs", "--model", world, "--seed", "1", "-r", "1", "--format", "json"}, on: []string{"--format", "csv"}},
		"bench output":              {base: few, on: []string{"--output", filepath.Join(dir, "bench-out.csv")}, file: filepath.Join(dir, "bench-out.csv")},
		"bench force":               {base: with(run, "--seed", "1", "--model", mdlm, "--tokenizer", tokens, "--length", "6", "--case", "fhs"), on: []string{"--set", "force"}},
		"bench html":                {base: few, on: []string{"--html", filepath.Join(dir, "bench-page.html")}, file: filepath.Join(dir, "bench-page.html")},
		"bench plots":               {base: few, on: []string{"--plots", filepath.Join(dir, "bench-pictures")}, file: filepath.Join(dir, "bench-pictures")},
		"bench resume":              {base: few, on: []string{"--resume", filepath.Join(dir, "bench-bench.jsonl")}, file: filepath.Join(dir, "bench-bench.jsonl")},
		"bench runtime":             {base: net, on: []string{"--runtime", empty}},
		"bench device":              {base: net, on: []string{"--device", "cuda"}},
		"bench threads":             {base: net, on: []string{"--threads", "2"}},
		"bench model":               {base: with(run, "--seed", "1", "--case", "fhs length=3", "--quality", "nelbo=2"), on: []string{"--model", world}},
		"bench weights":             {base: with(run, "--seed", "1", "--model", at("reference", "checkpoints", "mdlm-lightning-timecond", "plain.ckpt"), "--case", "fhs length=3", "--quality", "nelbo=2"), on: []string{"--set", "weights=raw"}},
		"bench dtype":               {base: with(short, "--quality", "nelbo=2"), on: []string{"--dtype", "int4"}},
		"bench fact":                {base: with(onWorld, "--sampler", "euler", "--steps", "3"), on: []string{"--set", "fact=noise=linear"}},
		"bench sidecar":             {base: with(onWorld, "--sampler", "euler", "--steps", "3"), on: []string{"--set", "sidecar=" + facts}},
		"bench tokenizer":           {base: with(run, "--seed", "1", "--model", mdlm, "--length", "6", "--case", "fhs", "--prefix", "A"), on: []string{"--tokenizer", lettersFile}},
	}
}
