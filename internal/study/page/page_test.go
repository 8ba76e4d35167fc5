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
	const text = "a\n```sh\n$ mdmgen bench --case 'fhs n=1' \\\n    -r 3\nold\n```\nb\n```sh\n$ mdmgen schedule\n```\n"
	blocks, err := page.Read(text)
	if err != nil || len(blocks) != 2 {
		t.Fatal(blocks, err)
	}
	if b := blocks[0]; !slices.Equal(b.Args, []string{"bench", "--case", "fhs n=1", "-r", "3"}) || b.Output != "old\n" {
		t.Errorf("%+v", b)
	}
	if got := page.Replace(text, map[string]string{blocks[0].Command: "old\n"}); got != text {
		t.Errorf("the same output makes %q", got)
	}
	got := page.Replace(text, map[string]string{"mdmgen schedule": "new\n"})
	if after, err := page.Read(got); err != nil || after[1].Output != "new\n" || after[0].Output != "old\n" {
		t.Errorf("%q: %+v, %v", got, after, err)
	}
	for _, bad := range []string{"```sh\n$ ls\n```\n", "```sh\n$ mdmgen 'x\n```\n"} {
		if got, err := page.Read(bad); err == nil {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
}

// TestReadmeLookahead: what the README says of look-ahead is what the page's table shows.
func TestReadmeLookahead(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
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
		if !strings.Contains(string(readme), want) {
			t.Errorf("the README does not say %q", want)
		}
	}
}
