// Command study makes docs/benchmarks.md anew: it runs the commands that stand there, one
// after the other, and puts what they print below them. From the repository's root:
//
//	go run ./internal/study          # all of them
//	go run ./internal/study 1 4      # the first and the fourth
//
// It takes up to a quarter of an hour on two cores, and nothing else should run beside
// it. Pictures and reports are written by the commands themselves.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// page holds the commands.
const page = "docs/benchmarks.md"

// block is a command with what it printed. A command may go on over lines that end in a
// backslash.
var block = regexp.MustCompile("(?s)```sh\n\\$ (mdmgen .*?[^\\\\])\n(.*?)```\n")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := study(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func study(ctx context.Context, only []string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("%w: run it in the repository's root", err)
	}
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
	var failed error
	number := 0
	printed := make(map[string][]byte)
	block.ReplaceAllFunc(text, func(found []byte) []byte {
		number++
		if failed != nil || len(only) > 0 && !slices.Contains(only, strconv.Itoa(number)) {
			return found
		}
		command := string(block.FindSubmatch(found)[1])
		printed[command], failed = run(ctx, program, command)
		return found
	})
	if failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintf(os.Stderr, "study: %s in all\n", time.Since(begin).Round(time.Second))
	// The page may have been edited meanwhile.
	if text, err = os.ReadFile(page); err != nil {
		return err
	}
	out := block.ReplaceAllFunc(text, func(found []byte) []byte {
		command := string(block.FindSubmatch(found)[1])
		if new, ok := printed[command]; ok {
			return fmt.Appendf(nil, "```sh\n$ %s\n%s```\n", command, new)
		}
		return found
	})
	if err := os.WriteFile(page+".new", out, 0o644); err != nil {
		return err
	}
	return os.Rename(page+".new", page)
}

// run runs a command of the page and returns what it printed.
func run(ctx context.Context, program, command string) ([]byte, error) {
	args, err := words(strings.ReplaceAll(command, "\\\n", " "))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	begin := time.Now()
	c := exec.CommandContext(ctx, program, args[1:]...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	fmt.Fprintf(os.Stderr, "study: %s: %s\n", strings.Join(args[:2], " "), time.Since(begin).Round(time.Second))
	return out.Bytes(), nil
}

// words splits a command line at spaces, but for those in single quotes.
func words(line string) ([]string, error) {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	if strings.Count(line, "'")%2 == 1 {
		return nil, errors.New("a quote is not closed")
	}
	return out, nil
}
