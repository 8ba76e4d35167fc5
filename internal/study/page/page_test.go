package page_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/internal/study/page"
)

func TestPage(t *testing.T) {
	const text = "a\n```sh long\n$ mdmgen bench --case 'fhs n=1' \\\n    -r 3\nold\n```\nb\n```sh\n$ mdmgen schedule\n```\n```sh\nmdmgen list\nmdmgen man\n```\n```json\n{}\n```\n"
	blocks := page.Read(text)
	want := []page.Block{
		{Tag: "long", Command: "mdmgen bench --case 'fhs n=1' \\\n    -r 3", Shown: true, Output: "old\n"},
		{Command: "mdmgen schedule", Shown: true},
		{Command: "mdmgen list\nmdmgen man\n"},
	}
	if !slices.Equal(blocks, want) {
		t.Fatalf("%+v", blocks)
	}
	if got := page.Replace(text, map[string]string{blocks[0].Command: "old\n", "mdmgen list\nmdmgen man\n": "new\n"}); got != text {
		t.Errorf("the same output makes %q", got)
	}
	after := page.Read(page.Replace(text, map[string]string{"mdmgen schedule": "new\n"}))
	if len(after) != 3 || after[1].Output != "new\n" || after[0] != blocks[0] || after[2] != blocks[2] {
		t.Errorf("%+v", after)
	}
}

// TestLookaheadFigures: what docs/sampling.md says of look-ahead is what the page's table shows.
func TestLookaheadFigures(t *testing.T) {
	sampling, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sampling.md"))
	text, err2 := os.ReadFile(filepath.Join("..", "..", "..", page.Path))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| sampler | lookahead | draw ")
	tokens, rows := make(map[string][]any), make(map[string][]any)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(line, " ", ""), "|")
		if len(cells) < 9 || cells[1] != "fhs" || !slices.Contains([]string{"4", "8", "16"}, cells[2]) {
			continue
		}
		each, _ := strconv.ParseFloat(cells[8], 64)
		all, _ := strconv.ParseFloat(cells[7], 64)
		tokens[cells[3]], rows[cells[3]] = append(tokens[cells[3]], each), append(rows[cells[3]], all/128)
	}
	for _, want := range []string{
		fmt.Sprintf("reveals %.1f, %.1f and %.1f tokens at K = 4, 8 and 16", tokens["gumbel"]...),
		fmt.Sprintf("for %.2f, %.2f and %.2f rows a position", rows["gumbel"]...),
		fmt.Sprintf("the default without look-ahead, %.1f, %.1f and %.1f ", tokens["inverse"]...),
	} {
		if !strings.Contains(strings.ReplaceAll(string(sampling), "\n", " "), want) {
			t.Errorf("docs/sampling.md does not say %q", want)
		}
	}
}
