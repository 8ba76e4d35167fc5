// Command study makes docs/research/benchmarks.md anew: it runs the commands that stand there, one
// after the other, and puts what they print below them, tables of many columns in the CSV files
// that the page names. From the repository's root:
//
//	go run ./tools/study          # all of them
//	go run ./tools/study 1 4      # the first and the fourth
//	go run ./tools/study 0        # none; only the tables of a few columns are made anew
//
// It takes up to a quarter of an hour on two cores, and nothing else should run beside
// it. Pictures and reports are written by the commands themselves.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"

	"mdmgen/tools/study/page"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := study(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func study(ctx context.Context, only []string) error {
	text, err := os.ReadFile(page.Path)
	if err != nil {
		return fmt.Errorf("%w: run it in the repository's root", err)
	}
	blocks := page.Read(string(text))
	dir, err := os.MkdirTemp("", "mdmgen-study-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "mdmgen")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/mdmgen")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	begin := time.Now()
	printed := make(map[string]string)
	for i, b := range blocks {
		if len(only) > 0 && !slices.Contains(only, strconv.Itoa(i+1)) {
			continue
		}
		if printed[b.Command], err = run(ctx, program, b); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "study: %s in all\n", time.Since(begin).Round(time.Second))
	// The page may have been edited meanwhile.
	if text, err = os.ReadFile(page.Path); err != nil {
		return err
	}
	made := page.Replace(string(text), printed)
	files := make(page.Files)
	for _, name := range page.Linked(made) {
		// What is not there yet is made, or missed, below.
		data, err := os.ReadFile(filepath.Join(filepath.Dir(page.Path), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		files[name] = string(data)
	}
	if made, err = page.Derive(made, files); err != nil {
		return fmt.Errorf("%s: %w", page.Path, err)
	}
	for name, data := range files {
		if err := replace(filepath.Join(filepath.Dir(page.Path), name), data); err != nil {
			return err
		}
	}
	if err := replace(page.Path, made); err != nil {
		return err
	}
	if text, err = os.ReadFile(page.Choosing); err != nil {
		return err
	}
	if made, err = page.Take(string(text), made); err != nil {
		return fmt.Errorf("%s: %w", page.Choosing, err)
	}
	return replace(page.Choosing, made)
}

// replace puts a text in a file's place.
func replace(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// run runs a command of the page and returns what it printed.
func run(ctx context.Context, program string, b page.Block) (string, error) {
	begin := time.Now()
	words, err := shell.Fields(b.Command, nil)
	if err != nil || len(words) < 2 || words[0] != "mdmgen" {
		return "", fmt.Errorf("%s: %s: must be a command of mdmgen: %v", page.Path, b.Command, err)
	}
	c := exec.CommandContext(ctx, program, words[1:]...)
	c.Env = append(os.Environ(), "MDMGEN_CONFIG="+os.DevNull)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", b.Command, err)
	}
	fmt.Fprintf(os.Stderr, "study: mdmgen %s: %s\n", words[1], time.Since(begin).Round(time.Second))
	return out.String(), nil
}
