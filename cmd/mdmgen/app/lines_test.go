package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/internal/reftest"
)

// sampleLine holds the fields on which readers of generate's JSON lines rely.
type sampleLine struct {
	Text         string
	Filled       []string
	Continuation *string
}

// sampleLines parses JSON lines, each of which must be a sample with a text.
func sampleLines(t *testing.T, text string) (samples []sampleLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var keys map[string]any
		var s sampleLine
		reftest.OK(t, errors.Join(json.Unmarshal([]byte(line), &keys), json.Unmarshal([]byte(line), &s)))
		if _, ok := keys["text"].(string); !ok {
			t.Errorf("no text in %.200s", line)
		}
		samples = append(samples, s)
	}
	return samples
}

// TestSampleLines checks that JSON lines are samples only, with the filled text apart from the
// given text, and that the record is a separate file.
func TestSampleLines(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	base := []string{"generate", "--seed", "1", "-n", "3", "--format", "jsonl"}
	with := func(more ...string) []string { return slices.Concat(base, more) }
	for _, s := range sampleLines(t, mustRun(t, "", with("--prefix", "Once upon", "--length", "9")...)) {
		if s.Continuation == nil || len(s.Filled) != 1 || "Once upon"+*s.Continuation != s.Text || s.Filled[0] != *s.Continuation {
			t.Errorf("behind a prefix: %+v", s)
		}
	}
	for _, s := range sampleLines(t, mustRun(t, "", with("--infill", "The{{3}} king said:{{5}}.")...)) {
		if s.Continuation != nil || len(s.Filled) != 2 || "The"+s.Filled[0]+" king said:"+s.Filled[1]+"." != s.Text {
			t.Errorf("two gaps: %+v", s)
		}
	}
	dir := t.TempDir()
	file, record := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "run.json")
	readRecord := func(path string, samples int) {
		t.Helper()
		var r generate.Record
		if err := json.Unmarshal([]byte(readAll(t, path)), &r); err != nil || r.Schema != generate.Schema || r.Totals.Samples != samples || r.Samples != nil {
			t.Errorf("%s: %v: %+v", path, err, r.Totals)
		}
	}
	mustRun(t, "", with("--length", "4", "-o", file)...)
	if n := len(sampleLines(t, readAll(t, file))); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
	readRecord(filepath.Join(dir, "out.record.json"), 3)
	mustRun(t, "", "generate", "--seed", "1", "--length", "4", "--record", record)
	readRecord(record, 1)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("%v: %v", err, entries)
	}
}
