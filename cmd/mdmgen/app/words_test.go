package app

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"mdmgen/internal/reftest"
)

// TestTextIsWords samples two texts of the built-in model and looks up their words in its
// training text: each must have at least 20 words, and 85 % of them must be known. A subtly wrong
// network or tokenizer prints text, but not words.
func TestTextIsWords(t *testing.T) {
	t.Parallel()
	train := readAll(t, reftest.Shared(t, "data", "fairy-tales", "train.txt"))
	needRuntime(t)
	split := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r != '\'' && !unicode.IsLetter(r) })
	}
	known := make(map[string]bool)
	for _, w := range split(train) {
		known[w] = true
	}
	var record struct{ Samples []struct{ Text string } }
	if err := json.Unmarshal([]byte(mustRun(t, "", "generate", "--seed", "1", "-n", "2", "--length", "64", "--format", "json")), &record); err != nil || len(record.Samples) != 2 {
		t.Fatalf("%d samples, %v", len(record.Samples), err)
	}
	all, hits := 0, 0
	for i, s := range record.Samples {
		words := split(s.Text)
		if len(words) < 20 {
			t.Errorf("sample %d: %d words", i, len(words))
		}
		for _, w := range words {
			all++
			if known[w] {
				hits++
			}
		}
	}
	t.Logf("%d of %d words are known", hits, all)
	if share := float64(hits) / float64(all); share < 0.85 {
		t.Errorf("%.1f %% of %d words are known, want 85 %%", 100*share, all)
	}
}
