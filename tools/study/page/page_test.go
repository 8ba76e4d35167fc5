package page_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/tools/study/page"
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
		"| sampler | steps | calls | events | calls |\n| ------- | ----- | ----: | --: | --: |\n| fhs     | –     |     8 | 1 | 9 |\n| euler   | 4     |     3 | 2 | 3 |\n\n" +
		"| sampler | nats |\n| --- | --- |\n| fhs | 0 |\n| euler | 1 ± 2 |\n\n| pair | nats |\n| --- | --- |\n| x | 7 |\n\nnotes\n```\n"
	want := strings.Replace(text, "old\n", "| sampler | calls | nats |\n| --- | --- | --- |\n| fhs | 8 | 0 |\n| euler | 3 | 1 ± 2 |\n", 1)
	got, err := page.Derive(text, nil)
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := page.Derive(want, nil); err != nil || got != want {
		t.Errorf("once more: %v\n%s", err, got)
	}
	for _, bad := range []string{strings.Replace(text, "calls, nats", "calls, bits", 1), strings.Replace(text, "$ ", "", 1)} {
		if got, err := page.Derive(bad, nil); err == nil {
			t.Errorf("%s", got)
		}
	}
	// Tables that have files go there, and the page is then made from these.
	const links = "\nAll columns: [samplers](b/a.csv), [pairs](b/a-pairs.csv).\n"
	files := make(page.Files)
	got, err = page.Derive(text+links, files)
	head, _, _ := strings.Cut(want, "| sampler | steps |")
	if short := head + "notes\n```\n" + links; err != nil || got != short {
		t.Errorf("%v\n%s", err, got)
	}
	if a, b := files["b/a.csv"], files["b/a-pairs.csv"]; len(files) != 2 || a != "sampler,steps,calls,events,events calls,nats\nfhs,–,8,1,9,0\neuler,4,3,2,3,1 ± 2\n" || b != "pair,nats\nx,7\n" {
		t.Errorf("%q", files)
	}
	if again, err := page.Derive(strings.Replace(got, "| fhs | 8 | 0 |", "", 1), files); err != nil || again != got {
		t.Errorf("from the files: %v\n%s", err, again)
	}
	if got, err := page.Derive(text+strings.Replace(links, "a-pairs.csv", "a-pairs.txt", 1), files); err == nil {
		t.Errorf("three tables, one file: %s", got)
	}
	if got, err := page.Derive(got, make(page.Files)); err == nil {
		t.Errorf("no files: %s", got)
	}
}

func TestTake(t *testing.T) {
	const study = "<!-- columns: sampler, steps, calls, nats -->\n| sampler | steps | calls | nats |\n| --- | --- | --- | --- |\n| fhs | – | 8 | 0 |\n| euler | 4 | 3 | 1 ± 2 |\n<!-- end of columns -->\n" +
		"<!-- columns: sampler, steps, calls, tv -->\n| sampler | steps | calls | tv |\n| --- | --- | --- | --- |\n| euler | 4 | 3 | 0.5 |\n<!-- end of columns -->\n"
	const text = "a\n<!-- from the study -->\n| sampler | steps | calls | nats |\n| --- | --- | --- | --- |\n| euler | 4 | 9 | 9 |\n<!-- end of the study -->\nb\n"
	if got, err := page.Take(text, study); err != nil || got != strings.Replace(text, "| 9 | 9 |", "| 3 | 1 ± 2 |", 1) {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := page.Take(strings.Replace(text, "euler", "dmpm", 1), study); err == nil {
		t.Errorf("%s", got)
	}
}

// TestTables: the tables of a few columns are those of the outputs below them, and what
// docs/choosing.md shows of them is the same.
func TestTables(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, page.Path))
	other, err2 := os.ReadFile(filepath.Join(root, page.Choosing))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	const remedy = "`go run ./tools/study 0` makes it anew"
	files := make(page.Files)
	for _, name := range page.Linked(string(text)) {
		files[name] = data(t, name)
	}
	if len(files) == 0 {
		t.Error("no file of a table is named")
	}
	if again, err := page.Derive(string(text), files); err != nil || again != string(text) {
		t.Errorf("%v: a table is not that of the output below it: "+remedy, err)
	}
	for name, was := range files {
		if was != data(t, name) {
			t.Errorf("%s is not the output's: "+remedy, name)
		}
	}
	if again, err := page.Take(string(other), string(text)); err != nil || again != string(other) || !strings.Contains(again, "<!-- from the study -->") {
		t.Errorf("%v: a table of %s is not the study's: "+remedy, err, page.Choosing)
	}
}

// data is a file beside the page.
func data(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.Dir(page.Path), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLookaheadFigures: what docs/sampling.md says of look-ahead is what the page's table shows.
func TestLookaheadFigures(t *testing.T) {
	sampling, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sampling.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(data(t, "benchmarks/lookahead.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	tokens, canvases := make(map[string][]any), make(map[string][]any)
	for _, row := range rows[1:] {
		draw := column(row, "draw")
		if column(row, "sampler") != "fhs" || !slices.Contains([]string{"4", "8", "16"}, column(row, "lookahead")) {
			continue
		}
		each, _ := strconv.ParseFloat(column(row, "tokens/round"), 64)
		all, _ := strconv.ParseFloat(column(row, "rows"), 64)
		tokens[draw], canvases[draw] = append(tokens[draw], each), append(canvases[draw], all/128)
	}
	for _, want := range []string{
		fmt.Sprintf("reveals %.1f, %.1f and %.1f tokens at K = 4, 8 and 16", tokens["gumbel"]...),
		fmt.Sprintf("for %.2f, %.2f and %.2f rows per position", canvases["gumbel"]...),
		fmt.Sprintf("the default without look-ahead, %.1f, %.1f and %.1f ", tokens["inverse"]...),
	} {
		if !strings.Contains(strings.ReplaceAll(string(sampling), "\n", " "), want) {
			t.Errorf("docs/sampling.md does not say %q", want)
		}
	}
}
