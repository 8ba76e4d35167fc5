// Command regen renews everything in the repository that depends on the weights
// of the built-in model: the golden sample of a test, and its text in the README.
// It also renews what is generated from the program: the tables of docs/choosing.md,
// docs/models.md and docs/families.md; docs/cli.md, which depends on the flags of
// all commands; and the schemas of records in docs/schemas. It is run by
//
//	go generate ./builtin
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mdmgen/builtin"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/hub"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/tools/internal/fatal"
	"mdmgen/tools/internal/marks"
)

// seed is the seed of the golden sample. Its draws are far enough from their neighbours for every
// machine, as a test of cmd/mdmgen/app requires.
const seed = 3

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log.SetFlags(0)
	log.SetPrefix("regen: ")
	fatal.Check(os.Chdir("..")) // go generate runs it in the folder builtin.
	if _, err := os.Stat("builtin/fairytale"); err != nil {
		log.Fatalf("%v: run go generate ./builtin", err)
	}
	m, words, err := builtin.Open(ctx)
	fatal.Check(err)
	defer m.Close()
	ids := sample(ctx, m)
	text := fatal.Must(words.Decode(ids))
	golden := fatal.Must(json.Marshal(map[string]any{"seed": seed, "ids": ids, "text": text}))
	fatal.Check(os.WriteFile("testdata/golden-sample.json", append(golden, '\n'), 0o644))
	replace("README.md", "sample", func(w io.Writer) error { return writeSample(w, text) })
	replace("docs/choosing.md", "samplers", writeSamplers)
	replace("docs/models.md", "known", hub.WriteKnown)
	replace("docs/families.md", "families", checkpoint.WriteFamilies)
	replace("docs/families.md", "refused", checkpoint.WriteRefused)
	writeSchemas("docs/schemas")
	// The program prints the page of all commands and flags.
	page := fatal.Must(exec.CommandContext(ctx, "go", "run", "./cmd/mdmgen", "man", "--format", "markdown").Output())
	fatal.Check(os.WriteFile("docs/cli.md", page, 0o644))
}

// sample draws one canvas by First-Hitting.
func sample(ctx context.Context, m model.Model) (ids []int) {
	f := m.Facts()
	canvas := slices.Repeat([]int{f.MaskID}, f.Length)
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: seed}
	fatal.Must(samplers.Sample(ctx, m, samplers.Copies(canvas, 0, 1), cfg, func(r samplers.Result) error {
		ids = r.IDs
		return nil
	}))
	return ids
}

// writeSample writes the text in lines of a readable length.
func writeSample(w io.Writer, text string) error {
	_, err := fmt.Fprintf(w, "```text\n%s\n```\n", strings.TrimRight(ansi.Wordwrap(text, 100, ""), "\n"))
	return err
}

// writeSamplers writes the table of samplers.
func writeSamplers(w io.Writer) error {
	fmt.Fprint(w, "| `--sampler` | what it draws | network calls for d positions |\n| --- | --- | --- |\n")
	for _, d := range catalog.Descriptors() {
		names := "`" + strings.Join(append([]string{d.Name}, d.Aliases...), "`, `") + "`"
		fmt.Fprintf(w, "| %s | %s | %s |\n", names, d.Summary, d.Calls)
	}
	return nil
}

// replace replaces the text between the marks of a name in a file.
func replace(path, name string, write func(io.Writer) error) {
	var b bytes.Buffer
	fatal.Check(write(&b))
	marks.Replace(path, name, "go generate ./builtin", b.Bytes())
}
