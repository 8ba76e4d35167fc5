// Command regen renews everything in the repository that depends on the weights
// of the built-in model: the golden sample of a test, and its text in the README.
// It also renews what is generated from the program: the README's tables of families
// and samplers, the tables of docs/models.md and docs/families.md, docs/cli.md,
// which depends on the flags of all commands, and the schemas of records in
// docs/schemas. It is run by
//
//	go generate ./builtin
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"

	"mdmgen/builtin"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/hub"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/plan"
	"mdmgen/tools/internal/marks"
)

// seed is the seed of the golden sample. Its draws are far enough from their neighbours for every
// machine, as a test of cmd/mdmgen/app requires.
const seed = 3

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := regenerate(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "regen:", err)
		os.Exit(1)
	}
}

// regenerate is run in the folder builtin, by go generate.
func regenerate(ctx context.Context) error {
	if err := os.Chdir(".."); err != nil {
		return err
	}
	if _, err := os.Stat("builtin/fairytale"); err != nil {
		return fmt.Errorf("%w: run go generate ./builtin", err)
	}
	m, err := builtin.Open(ctx)
	if err != nil {
		return err
	}
	defer m.Close()
	ids, err := sample(ctx, m)
	if err != nil {
		return err
	}
	text, err := m.Tokenizer().Decode(ids)
	if err != nil {
		return err
	}
	golden, err := json.Marshal(map[string]any{"seed": seed, "ids": ids, "text": text})
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile("testdata/golden-sample.json", append(golden, '\n'), 0o644),
		replace("README.md", "sample", func(w io.Writer) error { return writeSample(w, text) }),
		replace("README.md", "families", writeFamilies),
		replace("README.md", "samplers", writeSamplers),
		replace("docs/models.md", "known", hub.WriteKnown),
		replace("docs/families.md", "families", checkpoint.WriteFamilies),
		replace("docs/families.md", "refused", checkpoint.WriteRefused),
		writeSchemas("docs/schemas"),
		writeReference(ctx, "docs/cli.md"),
	)
}

// writeReference writes the page of all commands and flags, as printed by the program.
func writeReference(ctx context.Context, path string) error {
	page, err := exec.CommandContext(ctx, "go", "run", "./cmd/mdmgen", "man", "--format", "markdown", "--config", os.DevNull).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, page, 0o644)
}

// sample draws one canvas by First-Hitting.
func sample(ctx context.Context, m model.Model) (ids []int, err error) {
	f := m.Facts()
	canvas := slices.Repeat([]int{f.MaskID}, f.Length)
	cfg := samplers.Config{Method: plan.NewFHS(0), Seed: seed}
	_, err = samplers.Sample(ctx, m, slices.Values([]samplers.Sequence{{Canvas: canvas}}), cfg, func(r samplers.Result) error {
		ids = r.IDs
		return nil
	})
	return ids, err
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

// writeFamilies writes the families of known repositories.
func writeFamilies(w io.Writer) error {
	fmt.Fprint(w, "| family | published as | what works |\n| --- | --- | --- |\n")
	known := hub.KnownList()
	for len(known) > 0 {
		first, n := known[0], 1
		for n < len(known) && known[n].Family == first.Family && known[n].Works == first.Works {
			n++
		}
		more := ""
		if n > 1 {
			more = " and " + english.Plural(n-1, "other", "")
		}
		fmt.Fprintf(w, "| %s | `%s`%s | %s |\n", first.Family, first.Repo, more, first.Works)
		known = known[n:]
	}
	return nil
}

// replace replaces the text between the marks of a name in a file.
func replace(path, name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return marks.Replace(path, name, "go generate ./builtin", b.Bytes())
}
