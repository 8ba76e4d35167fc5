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

func TestDerive(t *testing.T) {
	const text = "<!-- columns: sampler, calls, nats -->\nold\n<!-- end of columns -->\n\n<!-- columns: pair -->\n| pair |\n| --- |\n| x |\n<!-- end of columns -->\n\n```sh long\n$ mdmgen bench\n" +
		"| sampler | steps | calls |\n| ------- | ----- | ----: |\n| fhs     | –     |     8 |\n| euler   | 4     |     3 |\n\n" +
		"| sampler | nats |\n| --- | --- |\n| fhs | 0 |\n| euler | 1 ± 2 |\n\n| pair | nats |\n| --- | --- |\n| x | 7 |\n\nnotes\n```\n"
	want := strings.Replace(text, "old\n", "| sampler | calls | nats |\n| --- | --- | --- |\n| fhs | 8 | 0 |\n| euler | 3 | 1 ± 2 |\n", 1)
	got, err := page.Derive(text)
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := page.Derive(want); err != nil || got != want {
		t.Errorf("once more: %v\n%s", err, got)
	}
	for _, bad := range []string{strings.Replace(text, "calls, nats", "calls, bits", 1), strings.Replace(text, "$ ", "", 1)} {
		if got, err := page.Derive(bad); err == nil {
			t.Errorf("%s", got)
		}
	}
}

// TestTables: the tables of a few columns are those of the outputs below them.
func TestTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", page.Path))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := page.Derive(string(text)); err != nil || again != string(text) {
		t.Errorf("%v: a table is not that of the output below it: `go run ./internal/study 0` makes them anew", err)
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
		fmt.Sprintf("for %.2f, %.2f and %.2f rows per position", rows["gumbel"]...),
		fmt.Sprintf("the default without look-ahead, %.1f, %.1f and %.1f ", tokens["inverse"]...),
	} {
		if !strings.Contains(strings.ReplaceAll(string(sampling), "\n", " "), want) {
			t.Errorf("docs/sampling.md does not say %q", want)
		}
	}
}
