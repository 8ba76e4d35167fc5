package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"mdmgen/internal/reftest"
)

// TestTextIsWords asks the built-in model for a text of each of eight seeds and
// looks its words up in the text that it was trained on: at least 20 words each,
// 85 % of all of them known. A network or tokenizer that is subtly wrong still
// prints something; it does not print words.
func TestTextIsWords(t *testing.T) {
	train, err := os.ReadFile(reftest.Shared(t, "data", "fairy-tales", "train.txt"))
	if err != nil {
		t.Fatal(err)
	}
	needRuntime(t)
	word := regexp.MustCompile(`[A-Za-z]+(?:'[A-Za-z]+)*`)
	known := make(map[string]bool)
	for _, w := range word.FindAllString(string(train), -1) {
		known[w] = true
	}
	all, hits := 0, 0
	for seed := 1; seed <= 8; seed++ {
		words := word.FindAllString(mustRun(t, "", "generate", "--seed", strconv.Itoa(seed)), -1)
		if len(words) < 20 {
			t.Errorf("seed %d: %d words", seed, len(words))
		}
		for _, w := range words {
			all++
			if known[w] {
				hits++
			}
		}
	}
	if share := float64(hits) / float64(all); share < 0.85 {
		t.Errorf("%.1f %% of %d words are known, want 85 %%", 100*share, all)
	}
}
