package app

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

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
