package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// copyFile copies a file and appends more.
func copyFile(t testing.TB, from, to, more string) {
	t.Helper()
	data := []byte(readAll(t, from))
	writeFile(t, to, string(data)+more)
}

// TestResumeOtherFacts checks that a run is not continued with another law. Facts changed by a
// flag, a sidecar or the file next to the network, another tokenizer and other settings are
// rejected by name.
func TestResumeOtherFacts(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := t.TempDir()
	mdlm := tinyModel
	folder := filepath.Join(dir, "model")
	mustRun(t, "", "convert", mdlm, "-o", folder)
	network, beside := filepath.Join(folder, "model.onnx"), filepath.Join(folder, "model.mdmgen.json")
	sidecar, ids, text := filepath.Join(dir, "facts.json"), filepath.Join(dir, "ids.jsonl"), filepath.Join(dir, "text.txt")
	writeFile(t, sidecar, `{"noise":"linear"}`)
	writeFile(t, ids, `{"ids":[5,6,7,8]}`+"\n"+`{"ids":[9,6,7,8]}`+"\n")
	writeFile(t, text, "a king and a queen")
	vocabulary := filepath.Join("..", "..", "..", "builtin", "fairytale", "tokenizer.json")
	one, other := filepath.Join(dir, "one.json"), filepath.Join(dir, "other.json")
	copyFile(t, vocabulary, one, "")
	copyFile(t, vocabulary, other, "\n")
	score := []string{"score", ids, "--model", network, "--draws", "2", "--seed", "1", "--format", "json"}
	onText := []string{"score", text, "--model", "fairytale", "--draws", "2", "--seed", "1", "--format", "json"}
	for name, c := range map[string]struct {
		args   []string
		before func()
		more   []string
		want   string
	}{
		"score fact":      {score, nil, []string{"--set", "fact=noise=linear"}, "model.facts.noise, model.facts_digest"},
		"score sidecar":   {score, nil, []string{"--set", "sidecar=" + sidecar}, "model.facts.noise, model.facts_digest"},
		"score beside":    {score, func() { copyFile(t, sidecar, beside, "") }, nil, "model.facts.noise, model.facts_digest"},
		"score batch":     {score, nil, []string{"--batch", "1"}, "batch"},
		"score threads":   {append(score[:len(score):len(score)], "--threads", "1"), nil, []string{"--threads", "2"}, "model.threads, threads"},
		"score dtype":     {onText, nil, []string{"--dtype", "int4"}, "model.dtype, model.facts.dtype, model.facts_digest"},
		"score tokenizer": {append(onText[:len(onText):len(onText)], "--tokenizer", one), nil, []string{"--tokenizer", other}, "tokenizer"},
	} {
		t.Run(name, func(t *testing.T) {
			keep := filepath.Join(t.TempDir(), "keep.jsonl")
			args := append(c.args[:len(c.args):len(c.args)], "--resume", keep)
			mustRun(t, "", args...)
			whole := []byte(readAll(t, keep))
			if c.before != nil {
				c.before()
				defer os.Remove(beside)
			}
			// Change the value of a flag that is already given.
			line := slices.Clone(args)
			if i := len(c.args) - 2; len(c.more) > 0 && line[i] == c.more[0] {
				line[i+1] = c.more[1]
			} else {
				line = append(line, c.more...)
			}
			_, stderr, code := runCommand(t, "", line...)
			if code != exit.Usage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "was made with other values of ") || !strings.Contains(stderr, c.want) {
				t.Errorf("exit status %d: %s", code, stderr)
			}
			if now, err := os.ReadFile(keep); err != nil || string(now) != string(whole) {
				t.Errorf("the journal was changed: %v", err)
			}
		})
	}
}

// TestRecordsTellFacts checks that printed and kept records have all facts in force, with their
// digest, which differs if one of them does.
func TestRecordsTellFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	world := worldFile(t, "xor3-mixed")
	ids, profile, report := filepath.Join(dir, "ids.jsonl"), filepath.Join(dir, "loss.json"), filepath.Join(dir, "bench.json")
	writeFile(t, ids, strings.Repeat(`{"ids":[1,0,1]}`+"\n", 40))
	model := []string{"--model", world, "--seed", "1"}
	for name, c := range map[string]struct {
		args []string
		file string
	}{
		"generate": {[]string{"generate", "--format", "json"}, ""},
		"score":    {[]string{"score", ids, "--draws", "3", "--format", "json"}, ""},
		"profile":  {[]string{"score", ids, "--draws", "3", "--write-profile", profile}, profile},
		"bound":    {[]string{"bound", ids, "--sampler", "tweedie", "--steps", "2", "--json"}, ""},
		"bench":    {[]string{"bench", "--case", "fhs", "-n", "2", "-r", "1", "--format", "json"}, ""},
		"bench -o": {[]string{"bench", "--case", "fhs", "-n", "2", "-r", "1", "-o", report}, report},
	} {
		digests := make(map[string]string)
		for _, noise := range []string{"linear", "cosine"} {
			text := mustRun(t, "", slices.Concat(c.args, model, []string{"--set", "fact=noise=" + noise})...)
			if c.file != "" {
				data := []byte(readAll(t, c.file))
				text = string(data)
			}
			var record struct {
				Provenance struct {
					Model struct {
						Threads int
						Digest  string          `json:"facts_digest"`
						Facts   json.RawMessage `json:"facts"`
					}
				}
			}
			reftest.OK(t, json.Unmarshal([]byte(text), &record), name)
			m := record.Provenance.Model
			for _, want := range []string{`"noise":"` + noise + `"`, `"mask_id":2`, `"length":3`, `"family":"world"`} {
				if !strings.Contains(strings.NewReplacer(" ", "", "\n", "").Replace(string(m.Facts)), want) {
					t.Errorf("%s: %s has no %s", name, m.Facts, want)
				}
			}
			if !strings.HasPrefix(m.Digest, "sha256:") || m.Threads < 1 {
				t.Errorf("%s: digest %q, %d threads", name, m.Digest, m.Threads)
			}
			digests[m.Digest] = noise
		}
		if len(digests) != 2 {
			t.Errorf("%s: one digest for two laws: %v", name, digests)
		}
	}
}
